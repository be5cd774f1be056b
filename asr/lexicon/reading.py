"""Reading a pronunciation dictionary, its format told by its content."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from asr.errors import LexiconError
from asr.lexicon import formats
from asr.lexicon.lexicon import Lexicon, Pronunciation, without_stress
from asr.text_lines import read_text_lines

Format = Literal["auto", "kaldi", "cmu", "htk"]


def read_lexicon(path: Path | str, *, format: Format = "auto", strip_stress: bool | None = None) -> Lexicon:
    """Read the pronunciation dictionary `path` (UTF-8, may be gzip-compressed); letter case is kept.

    Parameters
    ----------
    path : path
    format : {"auto", "kaldi", "cmu", "htk"}
        "kaldi": `WORD phone phone ...`, one variant a line, `#` and `;;;` comment lines. When the second
        field of every line is a number in (0, 1] written with a point or an exponent, the file is a
        lexiconp.txt: that column is left out, and pronunciations count as equally likely. "cmu": variants are
        marked `WORD(2)`; `;;;` comment lines. "htk": `WORD [OUTSYM] probability phone ... sp`, quotes and
        backslash escapes; output symbols, probabilities and closing pauses are left out, as are entries of
        nothing but a pause (`SENT-END [] sil`). "auto": HTK when a line has an output symbol or an escaped
        first character, or all lines end in `sp` or `sil`; CMU when some `WORD(2)` stands beside its `WORD`;
        Kaldi otherwise.
    strip_stress : bool, optional
        Whether a stress digit that closes a phone is removed (AH0 becomes AH); by default only in the CMU
        format.

    Raises
    ------
    LexiconError
        With file, line and value, for a file that cannot be read, a word without phones or a line that does
        not fit the format.
    """
    lines = [(n, line) for n, line in enumerate(read_text_lines(path, LexiconError), 1) if line.strip()]
    if format == "auto":
        format = guess_format([line for _, line in lines])
    parse = line_parser(format, [line for _, line in lines])
    if strip_stress is None:
        strip_stress = format == "cmu"

    variants: dict[str, list[Pronunciation]] = {}
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
        if strip_stress:
            phones = tuple(without_stress(phone) for phone in phones)
        variants.setdefault(word, []).append(phones)
    return Lexicon({word: tuple(phones) for word, phones in variants.items()}, str(path))


def line_parser(format: str, lines: list[str]) -> Callable[[str], formats.Entry | None]:
    """What parses a line of a file in a format; `lines` are all of its lines that are not blank."""
    if format == "kaldi":
        entries = [line.split() for line in lines if not formats.is_comment(line)]
        with_probability = all(len(entry) > 1 and formats.is_probability(entry[1]) for entry in entries)
        return formats.parse_kaldi_with_probability if with_probability else formats.parse_kaldi
    if format == "cmu":
        return formats.parse_cmu
    if format == "htk":
        return formats.parse_htk
    raise LexiconError(f"The lexicon format {format!r} is unknown; it must be auto, kaldi, cmu or htk.")


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
