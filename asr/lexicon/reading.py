"""Reading of pronunciation dictionaries, with detection of the format."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from asr.lexicon import formats
from asr.lexicon.formats import NumberColumns
from asr.lexicon.lexicon import Lexicon, Pronunciation, fault_in_entry, marks_stress, without_stress
from asr.util.errors import Issue, LexiconError, printable, report, without_place
from asr.util.text_lines import read_text_lines

Format = Literal["auto", "kaldi", "cmu", "htk"]


def read_lexicon(path: Path | str, *, format: Format = "auto", strip_stress: bool | None = None) -> Lexicon:
    """Read the pronunciation dictionary `path` (UTF-8, may be gzip-compressed); letter case is kept.

    Words that are only silence, such as Kaldi's `<SIL> SIL`, are left out. The lexicon's `silent`, `stress` and
    `numbers` describe what was left out or removed.

    Parameters
    ----------
    path : path
        Pronunciation dictionary.
    format : {"auto", "kaldi", "cmu", "htk"}
        "kaldi": `WORD phone phone ...`, one variant per line, `#` and `;;;` comment lines. One or four numbers after
        the word (see `asr.lexicon.formats`) are its probability and three of silence, which are not used.
        "cmu": variants are marked `WORD(2)`; `;;;` comment lines. "htk": `WORD [OUTSYM] probability phone ... sp`, with
        quotes and backslash escapes; output symbols, final pauses and entries of only a pause (`SENT-END [] sil`) are
        left out. "auto": HTK if a line has an output symbol or an escaped first character, or all lines
        end in `sp` or `sil`; CMU if some `WORD(2)` has an entry `WORD`; otherwise Kaldi.
    strip_stress : bool, optional
        Whether a final stress digit of a phone is removed (AH0 becomes AH). The default is True for the CMU format and
        for CMU phones with stress digits.

    Returns
    -------
    Lexicon
        The words and their pronunciations.

    Raises
    ------
    LexiconError
        With file, line and value, if the file cannot be read or looks like CSV or YAML, a word has no phones, a line is
        malformed, or a word has a phone that is reserved for silence.

    Examples
    --------
    >>> from pathlib import Path
    >>> from asr.lexicon import read_lexicon
    >>> _ = Path("words.txt").write_text("TWO T UW1")
    >>> read_lexicon("words.txt")["TWO"]
    (('T', 'UW'),)
    """
    lexicon = parse_lexicon(path, read_text_lines(path, LexiconError), format=format, strip_stress=strip_stress).lexicon
    assert lexicon is not None
    return lexicon


class Entry(NamedTuple):
    """Pronunciation in a line; `written` is the original, `phones` has stress digits removed if requested."""

    line: int
    word: str
    phones: Pronunciation
    written: Pronunciation
    probability: float = 1.0


@dataclass(frozen=True)
class LexiconFile:
    """Valid lines of a dictionary.

    `lexicon` has their words, without silence; None without any. `damaged` are the words of the other lines.
    """

    path: Path
    format: str
    entries: tuple[Entry, ...] = ()
    damaged: frozenset[str] = frozenset()
    lexicon: Lexicon | None = None


def parse_lexicon(
    path: Path | str,
    lines: Sequence[str],
    *,
    format: Format = "auto",
    strip_stress: bool | None = None,
    issues: list[Issue] | None = None,
) -> LexiconFile:
    """Parse the lines of a dictionary like `read_lexicon`; with `issues`, they are collected instead of raised.

    Lines that already have one of the `issues` are skipped.
    """
    path = Path(path)
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    unreadable = {issue.line for issue in issues or () if issue.path == path}
    damaged = {line.split()[0] for number, line in numbered if number in unreadable}
    numbered = [(number, line) for number, line in numbered if number not in unreadable]
    other = other_format(numbered)
    if other is not None:
        report(Issue("malformed", other[1], path=path, line=other[0]), LexiconError, issues)
        return LexiconFile(path, "csv", damaged=frozenset(damaged))
    texts = [line for _, line in numbered]
    known_format = guess_format(texts) if format == "auto" else format
    columns = number_columns(known_format, texts)
    parse = line_parser(known_format, columns)
    entries: list[Entry] = []
    phones: set[str] = set()
    for number, line in numbered:
        found = _parsed(parse, number, line, phones)
        if isinstance(found, Issue):
            report(replace(found, path=path, line=number), LexiconError, issues)
            damaged.add(line.split()[0])
        elif found is not None:
            entries.append(found)
            phones.update(found.phones)
    stress = f"{path}: stress digits kept, as requested" if marks_stress(phones) else ""
    if strips_stress(strip_stress, known_format, phones):
        entries = [entry._replace(phones=tuple(map(without_stress, entry.phones))) for entry in entries]
        marked = sum(without_stress(phone) != phone for phone in phones)
        removed = f"stress digits removed from {marked} vowels (--keep-stress, strip_stress=False, keeps them)"
        stress = f"{path}: {removed}" if marked else ""
    lexicon = None
    if entries or not (damaged or unreadable):  # otherwise, the issues of all lines are reported
        try:
            lexicon = _lexicon_of(entries, path, stress, f"{path}: {columns.note}" if columns.note else "")
        except LexiconError as problem:
            if issues is None:
                raise
            report(Issue("malformed", without_place(problem, path), path=path), LexiconError, issues)
    return LexiconFile(path, known_format, tuple(entries), frozenset(damaged), lexicon)


def _parsed(
    parse: Callable[[str], formats.Entry | None], number: int, line: str, known: Collection[str]
) -> Entry | Issue | None:
    """Parse a line; return None if it defines no word, and an issue without place if it is invalid."""
    try:
        entry = parse(line)
    except ValueError as problem:
        return Issue("malformed", str(problem))
    if entry is None:
        return None
    word, phones, probability = entry
    fault = fault_in_entry(word, phones, known)
    if fault is not None:
        return Issue("malformed", fault)
    reserved = [phone for phone in phones if phone in formats.MODEL_PAUSES]
    if reserved and len(reserved) < len(phones):
        message = (
            f"the word {word!r} has the phone {reserved[0]!r}, which is reserved for the silence model; remove it, or "
            "rename the phone"
        )
        return Issue("reserved-phone", message)
    return Entry(number, word, phones, phones, probability)


def _lexicon_of(entries: Iterable[Entry], path: Path, stress: str, numbers: str) -> Lexicon:
    """Return the words that are not silence."""
    variants: dict[str, list[Pronunciation]] = {}
    silent: dict[str, None] = {}
    probabilities: dict[tuple[str, Pronunciation], float] = {}
    for entry in entries:
        if formats.MODEL_PAUSES.issuperset(entry.phones):
            silent[entry.word] = None
        else:
            variants.setdefault(entry.word, []).append(entry.phones)
            key = entry.word, entry.phones
            probabilities[key] = max(entry.probability, probabilities.get(key, 0.0))
    pronunciations = {word: tuple(phones) for word, phones in variants.items()}
    return Lexicon(
        pronunciations,
        str(path),
        silent=tuple(silent),
        stress=stress,
        numbers=numbers,
        probabilities=probabilities if min(probabilities.values(), default=1.0) < 1.0 else {},
    )


def strips_stress(wanted: bool | None, format: str, phones: Iterable[str]) -> bool:
    """Return whether stress digits are removed for this format and these phones; `wanted` overrides this."""
    return (format == "cmu" or marks_stress(phones)) if wanted is None else wanted


def number_columns(format: str, lines: Iterable[str]) -> NumberColumns:
    """Return the rule for the numbers of a file in a format; `lines` are all lines that are not blank."""
    if format == "htk":
        return NumberColumns()
    return NumberColumns.of_lines(line for line in lines if not formats.is_comment(line))


def line_parser(format: str, columns: NumberColumns) -> Callable[[str], formats.Entry | None]:
    """Return the parser of a line in a format."""
    if format == "kaldi":
        return partial(formats.parse_kaldi, columns=columns)
    if format == "cmu":
        return partial(formats.parse_cmu, columns=columns)
    if format == "htk":
        return formats.parse_htk
    raise LexiconError(f"The lexicon format {format!r} is unknown. Expected auto, kaldi, cmu or htk.")


MIN_COMMAS, COMMA_LINES = 3, 0.9  # lines, and their fraction: words with a comma, such as 1,000, are rare
_COMMA_AFTER_WORD = re.compile(r"\s*(\"[^\"]*\"|[^\s,;]+)\s*[,;]\s*\S")


_YAML_KEY = re.compile(r"\s*[\w-]+:(\s|$)")


def other_format(lines: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Return the number and problem of a line in a file of another format; None for a dictionary.

    `lines` are all lines that are not blank, with their numbers.
    """
    entries = [(number, line) for number, line in lines if not formats.is_comment(line)]
    return _comma_separated(entries) or _yaml(entries) or _tab_in_word(entries)


def _yaml(entries: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    if not entries or not all(_YAML_KEY.match(line) for _, line in entries):
        return None
    number, line = entries[0]
    return number, (
        f"{printable(line.strip(), 100)!r} and all other lines look like YAML. Expected WORD PHONE ... on a line; "
        "use the dictionary that the YAML file names"
    )


def _tab_in_word(entries: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Find a line with two possible ends of the word: a tab before a non-phone, and a tab before phones."""
    divided = [(number, line.strip().split("\t")) for number, line in entries if "\t" in line.strip()]
    clear = [parts for _, parts in divided if all(map(_NUMBERS.fullmatch, parts[1:-1])) or " " not in "".join(parts)]
    phones = {phone for parts in clear for part in parts[1:] for phone in part.split()}
    for number, (_, *middle, last) in divided:
        unclear = [part for part in middle if not phones.issuperset(part.split()) and not _NUMBERS.fullmatch(part)]
        if unclear and len(last.split()) > 1:
            return number, (
                f"has a tab before {unclear[0]!r}, which is not a phone of other lines, and one before {last!r}. The "
                "word ends at the first white space; use _ or - within words"
            )
    return None


_NUMBERS = re.compile(r"[\d.eE+\s-]+")


def _comma_separated(entries: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Detect CSV, whose line `ONE,W AH N` would read as the word `ONE,W`."""
    fitting = [(number, line) for number, line in entries if _COMMA_AFTER_WORD.match(line)]
    if len(fitting) < max(MIN_COMMAS, COMMA_LINES * len(entries)):
        return None
    number, line = fitting[0]
    return number, (
        f"{printable(line.strip(), 100)!r} and nearly all other lines look like CSV. Expected WORD PHONE PHONE ... on "
        "a line; use spaces or tabs instead of commas, without a heading or quotes"
    )


def guess_format(lines: list[str]) -> Literal["kaldi", "cmu", "htk"]:
    """Detect the format of a file from its lines that are not blank."""
    entries = [line.split() for line in lines if not formats.is_comment(line)]
    escaped = any(entry[0].startswith("\\") for entry in entries)
    with_output = any(len(entry) > 1 and entry[1].startswith("[") and entry[1].endswith("]") for entry in entries)
    endings = {entry[-1] for entry in entries if len(entry) > 1}
    if escaped or with_output or (endings and endings <= formats.HTK_PAUSES and "sp" in endings):
        return "htk"
    words = {entry[0] for entry in entries}
    marks = (formats.VARIANT_MARK.fullmatch(word) for word in words)
    if any(mark is not None and mark.group(1) in words for mark in marks):
        return "cmu"
    return "kaldi"
