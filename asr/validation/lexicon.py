"""Checks of pronunciation dictionaries: silence, repeated entries, phones and stress."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from asr.grammar.hparse import is_hparse
from asr.grammar.network import SENTENCE_MARKS
from asr.grammar.slf import is_slf
from asr.hmm.topology import SHORT_PAUSE, SILENCE
from asr.lexicon.lexicon import STRESSED_PHONE, VOWELS, Pronunciation, without_stress
from asr.lexicon.reading import Entry, LexiconFile, parse_lexicon
from asr.util.counted_text import count, some
from asr.util.errors import Issue, LexiconError
from asr.util.text_lines import read_text_lines
from asr.validation.findings import stopping, warning

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
