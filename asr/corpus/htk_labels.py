"""HTK label files and master label files: output of HVite and training data of HERest (HTK Book 3.4, chapter 6).

A line is `[start [end]] label [score] [label [score] ...]`, with times in 100 ns. Further labels belong to higher
levels (words above phones) and last until the next label of the same level. A master label file (MLF) begins with
`#!MLF!#`. For each utterance it has a pattern in quotes (`"*/name.lab"`), the lines, and a full stop.
"""

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from asr.corpus.identifiers import fault_in_key
from asr.util.errors import CorpusError, Issue
from asr.util.files import atomic_write
from asr.util.htk_strings import is_htk_number, read_htk_string, write_htk_string
from asr.util.text_lines import read_text_lines

MLF_HEADER = "#!MLF!#"
LATEST = 1e8
"""Seconds; times below it are exact to 100 ns."""
MAX_SCORE = 1e30
_UNITS = 10**7  # per second
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_ESCAPED = re.compile(r"(?:\\[23][0-7]{2})+")  # bytes beyond ASCII
_IN_NO_NAME = frozenset('"*?/\\')

Lines = Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class LabelSegment:
    """A label from `start` to `end` in seconds, with the score of the program that wrote it; None if unknown."""

    label: str
    start: float | None = None
    end: float | None = None
    score: float | None = None


def read_labels(
    path: Path | str, *, level: int = 1, issues: list[Issue] | None = None
) -> dict[str, list[LabelSegment]]:
    r"""Read the labels of every utterance of a master label file, or of the single utterance of a label file.

    The utterance id is the last part of the pattern without its ending: `"*/anna-1.lab"` is `anna-1`, and
    `"*/ren\303\251.lab"` is `rené`. For a label file it is the file name. `level` selects a label of each line, as
    HTK's TRANSLEV: 1 for the first.

    Raises CorpusError with file and line if the file is not text (see `asr.util.text_lines`), a line is malformed, or
    an utterance is repeated, unterminated or without a label of the level. Alternatives (`///`), patterns for several
    utterances, and references to other files (`->`, `=>`) are not supported. With `issues`, faults of one utterance of
    a master label file are collected, and the utterance is left out.
    """
    return parse_labels(path, read_text_lines(path, CorpusError), level=level, issues=issues)


def read_words(path: Path | str, *, level: int = 1, issues: list[Issue] | None = None) -> dict[str, tuple[str, ...]]:
    """Return the labels of `read_labels` as words: transcripts for training or scoring.

    Raises CorpusError as `read_labels` does, and for a label that is not one word.
    """
    return words_of(path, read_labels(path, level=level, issues=issues))


def words_of(path: Path | str, labels: Mapping[str, Sequence[LabelSegment]]) -> dict[str, tuple[str, ...]]:
    """Return the words of every utterance; CorpusError, with `path`, for a label with white space."""
    for name, segments in labels.items():
        for segment in segments:
            if segment.label.split() != [segment.label]:
                raise CorpusError(f"{path}: the label {segment.label!r} of {name!r} is not one word")
    return {name: tuple(segment.label for segment in segments) for name, segments in labels.items()}


def is_mlf(lines: Sequence[str]) -> bool:
    """Return whether these are the lines of a master label file."""
    return bool(lines) and lines[0].strip() == MLF_HEADER


def parse_labels(
    path: Path | str, lines: Sequence[str], *, level: int = 1, issues: list[Issue] | None = None
) -> dict[str, list[LabelSegment]]:
    """Parse lines as `read_labels` does; `path` is used in messages and for the id of a label file's utterance."""
    if level < 1:
        raise ValueError(f"level is {level}. Expected at least 1")
    if not is_mlf(lines):
        if Path(path).suffix.lower() == ".mlf":
            raise CorpusError(f"{path}:1: not a master label file. Expected {MLF_HEADER} in the first line")
        name = Path(path).name.removesuffix(".gz").rpartition(".")[0] or Path(path).name
        return {_checked(path, 1, name): _segments(path, list(enumerate(lines, 1)), level)}
    labels: dict[str, list[LabelSegment]] = {}
    seen: set[str] = set()
    for number, name, rows in _entries(path, lines):
        try:
            if name in seen:
                raise CorpusError(f"{path}:{number}: the utterance {name!r} appears twice")
            labels[name] = _segments(path, rows, level)
            seen.add(name)
        except CorpusError as error:
            if issues is None:
                raise
            labels.pop(name, None)
            issues.append(Issue("bad-line", str(error), path=Path(path), line=number, utterances=(name,)))
    return labels


def write_mlf(path: Path | str, labels: Mapping[str, Sequence[LabelSegment]], *, ending: str = "rec") -> None:
    """Write a master label file with patterns `"*/name.rec"`, utterances and segments in the order given.

    Raises CorpusError before writing for an utterance that a pattern cannot name (see `fault_in_pattern`), a label that
    is empty or has a line end, times that are unordered or above `LATEST`, or a score that is not finite.
    """
    texts = []
    for name, segments in labels.items():
        fault = fault_in_pattern(name)
        if fault is not None:
            raise CorpusError(f"{path}: {name!r} cannot be written to an MLF: it {fault}")
        texts.append("\n".join([f'"*/{name}.{ending}"', *(_line(path, name, segment) for segment in segments), ".\n"]))
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"{MLF_HEADER}\n")
        stream.writelines(texts)


def fault_in_pattern(name: str) -> str | None:
    """Explain, as the end of a sentence, why an MLF pattern cannot name this utterance; None if it can."""
    fault = fault_in_key(name)
    if fault is None and _IN_NO_NAME.intersection(name):
        fault = "contains a quote, a slash, or a wildcard (* ?)"
    return fault


def _entries(path: Path | str, lines: Sequence[str]) -> Iterator[tuple[int, str, Lines]]:
    """Yield line number, name and numbered lines of every utterance of an MLF."""
    name, begun = "", 0
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(lines[1:], 2):
        stripped = line.strip()
        if begun and stripped == ".":
            yield begun, name, rows
            begun, rows = 0, []
        elif begun:
            rows.append((number, line))
        elif stripped:
            name, begun = _named(path, number, stripped), number
    if begun:
        raise CorpusError(f"{path}:{begun}: the labels of {name!r} do not end with a line with a full stop")


def _named(path: Path | str, number: int, line: str) -> str:
    """Return the utterance id of a pattern.

    HTK does not escape patterns; a backslash separates folders, as a slash does. Other programs escape them as labels:
    octal escapes of characters beyond ASCII are decoded after a slash.
    """
    pattern, quote, rest = line[1:].partition('"')
    if line[0] != '"' or not quote:
        raise CorpusError(f'{path}:{number}: {line!r} is not a pattern in quotes. Expected for example "*/name.lab"')
    if rest.strip():
        raise CorpusError(
            f"{path}:{number}: {rest.strip()!r} follows the pattern. References to other files are not supported. "
            "Write the labels below the pattern"
        )
    _, slash, last = pattern.rpartition("/")
    last = (_ESCAPED.sub(_unescaped, last) if slash else last).rpartition("\\")[2]
    return _checked(path, number, last.rpartition(".")[0] or last)


def _unescaped(escapes: re.Match[str]) -> str:
    """Decode octal escapes; return them unchanged if they are not UTF-8."""
    octets = bytes(int(digits, 8) for digits in escapes[0].split("\\")[1:])
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return escapes[0]


def _checked(path: Path | str, number: int, name: str) -> str:
    fault = fault_in_pattern(name)
    if fault is not None:
        raise CorpusError(f"{path}:{number}: the utterance {name!r} {fault}")
    return name


class _Row(NamedTuple):
    start: float | None
    end: float | None
    levels: list[tuple[str, float | None]]


def _segments(path: Path | str, lines: Lines, level: int) -> list[LabelSegment]:
    segments: list[LabelSegment] = []
    row = None
    for number, line in lines:
        if not line.strip():
            continue
        row = _row(path, number, line)
        if len(row.levels) >= level:
            label, score = row.levels[level - 1]
            segments.append(LabelSegment(label, row.start, row.end, score))
        elif segments:
            start = segments[-1].start
            if start is not None and row.end is not None and row.end < start:
                raise CorpusError(
                    f"{path}:{number}: {line!r} ends before the start of the label of level {level} above it"
                )
            segments[-1] = replace(segments[-1], end=row.end)
    if row is not None and not segments:
        raise CorpusError(f"{path}:{lines[0][0]}: no line has a label of level {level}")
    return segments


def _row(path: Path | str, number: int, line: str) -> _Row:
    if line.strip() == "///":
        raise CorpusError(
            f"{path}:{number}: alternatives (///) are not supported. Expected one transcription of each utterance"
        )
    fields = deque(_fields(path, number, line))
    times: list[float] = []
    while fields and len(times) < 2 and (time := fields[0].number) is not None:
        times.append(_seconds(path, number, time))
        fields.popleft()
    levels: list[tuple[str, float | None]] = []
    while fields and fields[0].number is None:
        label = fields.popleft().text
        score = fields[0].number if fields else None
        if score is not None:
            fields.popleft()
            if not abs(score) <= MAX_SCORE:
                raise CorpusError(f"{path}:{number}: the score is {score}. Expected a number of at most {MAX_SCORE:g}")
        levels.append((label, score))
    if fields or not levels or not all(label for label, _ in levels):
        raise CorpusError(
            f"{path}:{number}: {line!r} is not a label. Expected '[start [end]] label [score] [label [score] "
            "...]', with labels that are numbers in quotes"
        )
    start, end = times[0] if times else None, times[1] if len(times) > 1 else None
    if start is not None and end is not None and end < start:
        raise CorpusError(f"{path}:{number}: {line!r} ends before its start")
    return _Row(start, end, levels)


class _Field(NamedTuple):
    text: str
    number: float | None


def _fields(path: Path | str, number: int, line: str) -> list[_Field]:
    """Split a line at spaces; a quoted field is never a number."""
    if not any(sign in line for sign in "\"'\\"):
        return [_field(path, number, text) for text in line.split()]
    fields = []
    position = 0
    while position < len(line):
        if line[position].isspace():
            position += 1
            continue
        quoted = line[position] in "\"'"
        try:
            text, position = read_htk_string(line, position)
        except ValueError as problem:
            raise CorpusError(f"{path}:{number}: {problem}") from problem
        if position < len(line) and not line[position].isspace():
            raise CorpusError(f"{path}:{number}: {line[position:]!r} follows a quoted label without a space")
        fields.append(_Field(text, None) if quoted else _field(path, number, text))
    return fields


def _field(path: Path | str, number: int, text: str) -> _Field:
    if not is_htk_number(text):
        return _Field(text, None)
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise CorpusError(
            f"{path}:{number}: HTK reads {text!r} as a number, but it is not valid. Use quotes for a label"
        )
    return _Field(text, value)


def _seconds(path: Path | str, number: int, units: float) -> float:
    if not 0 <= units <= LATEST * _UNITS:
        raise CorpusError(
            f"{path}:{number}: the time is {units:g}. Expected 0 to {LATEST * _UNITS:g}, in units of 100 ns"
        )
    return units / _UNITS


def _line(path: Path | str, name: str, segment: LabelSegment) -> str:
    if not segment.label or "\n" in segment.label or "\0" in segment.label:
        raise CorpusError(f"{path}: the label {segment.label!r} of {name!r} is empty or has a line break")
    given = [time for time in (segment.start, segment.end) if time is not None]
    ordered = all(0 <= time <= LATEST for time in given) and given == sorted(given)
    if not ordered or (segment.start is None and segment.end is not None):
        raise CorpusError(
            f"{path}: {segment.label!r} of {name!r} is from {segment.start} to {segment.end} s. Expected "
            f"increasing times from 0 to {LATEST:g}"
        )
    if segment.score is not None and not abs(segment.score) <= MAX_SCORE:
        raise CorpusError(
            f"{path}: the score of {name!r} is {segment.score}. Expected a number of at most {MAX_SCORE:g}"
        )
    score = [] if segment.score is None else [f"{segment.score:.6f}"]
    return " ".join([*(str(round(time * _UNITS)) for time in given), write_htk_string(segment.label), *score])
