"""Reading a pronunciation dictionary, its format told by its content."""

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

    Parameters
    ----------
    path : path
    format : {"auto", "kaldi", "cmu", "htk"}
        "kaldi": `WORD phone phone ...`, one variant a line, `#` and `;;;` comment lines. One or four numbers may
        follow the word (lexiconp.txt, lexiconp_silprob.txt, Montreal Forced Aligner; see
        `asr.lexicon.number_columns`): they are checked and not used, so pronunciations count as equally likely.
        "cmu": variants are marked `WORD(2)`; `;;;` comment lines. "htk": `WORD [OUTSYM] probability phone ... sp`,
        quotes and backslash escapes; output symbols, probabilities and closing pauses are left out, as are entries of
        nothing but a pause (`SENT-END [] sil`). "auto": HTK when a line has an output symbol or an escaped
        first character, or all lines end in `sp` or `sil`; CMU when some `WORD(2)` stands beside its `WORD`;
        Kaldi otherwise.
    strip_stress : bool, optional
        Whether a stress digit that closes a phone is removed (AH0 becomes AH); by default in the CMU format, and
        where the phones are the CMU's and every vowel has one.

    A word that is nothing but the model's own silence, as Kaldi's `<SIL> SIL`, is left out. What was left out or
    removed is told in the lexicon's `silent`, `stress` and `numbers`.

    Raises
    ------
    LexiconError
        With file, line and value, for a file that cannot be read or looks like CSV, a word without phones, a line that
        does not fit the format, or a word with one of the phones that are reserved for silence.
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
    """Whether stress digits are removed from a lexicon of this format and these phones; `wanted` decides if given."""
    return (format == "cmu" or marks_stress(phones)) if wanted is None else wanted


def _unstressed(phones: Pronunciation) -> Pronunciation:
    return tuple(without_stress(phone) for phone in phones)


def number_columns(format: str, lines: Iterable[str]) -> NumberColumns:
    """Return the rule for the numbers of a file in a format; `lines` are all of its lines that are not blank."""
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


MIN_COMMAS, COMMA_LINES = 3, 0.9  # lines, and their part of all: words with a comma, such as 1,000, are few
_COMMA_AFTER_WORD = re.compile(r"\s*(\"[^\"]*\"|[^\s,;]+)\s*[,;]\s*\S")


_YAML_KEY = re.compile(r"\s*[\w-]+:(\s|$)")


def other_format(lines: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """The number of a line and what is wrong with it, in a file of another format; None in a dictionary.

    `lines` are all that are not blank, with their numbers.
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
    """A line where a tab may end the word at two places: before what is no phone of other lines, and before phones."""
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
    """Read as a lexicon, `ONE,W AH N` would be the word `ONE,W`."""
    fitting = [(number, line) for number, line in entries if _COMMA_AFTER_WORD.match(line)]
    if len(fitting) < max(MIN_COMMAS, COMMA_LINES * len(entries)):
        return None
    number, line = fitting[0]
    return number, (
        f"{printable(line.strip(), 100)!r} looks like CSV, as do nearly all lines; a lexicon has WORD PHONE PHONE ... "
        "on a line, divided by white space: write spaces or tabs for the commas, and no heading or quotes"
    )


def guess_format(lines: list[str]) -> Literal["kaldi", "cmu", "htk"]:
    """The format of a file whose lines that are not blank these are."""
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
