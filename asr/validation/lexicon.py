"""Checks of pronunciation dictionaries: malformed lines, silence, phones and stress."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from asr.grammar.hparse import is_hparse
from asr.grammar.network import SENTENCE_MARKS
from asr.grammar.slf import is_slf
from asr.hmm.topology import SHORT_PAUSE, SILENCE
from asr.lexicon import Lexicon, formats, read_lexicon
from asr.lexicon.lexicon import STRESSED_PHONE, VOWELS, Pronunciation, without_stress
from asr.lexicon.reading import guess_format, line_parser, number_columns, other_format, strips_stress
from asr.util.counted_text import count, some
from asr.util.errors import Issue, LexiconError
from asr.validation.findings import stopping, warning, without_place
from asr.validation.lists import read_text_past_faults

_NO_WORDS = {"<sil>", "!sil", "<eps>"} | {mark.lower() for mark in SENTENCE_MARKS}
_RESERVED = {SILENCE, SHORT_PAUSE}
_SILENT = {"SIL", "SP"}
_MAX_ALIKE = 5  # maximum number of equal findings on separate lines; more are merged
WHAT_IS_ONE = "give the file that has a word and then its phones on a line, such as 'SHIPS SH IH P S'"
_TONE = re.compile(r".*\D[3-9]", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A pronunciation with its line; `written` is the original, `phones` has stress digits removed if requested."""

    line: int
    word: str
    phones: Pronunciation
    written: Pronunciation


@dataclass(frozen=True)
class LexiconFile:
    """Valid lines of a dictionary, and the faults of the others.

    `lexicon` is the one that training reads, or None if it cannot. `damaged` are the words of faulty lines.
    """

    path: Path
    format: str
    entries: tuple[Entry, ...]
    faults: tuple[Issue, ...]
    lexicon: Lexicon | None
    damaged: frozenset[str]

    @cached_property
    def known(self) -> Lexicon | None:
        """Words of the usable lines; None without any."""
        if self.lexicon is not None:
            return self.lexicon
        variants: dict[str, list[Pronunciation]] = defaultdict(list)
        for entry in self.entries:
            if not _RESERVED.intersection(entry.phones):
                variants[entry.word].append(entry.phones)
        return Lexicon({word: tuple(phones) for word, phones in variants.items()}, str(self.path)) if variants else None


def read_lexicon_past_faults(path: Path, strip_stress: bool | None = None) -> LexiconFile:
    """Read the dictionary by the rules of `asr.lexicon.read_lexicon`, but collect all faults."""
    text = read_text_past_faults(path)
    lines = [(number, line) for number, line in text.lines if line.strip()]
    grammar = _kind_of_grammar([line for _, line in lines])
    if grammar:
        message = (
            f"is no lexicon but {grammar}, which says what sentences there are and is given where speech is recognized "
            f"(--grammar, grammar=); {WHAT_IS_ONE}"
        )
        return LexiconFile(path, "grammar", (), (stopping("not-a-lexicon", path, None, message),), None, text.damaged)
    other = other_format(lines)
    if other is not None:
        faults = [*text.faults, stopping("malformed", path, *other)]
        return LexiconFile(path, "csv", (), tuple(faults), None, text.damaged)
    format = guess_format([line for _, line in lines])
    parse = line_parser(format, number_columns(format, [line for _, line in lines]))
    entries, faults, damaged = [], list(text.faults), set(text.damaged)
    for number, line in lines:
        try:
            entry = _parsed(parse, number, line)
        except (ValueError, LexiconError) as problem:
            faults.append(stopping("malformed", path, number, str(problem)))
            damaged.add(line.split()[0])
            continue
        if entry is not None:
            entries.append(entry)
    if strips_stress(strip_stress, format, {phone for entry in entries for phone in entry.phones}):
        entries = [replace(entry, phones=_stripped(entry.phones)) for entry in entries]
    lexicon = None
    if not faults and not any(_mixes_silence(entry) for entry in entries):  # reported by `check_silence`
        try:
            lexicon = read_lexicon(path, strip_stress=strip_stress)
        except LexiconError as problem:
            faults.append(stopping("malformed", path, None, without_place(problem, path)))
    return LexiconFile(path, format, tuple(entries), tuple(faults), lexicon, frozenset(damaged))


def _kind_of_grammar(lines: Sequence[str]) -> str:
    """Return the kind of HTK grammar, or ""; its last line distinguishes it from a lexicon with a word `(`."""
    if is_slf(lines):
        return "a word network of HTK"
    if is_hparse(lines) and lines[-1].rstrip().endswith((")", ";", "*/")):
        return "a grammar of HTK's HParse"
    return ""


def _parsed(parse: Callable[[str], formats.Entry | None], number: int, line: str) -> Entry | None:
    found = parse(line)
    if found is None:
        return None
    word, phones = found
    if not phones:
        raise ValueError(f"the word {word!r} has no phones; write them after the word, or remove it")
    Lexicon({word: (phones,)}, "this line")  # the rules for names apply to single lines
    return Entry(number, word, phones, phones)


def _stripped(phones: Pronunciation) -> Pronunciation:
    return tuple(without_stress(phone) for phone in phones)


def check_lexicon(given: LexiconFile) -> Iterator[Issue]:
    """Check a dictionary by itself."""
    yield from given.faults
    yield from check_silence(given)
    yield from check_duplicates(given)
    yield from check_stress(given)


def check_silence(given: LexiconFile) -> Iterator[Issue]:
    """Report silence listed as a word, and words with silence phones."""
    for entry in given.entries:
        reserved = sorted(_RESERVED.intersection(entry.phones))
        if _RESERVED.issuperset(entry.phones):
            message = (
                f"'{entry.word}' is silence and no word, and is left out; the model has its own silence and allows a "
                "pause after every word"
            )
            yield warning("silence-entry", given.path, entry.line, message)
        elif _is_silence(entry) and not reserved:
            message = (
                f"'{entry.word}' is silence and no word; remove the line, for the model has its own silence and allows "
                "a pause after every word"
            )
            yield warning("silence-entry", given.path, entry.line, message)
        elif reserved:
            message = (
                f"the word '{entry.word}' uses the phone {' and '.join(map(repr, reserved))}, which is reserved for "
                "the model's own silence; leave it out, or give the phone another name"
            )
            yield stopping("reserved-phone", given.path, entry.line, message)


def _is_silence(entry: Entry) -> bool:
    return all(phone.upper() in _SILENT for phone in entry.phones) or entry.word.lower() in _NO_WORDS


def _mixes_silence(entry: Entry) -> bool:
    return bool(_RESERVED.intersection(entry.phones)) and not _RESERVED.issuperset(entry.phones)


def check_duplicates(given: LexiconFile) -> Iterator[Issue]:
    """Report repeated pronunciations, except if they differ in stress digits."""
    first: dict[tuple[str, Pronunciation], int] = {}
    found = []
    for entry in given.entries:
        known = first.setdefault((entry.word, entry.written), entry.line)
        if known != entry.line:
            found.append((entry.line, f"'{entry.word} {' '.join(entry.written)}' already stands on line {known}"))
    if len(found) > _MAX_ALIKE:
        (line, fact), (second, other) = found[:2]
        message = (
            f"{len(found):,} pronunciations are listed before: {fact}, and in line {second} {other}; remove one of each"
        )
        yield warning("duplicate-pronunciation", given.path, line, message)
        return
    for line, fact in found:
        yield warning("duplicate-pronunciation", given.path, line, f"{fact}; remove one")


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
            f"({some(with_digit, 3)}); the two are different phones here, {len(lines)} in all where there are "
            f"{len({without_stress(phone) for phone in lines})} without digits, each heard more often: give "
            "--strip-stress (strip_stress=True), or write all vowels in one way"
        )
        yield warning("mixed-stress", given.path, entry.line, message)


def check_phone_coverage(given: LexiconFile, heard: Mapping[str, int] | Iterable[str]) -> Iterator[Issue]:
    """Report untrained phones; words with these cannot be recognized."""
    known = set(heard)
    users: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in given.entries:
        if _is_silence(entry):
            continue
        for phone in entry.phones:
            if phone not in known and phone not in _RESERVED:
                users[phone].setdefault(entry.word, entry.line)
    if len(users) > _MAX_ALIKE:
        lines = {word: line for words in users.values() for word, line in words.items()}
        message = (
            f"no transcript has the {len(users)} phones {some(users)}, so {count(len(lines), 'word')} with them "
            f"({some(lines)}) cannot be recognized; record some, remove them, or write them with other phones"
        )
        yield warning("unheard-phone", given.path, min(lines.values()), message)
        return
    for phone, words in users.items():
        message = (
            f"no transcript has the phone {phone}, so {count(len(words), 'word')} with it ({some(words)}) cannot be "
            "recognized; record some, remove them, or write them with other phones"
        )
        yield warning("unheard-phone", given.path, next(iter(words.values())), message)
