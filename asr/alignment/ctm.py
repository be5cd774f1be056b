"""Time-marked conversation files (NIST CTM): a word or phone a line, with its times in seconds."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from asr.alignment.frame_times import FrameTimes
from asr.corpus.identifiers import fault_in_key
from asr.decode.path_segments import Segment
from asr.util.errors import CorpusError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines
from asr.util.unicode_text import fault_in_word

_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
LATEST = 1e9
"""Seconds; no recording is as long, and every time below it is exact to the millisecond."""


@dataclass(frozen=True, slots=True)
class CtmRow:
    """A label of an utterance from `start` for `duration` seconds; None: `confidence` unknown."""

    utterance: str
    start: float
    duration: float
    label: str
    confidence: float | None = None
    channel: str = "1"


def ctm_rows(utterance: str, segments: Iterable[Segment], times: FrameTimes) -> list[CtmRow]:
    """The rows of one utterance's segments, given in frames.

    Times are rounded to milliseconds such that segments that touch still touch.
    """
    rows = []
    for segment in segments:
        start, end = round(times.border(segment.start), 3), round(times.border(segment.end), 3)
        rows.append(CtmRow(utterance, start, round(end - start, 3), segment.label, segment.confidence))
    return rows


def write_ctm(path: Path | str, rows: Iterable[CtmRow]) -> None:
    """Write rows, in the order given, times in milliseconds' precision.

    Raises
    ------
    CorpusError
        If a name or label is empty, holds white space or what cannot be printed, or would make the line a comment
        (`;;`); if a time is below 0 or above `LATEST`, or a confidence is no finite number of at least 0.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for row in rows:
            fault = fault_in_key(row.utterance)
            if fault is not None:
                raise CorpusError(f"{path}: {row.utterance!r} cannot stand in a CTM file: it {fault}")
            for name in (row.channel, row.label):
                fault = fault_in_word(name)
                if fault is not None:
                    raise CorpusError(f"{path}: {name!r} cannot stand in a CTM file; it {fault}")
            for value in (row.start, row.duration, row.confidence or 0.0):
                if not 0 <= value <= LATEST:
                    raise CorpusError(
                        f"{path}: {value} of {row.utterance!r} cannot stand in a CTM file; it must be a number of 0 "
                        f"to {LATEST:g}"
                    )
            confidence = "" if row.confidence is None else f" {row.confidence:.3f}"
            stream.write(f"{row.utterance} {row.channel} {row.start:.3f} {row.duration:.3f} {row.label}{confidence}\n")


def read_ctm(path: Path | str) -> list[CtmRow]:
    """Read a CTM file; blank lines and comments (`;;`) are skipped.

    Raises
    ------
    CorpusError
        With file, line and value: when the file is no text (see `asr.util.text_lines`), or a line has other than five
        or six fields, a name that cannot be printed, or a time or confidence that is no number from 0 to `LATEST`.
    """
    rows = []
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        if len(fields) not in (5, 6):
            raise CorpusError(
                f"{path}:{number}: {line!r} has {len(fields)} fields; "
                "it must be 'utterance channel start duration label [confidence]'"
            )
        where = f"{path}:{number}"
        utterance, channel, start, duration, label = fields[:5]
        fault = fault_in_key(utterance)
        if fault is not None:
            raise CorpusError(f"{path}:{number}: the utterance {utterance!r} {fault}")
        fault = fault_in_word(label)
        if fault is not None:
            raise CorpusError(f"{path}:{number}: the label {label!r} {fault}")
        rows.append(
            CtmRow(
                utterance,
                read_number(where, start),
                read_number(where, duration),
                label,
                read_number(where, fields[5]) if len(fields) == 6 else None,
                channel,
            )
        )
    return rows


def read_number(where: str, text: str, largest: float = LATEST) -> float:
    """A number from 0 to `largest`; CorpusError, which begins with `where`, for any other text."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= largest:
        raise CorpusError(f"{where}: {text!r} must be a number of at least 0, and at most {largest:g}")
    return value
