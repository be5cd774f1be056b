"""Detection of other files given as the lexicon: transcripts, text, word lists, or reversed columns."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from asr.util.errors import Issue, printable
from asr.validation.directory import Directory
from asr.validation.findings import stopping
from asr.validation.lexicon import WHAT_IS_ONE, LexiconFile

_MIN_LINES = 5
_NEARLY_ALL, _HALF = 0.9, 0.5
_LINES_A_WORD = 2.0
"""Average number of lines per first word above which a file is not a lexicon."""


def check_is_lexicon(given: LexiconFile, train: Directory) -> Iterator[Issue]:
    """Report a file that looks like another type, given the corpus; letter case is ignored."""
    looks = _like_something_else(given, train)
    if looks:
        yield stopping("not-a-lexicon", given.path, None, f"is no lexicon: {looks}; {WHAT_IS_ONE}")


def _like_something_else(given: LexiconFile, train: Directory) -> str:
    """Describe the probable type of the file, with the reason; empty for a lexicon."""
    said = Counter(word.casefold() for words in train.words.values() for word in words)
    if not given.entries:
        alone = [word for word in given.damaged if word.casefold() in said]
        if len(alone) >= _MIN_LINES and all("has no phones" in fault.message for fault in given.faults):
            return "it looks like a list of words, since no line has phones after its word"
        return ""
    if len(given.entries) < _MIN_LINES or not said:
        return ""
    example = given.entries[0]
    line = printable(f"'{example.word} {' '.join(example.phones)}'", 100)
    if _share((entry.word for entry in given.entries), {*train.listed, *train.entries("utt2spk")}) >= _NEARLY_ALL:
        return f"it looks like a list of utterances, such as text or wav.scp, whose names its lines begin with ({line})"
    after = [phone.casefold() for entry in given.entries for phone in entry.phones]
    words = [entry.word.casefold() for entry in given.entries]
    covered = sum(said[word] for word in set(words)) / said.total()
    # Phones may be letters or whole words, and words then consist of phones.
    spelled = sum("".join(entry.phones).casefold() == entry.word.casefold() for entry in given.entries)
    uncommon = covered < _NEARLY_ALL or len(words) > _LINES_A_WORD * len(set(words))
    if uncommon and spelled < _HALF * len(words) and _share(after, said) >= _NEARLY_ALL:
        return f"it looks like text, since what follows the first word of a line are words of the transcripts ({line})"
    last = {entry.phones[-1].casefold() for entry in given.entries}
    if covered < _HALF and sum(said[word] for word in last) >= _NEARLY_ALL * said.total():
        return f"it looks as if every word stood after its phones and not before them ({line})"
    return ""


def _share(names: Iterable[str], known: Collection[str]) -> float:
    found = [name in known for name in names]
    return sum(found) / max(1, len(found))
