"""Reading of pronunciation dictionaries, with detection of the format."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from asr.lexicon import formats
from asr.lexicon.lexicon import Lexicon, Pronunciation, marks_stress, without_stress
from asr.lexicon.number_columns import NumberColumns
from asr.util.errors import LexiconError, printable
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
        the word (see `asr.lexicon.number_columns`) are checked but not used, so pronunciations are equally likely.
        "cmu": variants are marked `WORD(2)`; `;;;` comment lines. "htk": `WORD [OUTSYM] probability phone ... sp`, with
        quotes and backslash escapes; output symbols, probabilities, final pauses and entries of only a pause (`SENT-END
        [] sil`) are left out. "auto": HTK if a line has an output symbol or an escaped first character, or all lines
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
    lines = [(n, line) for n, line in enumerate(read_text_lines(path, LexiconError), 1) if line.strip()]
    other = other_format(lines)
    if other is not None:
        raise LexiconError(f"{path}, line {other[0]}: {other[1]}.")
    if format == "auto":
        format = guess_format([line for _, line in lines])
    columns = number_columns(format, [line for _, line in lines])
    parse = line_parser(format, columns)
    variants: dict[str, list[Pronunciation]] = {}
    silent: list[str] = []
    for number, line in lines:
        try:
            entry = parse(line)
        except ValueError as problem:
            raise LexiconError(f"{path}, line {number}: {problem}.") from problem
        if entry is None:
            continue
        word, phones = entry
        if not phones:
            raise LexiconError(f"{path}, line {number}: the word {word!r} has no phones; write them after the word.")
        if any(name.split() != [name] for name in (word, *phones)):
            raise LexiconError(
                f"{path}, line {number}: {line.strip()!r} has a name that is empty or holds white space."
            )
        if formats.MODEL_PAUSES.issuperset(phones):
            silent.append(word)
            continue
        reserved = [phone for phone in phones if phone in formats.MODEL_PAUSES]
        if reserved:
            raise LexiconError(
                f"{path}, line {number}: the word {word!r} has the phone {reserved[0]!r}, which is the model's own "
                "silence; leave it out, or give the phone another name."
            )
        variants.setdefault(word, []).append(phones)
    phones_used = {phone for spoken in variants.values() for variant in spoken for phone in variant}
    if strips_stress(strip_stress, format, phones_used):
        variants = {word: [_unstressed(variant) for variant in spoken] for word, spoken in variants.items()}
        marked = sum(without_stress(phone) != phone for phone in phones_used)
        removed = f"stress digits removed from {marked} vowels (--keep-stress, strip_stress=False, keeps them)"
        stress = f"{path}: {removed}" if marked else ""
    else:
        stress = f"{path}: stress digits kept, as was asked for" if marks_stress(phones_used) else ""
    pronunciations = {word: tuple(phones) for word, phones in variants.items()}
    numbers = f"{path}: {columns.note}" if columns.note else ""
    return Lexicon(pronunciations, str(path), silent=tuple(dict.fromkeys(silent)), stress=stress, numbers=numbers)


def strips_stress(wanted: bool | None, format: str, phones: Iterable[str]) -> bool:
    """Return whether stress digits are removed for this format and these phones; `wanted` overrides this."""
    return (format == "cmu" or marks_stress(phones)) if wanted is None else wanted


def _unstressed(phones: Pronunciation) -> Pronunciation:
    return tuple(without_stress(phone) for phone in phones)


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
    raise LexiconError(f"The lexicon format {format!r} is unknown; it must be auto, kaldi, cmu or htk.")


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
        f"{printable(line.strip(), 100)!r} looks like YAML, as do all lines; a lexicon has WORD PHONE PHONE ... on a "
        "line: give the dictionary that the YAML file names"
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
                f"there is a tab before {unclear[0]!r}, which is no phone of the other lines, and one before {last!r}; "
                "a word ends at the first white space: write _ or - for that in a word"
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
        f"{printable(line.strip(), 100)!r} looks like CSV, as do nearly all lines; a lexicon has WORD PHONE PHONE ... "
        "on a line, divided by white space: write spaces or tabs for the commas, and no heading or quotes"
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
