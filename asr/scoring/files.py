"""Reading of transcripts for scoring: Kaldi `text` and `hyp.txt`, NIST `.trn`, and HTK master label files."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from asr.corpus.htk_labels import is_mlf, parse_labels, words_of
from asr.corpus.identifiers import fault_in_key
from asr.util.errors import CorpusError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word

TranscriptFormat = Literal["auto", "kaldi", "trn", "mlf"]

_TRN_LINE = re.compile(r"(?P<words>(?:.*\s)?)\((?P<id>[^\s()]+)\)")
_SECONDS = re.compile(r"\d*\.\d+", re.ASCII)  # a digit alone may be a word
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)
_LABEL = re.compile(r"<.*>")
_SUBTITLE_TIMES = re.compile(r"\d+:\d\d:\d\d[.,]\d+ --> .*", re.ASCII)
_FILE = re.compile(r".+\.(wav|flac|mp3|ogg|opus|sph|aiff?|au|caf|mfc|(ark|scp)(:\d+)?)", re.IGNORECASE | re.ASCII)
_OTHER_BEGINNINGS = {
    'File type = "ooTextFile': "a TextGrid",
    "<?xml": "an XML file, such as ELAN's",
    "WEBVTT": "subtitles",
    '{"': "JSON lines",
    "VERSION=": "a lattice",
    "utterance\tstart\t": "confusion networks",
    "utterance\trank\t": "an n-best list",
    "utterance\tcode\t": "a list of failed utterances",
}
"""Beginnings of files that are not transcripts, and their formats."""


def read_transcripts(path: Path | str, *, format: TranscriptFormat = "auto") -> dict[str, tuple[str, ...]]:
    """Read the words of every utterance of a transcript file.

    Parameters
    ----------
    path : path
        UTF-8 text with one utterance per line; blank lines and comments (`;;`) of trn files are ignored.
    format : "kaldi", "trn", "mlf" or "auto"
        "kaldi": `utterance-id word word`; "trn": `word word (utterance-id)`; "mlf": HTK labels (see
        `asr.corpus.htk_labels`). "auto": mlf if the file begins with `#!MLF!#`, trn if all lines end with an
        utterance id in parentheses, else Kaldi.

    Returns
    -------
    dict : utterance id -> words, in file order; words may be empty

    Raises
    ------
    CorpusError
        If the file is not text (see `asr.util.text_lines`), or a line is malformed, repeats an utterance or has an
        invalid id (such as `;;` or unprintable characters). With "auto" also for other formats: CTM, STM, RTTM, labels,
        segments, wav.scp, TextGrid, subtitles, XML, JSON, lattices.
    """
    path = Path(path)
    transcripts, lines_of_trn = read_utterances(path, format=format)
    for id, line in lines_of_trn.items():
        if "{" in transcripts[id]:
            raise CorpusError(f"{path}:{line}: alternatives in braces cannot be scored. Expected one transcript")
    return transcripts


def read_utterances(
    path: Path, *, format: TranscriptFormat = "auto"
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """Read like `read_transcripts`, with marks of alternatives as words.

    Returns also the line of each utterance of a trn file; empty for other formats.
    """
    text_lines = read_text_lines(path, CorpusError)
    if format == "mlf" or (format == "auto" and is_mlf(text_lines)):
        return words_of(path, parse_labels(path, text_lines)), {}
    lines = _numbered_lines(text_lines)
    spoken = [(number, line) for number, line in lines if not line.startswith(";;")]
    if format == "auto":
        _refuse_other_results(path, spoken)
        format = _guess_format(path, spoken)
    if format == "trn":
        lines = spoken
    transcripts: dict[str, tuple[str, ...]] = {}
    first_line: dict[str, int] = {}
    for number, line in lines:
        id, words = _parse_trn(path, number, line) if format == "trn" else _parse_kaldi(line)
        _check_key(path, number, "utterance", id)
        for word in words:
            fault = fault_in_word(word)
            if fault is not None:
                raise CorpusError(f"{path}:{number}: the word {_shorten(word)} {fault}")
        if id in transcripts:
            raise CorpusError(
                f"{path}:{number}: utterance {_shorten(id)} appears twice, first on line {first_line[id]}"
            )
        transcripts[id] = words
        first_line[id] = number
    return transcripts, first_line if format == "trn" else {}


def write_transcripts(path: Path | str, transcripts: Mapping[str, Sequence[str]]) -> None:
    """Write sorted lines `utterance-id word word`, as in Kaldi's `text` and `hyp.txt`.

    Raises CorpusError, before writing, for an utterance or word that could not be read back.
    """
    for id, words in transcripts.items():
        fault = fault_in_key(id)
        if fault is not None:
            raise CorpusError(f"{path}: the utterance {_shorten(id)} {fault}")
        if " ".join(words).split() != list(words):
            raise CorpusError(f"{path}: a word of {_shorten(id)} is empty or has white space: {list(words)}")
    with atomic_write(path) as temporary:
        lines = (" ".join((id, *transcripts[id])) for id in sorted(transcripts))
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_utt2spk(path: Path | str) -> dict[str, str]:
    """Read `utterance-id speaker-id` lines.

    Raises CorpusError, with file and line, for lines without exactly two fields, invalid names (such as `;;` or
    unprintable characters), and repeated utterances.
    """
    path = Path(path)
    speakers: dict[str, str] = {}
    for number, line in _numbered_lines(read_text_lines(path, CorpusError)):
        fields = line.split()
        if len(fields) != 2:
            raise CorpusError(
                f"{path}:{number}: {_shorten(line)} does not have two fields. Expected 'utterance-id speaker-id'"
            )
        for role, name in zip(("utterance", "speaker"), fields, strict=True):
            _check_key(path, number, role, name)
        if fields[0] in speakers:
            raise CorpusError(f"{path}:{number}: utterance {_shorten(fields[0])} appears twice")
        speakers[fields[0]] = fields[1]
    return speakers


def _numbered_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    stripped = enumerate(map(str.strip, lines), 1)
    return [(number, line) for number, line in stripped if line]


def _check_key(path: Path, number: int, role: str, name: str) -> None:
    fault = fault_in_key(name)
    if fault is not None:
        raise CorpusError(f"{path}:{number}: the {role} {_shorten(name)} {fault}")


def timed_format(path: Path) -> Literal["stm", "ctm"] | None:
    """Return the format of a file with times, by its ending or by nearly all of its lines; otherwise None."""
    for format in ("stm", "ctm"):
        if path.suffix.lower() == f".{format}":
            return format
    lines = _numbered_lines(read_text_lines(path, CorpusError))
    kind, _ = _kind_of_rows([(number, line) for number, line in lines if not line.startswith(";;")])
    return "stm" if kind == _STM else "ctm" if kind == _CTM else None


def _kind_of_rows(lines: list[tuple[int, str]]) -> tuple[str | None, int]:
    """Return the first of `_OTHER_ROWS` that fits nearly all lines, and the index of its first line."""
    rows = [line.split() for _, line in lines]
    for kind, fits in _OTHER_ROWS.items():
        fitting = [place for place, fields in enumerate(rows) if fits(fields)]
        if fitting and len(fitting) >= _NEARLY_ALL * len(rows):
            return kind, fitting[0]
    return None, 0


def _refuse_other_results(path: Path, lines: list[tuple[int, str]]) -> None:
    """Raise CorpusError for formats whose times, speakers or marks would be scored as words."""
    if not lines:
        return
    number, first = lines[0]
    what = next((what for beginning, what in _OTHER_BEGINNINGS.items() if first.startswith(beginning)), None)
    if what is None:
        what, place = _kind_of_rows(lines)
        number, first = lines[place]
    if what is None and any(_SUBTITLE_TIMES.fullmatch(line) for _, line in lines[:3]):
        what = "subtitles"
    if what is not None:
        raise CorpusError(
            f"{path}:{number}: {_shorten(first)} is of {what}. Expected a transcript, one utterance per line with "
            "its id and words, such as hyp.txt of asr decode"
        )


def _is_of_ctm(fields: Sequence[str]) -> bool:
    return len(fields) in (5, 6) and all(_SECONDS.fullmatch(field) for field in fields[2:4])


def _is_of_stm(fields: Sequence[str]) -> bool:
    if len(fields) < 5 or not all(_NUMBER.fullmatch(field) for field in fields[3:5]):
        return False
    timed = any("." in field for field in fields[3:5]) or any(map(_LABEL.fullmatch, fields[5:6]))
    return timed and float(fields[3]) <= float(fields[4])


def _is_of_labels(fields: Sequence[str]) -> bool:
    return len(fields) >= 2 and all(_SECONDS.fullmatch(field) for field in fields[:2])


def _is_of_segments(fields: Sequence[str]) -> bool:
    if len(fields) != 4 or not all(_NUMBER.fullmatch(field) for field in fields[2:]):
        return False
    return any("." in field for field in fields[2:]) and float(fields[2]) < float(fields[3])


def _is_of_files(fields: Sequence[str]) -> bool:
    return fields[-1] == "|" or (len(fields) == 2 and _FILE.fullmatch(fields[1]) is not None)


def _is_of_rttm(fields: Sequence[str]) -> bool:
    return len(fields) in (9, 10) and fields[0].isupper() and all(_SECONDS.fullmatch(field) for field in fields[3:5])


_CTM = "a CTM file (utterance, channel, start, duration, word)"
_STM = "an STM file (recording, channel, speaker, start, end, label, words)"
_OTHER_ROWS = {
    _CTM: _is_of_ctm,
    "an RTTM file (type, recording, channel, start, duration)": _is_of_rttm,
    _STM: _is_of_stm,
    "a list of labels (start, end, label)": _is_of_labels,
    "a list of segments (name, recording, start, end)": _is_of_segments,
    "a list of files, such as wav.scp": _is_of_files,
}
"""Formats without transcripts, and tests that nearly all their lines pass."""
_NEARLY_ALL = 0.9


def _guess_format(path: Path, lines: list[tuple[int, str]]) -> TranscriptFormat:
    """Guess the format from the share of lines that end with '(id)'. All: trn; few: Kaldi; most: a malformed trn."""
    matches = [_TRN_LINE.fullmatch(line) for _, line in lines]
    n_trn = sum(match is not None for match in matches)
    if lines and n_trn == len(lines):
        return "trn"
    ids = {match["id"] for match in matches if match is not None}
    if len(ids) == n_trn > len(lines) / 2:
        number, line = next(pair for pair, match in zip(lines, matches, strict=True) if match is None)
        raise CorpusError(f"{path}:{number}: {_shorten(line)} does not end in '(utterance-id)', unlike most lines")
    return "kaldi"


def _parse_kaldi(line: str) -> tuple[str, tuple[str, ...]]:
    id, *words = line.split()
    return id, tuple(words)


def _parse_trn(path: Path, number: int, line: str) -> tuple[str, tuple[str, ...]]:
    match = _TRN_LINE.fullmatch(line)
    if match is None:
        raise CorpusError(f"{path}:{number}: {_shorten(line)} does not end in '(utterance-id)', as trn lines must")
    return match["id"], tuple(match["words"].split())


def _shorten(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:59] + "…")
