"""Checks of pronunciation dictionaries: silence, repeated entries, phones and stress; files of another type."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from asr.corpus.data_directory import DataLists
from asr.grammar.hparse import is_hparse
from asr.grammar.network import SENTENCE_MARKS
from asr.grammar.slf import is_slf
from asr.hmm.topology import SHORT_PAUSE, SILENCE
from asr.lexicon.lexicon import STRESSED_PHONE, VOWELS, Pronunciation, without_stress
from asr.lexicon.multigraphs import multigraphs_of
from asr.lexicon.named import lexicon_by_name
from asr.lexicon.reading import Entry, LexiconFile, parse_lexicon
from asr.util.counted_text import count, some
from asr.util.errors import Issue, LexiconError, printable
from asr.util.text_lines import read_text_lines
from asr.validation.findings import stopping, warning

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


def named_lexicon(name: str, directory: DataLists, issues: list[Issue]) -> LexiconFile:
    """Return the lexicon of this name of a data directory, in the form of a dictionary's file."""
    multigraphs_of(name)  # a faulty table is an error of its own
    lexicon = None
    if "text" in directory.lists:  # otherwise the list is reported
        try:
            lexicon = lexicon_by_name(name, directory.words.values())
        except LexiconError as error:
            issues.append(stopping("not-a-lexicon", directory.lists["text"].path, None, str(error)))
    return LexiconFile(Path(name), name, lexicon=lexicon)


_NO_WORDS = {"<sil>", "!sil", "<eps>"} | {mark.lower() for mark in SENTENCE_MARKS}
_RESERVED = {SILENCE, SHORT_PAUSE}
_SILENT = {"SIL", "SP"}
_MAX_ALIKE = 5  # maximum number of equal findings on separate lines; more are merged
EXPECTED = "give the file with a word and its phones on each line, such as 'SHIPS SH IH P S'"
_TONE = re.compile(r".*\D[3-9]", re.DOTALL)


def collect_lexicon(path: Path, strip_stress: bool | None, issues: list[Issue]) -> LexiconFile:
    """Read the dictionary that training reads, and collect its issues."""
    lines = read_text_lines(path, LexiconError, issues)
    grammar = _kind_of_grammar([line for line in lines if line.strip()])
    if grammar:
        message = f"is {grammar}, not a lexicon. A grammar is given to the recognizer (--grammar, grammar=); {EXPECTED}"
        issues[:] = [stopping("not-a-lexicon", path, None, message)]
        return LexiconFile(path, "grammar")
    return parse_lexicon(path, lines, strip_stress=strip_stress, issues=issues)


def _kind_of_grammar(lines: Sequence[str]) -> str:
    """Return the kind of HTK grammar, or ""; its last line distinguishes it from a lexicon with a word `(`."""
    if is_slf(lines):
        return "a word network of HTK"
    if is_hparse(lines) and lines[-1].rstrip().endswith((")", ";", "*/")):
        return "a grammar of HTK's HParse"
    return ""


def check_lexicon(given: LexiconFile) -> Iterator[Issue]:
    """Check the valid lines of a dictionary."""
    yield from check_silence(given)
    yield from check_duplicates(given)
    yield from check_stress(given)


def check_silence(given: LexiconFile) -> Iterator[Issue]:
    """Report silence listed as a word."""
    for entry in given.entries:
        if _is_silence(entry):
            done = "it is left out" if _RESERVED.issuperset(entry.phones) else "remove the line"
            message = (
                f"'{entry.word}' is silence and not a word. The model has its own silence, and allows a pause after "
                f"every word; {done}"
            )
            yield warning("silence-entry", given.path, entry.line, message)


def _is_silence(entry: Entry) -> bool:
    return all(phone.upper() in _SILENT for phone in entry.phones) or entry.word.lower() in _NO_WORDS


def check_duplicates(given: LexiconFile) -> Iterator[Issue]:
    """Report repeated pronunciations, except if they differ in stress digits."""
    first: dict[tuple[str, Pronunciation], int] = {}
    found = []
    for entry in given.entries:
        known = first.setdefault((entry.word, entry.written), entry.line)
        if known != entry.line:
            found.append((entry.line, f"'{entry.word} {' '.join(entry.written)}' is already on line {known}"))
    if len(found) > _MAX_ALIKE:
        (line, fact), (second, other) = found[:2]
        found = [(line, f"{len(found):,} repeated pronunciations: {fact}, and in line {second} {other}")]
    for line, fact in found:
        yield warning("duplicate-pronunciation", given.path, line, f"{fact}; remove one of each")


def check_stress(given: LexiconFile) -> Iterator[Issue]:
    """Report vowels without a stress digit if others have one."""
    lines: dict[str, Entry] = {}
    for entry in given.entries:
        for phone in entry.phones:
            lines.setdefault(phone, entry)
    stressed = {phone for phone in lines if STRESSED_PHONE.fullmatch(phone)}
    if not stressed or any(_TONE.fullmatch(phone) for phone in lines):
        return  # tones have digits too, except the neutral one
    bases = {without_stress(phone) for phone in stressed}
    plain = [phone for phone in lines if phone in bases or (phone in VOWELS and bases & VOWELS)]
    if plain:
        entry = lines[plain[0]]
        with_digit = sorted(stressed)
        message = (
            f"'{entry.word}' has the phone {plain[0]} without a stress digit, but others have one "
            f"({some(with_digit, 3)}). Both count as different phones: {len(lines)} with digits, "
            f"{len({without_stress(phone) for phone in lines})} without; use --strip-stress (strip_stress=True), or "
            "add the missing digits"
        )
        yield warning("mixed-stress", given.path, entry.line, message)


def check_phone_coverage(given: LexiconFile, trained: Iterable[str]) -> Iterator[Issue]:
    """Report untrained phones; words with these cannot be recognized."""
    known = set(trained)
    users: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in given.entries:
        if _is_silence(entry):
            continue
        for phone in entry.phones:
            if phone not in known and phone not in _RESERVED:
                users[phone].setdefault(entry.word, entry.line)
    alone = [{phone: words} for phone, words in users.items()]
    for group in [users] if len(users) > _MAX_ALIKE else alone:
        lines = {word: line for words in group.values() for word, line in words.items()}
        phones = f"phone{'s' if len(group) > 1 else ''} {some(group)}"
        message = (
            f"no transcript has the {phones}, so {count(len(lines), 'word')} ({some(lines)}) cannot be recognized; "
            "record utterances with them, remove the words, or use other phones"
        )
        yield warning("unheard-phone", given.path, min(lines.values()), message)
