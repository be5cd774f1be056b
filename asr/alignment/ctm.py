"""Time-marked conversation files (NIST CTM): one word or phone per line, with its times in seconds."""

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
"""Seconds; longer than any recording, and times below it are exact to the millisecond."""
_UNCALIBRATED = ";; confidences: uncalibrated\n"


@dataclass(frozen=True, slots=True)
class CtmRow:
    """A label of an utterance from `start` for `duration` seconds; None: unknown confidence."""

    utterance: str
    start: float
    duration: float
    label: str
    confidence: float | None = None
    channel: str = "1"


def ctm_rows(utterance: str, segments: Iterable[Segment], times: FrameTimes) -> list[CtmRow]:
    """Return the rows of one utterance's segments, rounded to milliseconds; adjacent segments stay adjacent."""
    rows = []
    for segment in segments:
        start, end = round(times.border(segment.start), 3), round(times.border(segment.end), 3)
        rows.append(CtmRow(utterance, start, round(end - start, 3), segment.label, segment.confidence))
    return rows


def write_ctm(path: Path | str, rows: Iterable[CtmRow], *, uncalibrated: bool = False) -> None:
    """Write rows in the order given, with times rounded to milliseconds.

    `uncalibrated`: whether the first line is a comment that the confidences are uncalibrated.

    Raises CorpusError if a name or label is empty, has white space or unprintable characters, or would start a comment
    (`;;`); also if a time is outside 0 to `LATEST`, or a confidence is negative or not finite.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(_UNCALIBRATED if uncalibrated else "")
        for row in rows:
            fault = fault_in_key(row.utterance)
            if fault is not None:
                raise CorpusError(f"{path}: {row.utterance!r} cannot be written to a CTM file: it {fault}")
            for name in (row.channel, row.label):
                fault = fault_in_word(name)
                if fault is not None:
                    raise CorpusError(f"{path}: {name!r} cannot be written to a CTM file: it {fault}")
            for value in (row.start, row.duration, row.confidence or 0.0):
                if not 0 <= value <= LATEST:
                    raise CorpusError(
                        f"{path}: {value} of {row.utterance!r} cannot be written to a CTM file. Expected a number "
                        f"from 0 to {LATEST:g}"
                    )
            confidence = "" if row.confidence is None else f" {row.confidence:.3f}"
            stream.write(f"{row.utterance} {row.channel} {row.start:.3f} {row.duration:.3f} {row.label}{confidence}\n")


def read_ctm(path: Path | str) -> list[CtmRow]:
    """Read a CTM file; blank lines and comments (`;;`) are skipped.

    Raises CorpusError with file, line and value for a file that is not text (see `asr.util.text_lines`), a wrong number
    of fields, an unprintable name, or a time or confidence outside 0 to `LATEST`.
    """
    rows = []
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        if len(fields) not in (5, 6):
            raise CorpusError(
                f"{path}:{number}: {line!r} has {len(fields)} fields. Expected 'utterance channel start duration "
                "label [confidence]'"
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


def is_uncalibrated(path: Path | str) -> bool:
    """Return whether `write_ctm` marked the confidences of a CTM file as uncalibrated."""
    with Path(path).open("rb") as stream:
        return stream.read(len(_UNCALIBRATED)) == _UNCALIBRATED.encode()


def read_number(where: str, text: str, largest: float = LATEST) -> float:
    """Parse a number from 0 to `largest`; otherwise raise CorpusError, whose message begins with `where`."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not 0 <= value <= largest:
        raise CorpusError(f"{where}: {text!r}. Expected a number from 0 to {largest:g}")
    return value
