"""Detection of other files given as the lexicon: transcripts, text, word lists, or reversed columns."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from asr.corpus.data_directory import DataLists
from asr.lexicon.reading import LexiconFile
from asr.util.errors import Issue, printable
from asr.validation.findings import stopping
from asr.validation.lexicon import EXPECTED

_MIN_LINES = 5
_NEARLY_ALL, _HALF = 0.9, 0.5
_LINES_A_WORD = 2.0
"""Average number of lines per first word above which a file is not a lexicon."""


def check_is_lexicon(given: LexiconFile, issues: Sequence[Issue], train: DataLists) -> Iterator[Issue]:
    """Report a file that looks like another type, given the corpus; letter case is ignored."""
    looks = _like_something_else(given, issues, train)
    if looks:
        yield stopping("not-a-lexicon", given.path, None, f"is not a lexicon: {looks}; {EXPECTED}")


def _like_something_else(given: LexiconFile, issues: Sequence[Issue], train: DataLists) -> str:
    """Describe the probable type of the file, with the reason; empty for a lexicon."""
    said = Counter(word.casefold() for words in train.words.values() for word in words)
    if not given.entries:
        alone = [word for word in given.damaged if word.casefold() in said]
        if len(alone) >= _MIN_LINES and all("has no phones" in issue.message for issue in issues):
            return "it looks like a list of words, because no line has phones after the word"
        return ""
    if len(given.entries) < _MIN_LINES or not said:
        return ""
    example = given.entries[0]
    line = printable(f"'{example.word} {' '.join(example.phones)}'", 100)
    if _share((entry.word for entry in given.entries), {*train.listed, *train.entries("utt2spk")}) >= _NEARLY_ALL:
        return f"it looks like text or wav.scp, because its lines begin with utterances ({line})"
    after = [phone.casefold() for entry in given.entries for phone in entry.phones]
    words = [entry.word.casefold() for entry in given.entries]
    covered = sum(said[word] for word in set(words)) / said.total()
    # Phones may be letters or whole words, and words then consist of phones.
    spelled = sum("".join(entry.phones).casefold() == entry.word.casefold() for entry in given.entries)
    uncommon = covered < _NEARLY_ALL or len(words) > _LINES_A_WORD * len(set(words))
    if uncommon and spelled < _HALF * len(words) and _share(after, said) >= _NEARLY_ALL:
        return f"it looks like text, because the words of the transcripts follow the first word of its lines ({line})"
    last = {entry.phones[-1].casefold() for entry in given.entries}
    if covered < _HALF and sum(said[word] for word in last) >= _NEARLY_ALL * said.total():
        return f"the words seem to follow their phones ({line}). Expected the word first"
    return ""


def _share(names: Iterable[str], known: Collection[str]) -> float:
    found = [name in known for name in names]
    return sum(found) / max(1, len(found))
