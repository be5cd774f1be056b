"""Report of a run: an HTML page without network access or scripts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asr.report.figures import curve, speaker_bars
from asr.scoring.wer import SpeakerScore, UtteranceScore
from asr.util.files import atomic_write

_MAX_BARS = 24  # speakers in the figure; the table has all


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table of text: title, a sentence below it, names of the columns, and rows."""

    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Column:
    """An optional column of the results."""

    key: str
    title: str
    digits: int
    meaning: str


_MEASURED = (
    _Column("decode_rtf", "RTF", 4, "RTF: CPU seconds per second of audio."),
    _Column("train_seconds", "Training s", 1, "Training: wall-clock seconds."),
    _Column("frame_accuracy", "Frames %", 1, "Frames: percentage of frames with the correct state."),
)


@dataclass(frozen=True, slots=True)
class _SpeakerLine:
    """A line of the table of speakers: sizes, and a score of each system (or None)."""

    speaker: str
    sentences: int
    words: int
    scores: tuple[SpeakerScore | None, ...]


@dataclass(frozen=True, slots=True)
class _Curve:
    title: str
    x_label: str
    values: Sequence[float]
    svg: str


def write_report(
    path: Path | str,
    *,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    speakers: Mapping[str, Sequence[SpeakerScore]],
    curves: Mapping[str, Sequence[float]],
    transcripts: Sequence[UtteranceScore],
    notes: Sequence[str] = (),
    transcripts_of: str = "",
    tables: Sequence[PlainTable] = (),
) -> None:
    """Write the page; equal arguments give equal bytes.

    Parameters
    ----------
    title : heading of the page
    rows : rows of `results.json`; empty columns of times and frames are left out
    speakers : system -> scores of its speakers, as in `ScoreReport.speakers`
    curves : title -> values at 1, 2, ..., one figure each; " by " in a title such as "log-likelihood by iteration"
        separates the names of the y and x axes
    transcripts : utterances to show word by word, such as `ScoreReport.worst(20)` of one system
    notes : sentences, each a paragraph below the title
    transcripts_of : name of the system of the `transcripts`
    tables : further tables, after the errors by speaker
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("asr.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    page = environment.get_template("page.html.j2").render(
        title=title,
        notes=notes,
        rows=[{column.key: None for column in _MEASURED} | dict(row) for row in rows],
        measured=[column for column in _MEASURED if any(row.get(column.key) is not None for row in rows)],
        systems=list(speakers),
        speaker_lines=_speaker_lines(speakers),
        speaker_figure=_speaker_figure(speakers),
        curves=[_curve(number, *item) for number, item in enumerate(curves.items())],
        transcripts=transcripts,
        transcripts_of=transcripts_of,
        tables=tables,
    )
    with atomic_write(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _speaker_lines(speakers: Mapping[str, Sequence[SpeakerScore]]) -> list[_SpeakerLine]:
    by_system = [{score.speaker: score for score in scores} for scores in speakers.values()]
    lines = []
    for speaker in sorted({speaker for scores in by_system for speaker in scores}):
        scores = tuple(scores.get(speaker) for scores in by_system)
        counts = next(score.counts for score in scores if score is not None)
        lines.append(_SpeakerLine(speaker, counts.sentences, counts.words, scores))
    return lines


def _speaker_figure(speakers: Mapping[str, Sequence[SpeakerScore]]) -> str:
    """Plot word error rates as bars, only the highest if there are many; empty without words."""
    rates = {
        system: {score.speaker: score.counts.wer for score in scores if score.counts.words}
        for system, scores in speakers.items()
    }
    highest: dict[str, float] = {}
    for by_speaker in rates.values():
        for speaker, rate in by_speaker.items():
            highest[speaker] = max(rate, highest.get(speaker, 0.0))
    if not highest:
        return ""
    shown = sorted(highest, key=lambda speaker: (-highest[speaker], speaker))[:_MAX_BARS]
    title = "Word error rate by speaker"
    if len(shown) < len(highest):
        title += f": the {len(shown)} speakers of {len(highest)} with the highest"
    worst, best = shown[0], min(highest, key=lambda speaker: (highest[speaker], speaker))
    text = f"Highest for {worst}, {_number(highest[worst], 1)} %; lowest for {best}. The table has all speakers."
    kept = {system: {s: by_speaker[s] for s in shown if s in by_speaker} for system, by_speaker in rates.items()}
    return speaker_bars(kept, label="word error rate, %", id="speakers", title=title, text=text)


def _curve(number: int, title: str, values: Sequence[float]) -> _Curve:
    y_label, by, x_label = title.rpartition(" by ")
    if not by:
        y_label, x_label = "", "iteration"
    if not values:
        return _Curve(title, x_label, values, "")
    text = f"From {_number(values[0], 3)} at 1 to {_number(values[-1], 3)} at {len(values)}."
    svg = curve(values, x_label=x_label, y_label=y_label, id=f"curve{number}", title=title, text=text)
    return _Curve(title, x_label, values, svg)


def _number(value: float | None, digits: int = 2) -> str:
    """Format `value` with a fixed number of decimals; a dash for None."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"
