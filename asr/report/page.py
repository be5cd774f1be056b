"""Report of a run: one HTML page for use without a network, with players for the sound of utterances.

The content security policy allows the page's own script (`page.js`, by its hash) and data inside the page, and
nothing else. The script sorts and filters tables and moves the cursor of players; the rest is readable without it.
"""

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from asr.report.clip import Clip
from asr.report.figures import curve, speaker_bars
from asr.scoring.wer import Pair, SpeakerScore, UtteranceScore
from asr.util.counted_text import count
from asr.util.files import atomic_write

Token = Literal["word", "phone"]
"""Kind of the scored words: words, or phones if each word of the transcripts is a phone."""
RATES: Mapping[Token, str] = {"word": "WER", "phone": "PER"}
COMPARED = "Upper line: reference; lower line: hypothesis. S: substituted, D: deleted, I: inserted."
_MAX_BARS = 24  # speakers in the figure; the table has all
_LOW, _FAIR = 0.5, 0.8  # trust below which a label is colored


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table that the reader can sort: title, a sentence below it, names of the columns, and rows.

    Columns of numbers and None are aligned to the right. Cells of the column `linked` are ids of utterances, which
    lead to their excerpts.
    """

    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    digits: int = 2
    linked: int | None = None

    @property
    def numeric(self) -> set[int]:
        """Columns without text."""
        return {
            number for number in range(len(self.columns)) if not any(isinstance(row[number], str) for row in self.rows)
        }


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An utterance of the page: its id, facts and a remark, and its words compared with hypotheses."""

    name: str
    facts: str
    remark: str = ""
    alignments: Sequence[tuple[str, Sequence[Pair]]] = ()  # name of the hypothesis if there are several, pairs


@dataclass(frozen=True, slots=True)
class Section:
    """Excerpts under a title and a sentence."""

    title: str
    caption: str
    excerpts: Sequence[Excerpt]


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


@dataclass(frozen=True, slots=True)
class _Section:
    """A section with the anchor and the clip of each excerpt, at the first excerpt of the utterance."""

    title: str
    caption: str
    entries: list[tuple[Excerpt, str, Clip | None]] = field(default_factory=list)


def write_report(
    path: Path | str,
    *,
    title: str,
    rows: Sequence[Mapping[str, Any]] = (),
    speakers: Mapping[str, Sequence[SpeakerScore]] = {},
    curves: Mapping[str, Sequence[float]] = {},
    transcripts: Sequence[UtteranceScore] = (),
    notes: Sequence[str] = (),
    transcripts_of: str = "",
    sections: Sequence[Section] = (),
    tables: Sequence[PlainTable] = (),
    clips: Mapping[str, Clip] = {},
    token: Token = "word",
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
    sections : excerpts, after the errors by speaker and before those of `transcripts`
    tables : further tables, after the excerpts
    clips : sound of utterances, shown in the first excerpt of each
    token : "word", or "phone" if each word of the transcripts is a phone
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("asr.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["shade"] = _shade
    script = _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    if transcripts:
        sections = [*sections, errors_section(transcripts, transcripts_of, token)]
    anchors, placed = _placed(sections, clips)
    page = environment.get_template("page.html.j2").render(
        title=title,
        token=token,
        rate=RATES[token],
        notes=notes,
        rows=[{column.key: None for column in _MEASURED} | dict(row) for row in rows],
        measured=[column for column in _MEASURED if any(row.get(column.key) is not None for row in rows)],
        systems=list(speakers),
        speaker_lines=_speaker_lines(speakers),
        speaker_figure=_speaker_figure(speakers, token),
        curves=[_curve(number, *item) for number, item in enumerate(curves.items())],
        sections=placed,
        anchors=anchors,
        tables=tables,
        style=Markup(_resource("page.css")),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
    )
    with atomic_write(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def errors_section(transcripts: Sequence[UtteranceScore], of: str = "", token: Token = "word") -> Section:
    """Return a section that compares the words of each utterance; `of` names the hypotheses."""
    excerpts = [Excerpt(one.id, error_facts(one, token), alignments=[("", one.pairs)]) for one in transcripts]
    return Section(f"Utterances with most errors{': ' if of else ''}{of}", COMPARED, excerpts)


def error_facts(score: UtteranceScore, token: Token = "word") -> str:
    """Return speaker, errors and words (or phones) of an utterance."""
    return f"speaker {score.speaker}, {count(score.counts.errors, 'error')} in {count(score.counts.words, token)}"


def _placed(sections: Sequence[Section], clips: Mapping[str, Clip]) -> tuple[dict[str, str], list[_Section]]:
    """Return the anchor of each utterance, and the sections with anchors and clips."""
    anchors: dict[str, str] = {}
    placed = []
    for part in sections:
        own = _Section(part.title, part.caption)
        for one in part.excerpts:
            if one.name in anchors:
                own.entries.append((one, "", None))
            else:
                anchors[one.name] = f"utterance-{len(anchors) + 1}"
                own.entries.append((one, anchors[one.name], clips.get(one.name)))
        placed.append(own)
    return anchors, placed


def _resource(name: str) -> str:
    return (files("asr.report") / name).read_text(encoding="utf-8")


def _shade(trust: float | None) -> str:
    """Return the style class of a label."""
    return "" if trust is None or trust >= _FAIR else "fair" if trust >= _LOW else "low"


def _speaker_lines(speakers: Mapping[str, Sequence[SpeakerScore]]) -> list[_SpeakerLine]:
    by_system = [{score.speaker: score for score in scores} for scores in speakers.values()]
    lines = []
    for speaker in sorted({speaker for scores in by_system for speaker in scores}):
        scores = tuple(scores.get(speaker) for scores in by_system)
        counts = next(score.counts for score in scores if score is not None)
        lines.append(_SpeakerLine(speaker, counts.sentences, counts.words, scores))
    return lines


def _speaker_figure(speakers: Mapping[str, Sequence[SpeakerScore]], token: Token) -> str:
    """Plot error rates as bars, only the highest if there are many; empty without words."""
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
    title = f"{token.capitalize()} error rate by speaker"
    if len(shown) < len(highest):
        title += f": the {len(shown)} speakers of {len(highest)} with the highest"
    worst, best = shown[0], min(highest, key=lambda speaker: (highest[speaker], speaker))
    text = f"Highest for {worst}, {_number(highest[worst], 1)} %; lowest for {best}. The table has all speakers."
    kept = {system: {s: by_speaker[s] for s in shown if s in by_speaker} for system, by_speaker in rates.items()}
    return speaker_bars(kept, label=f"{token} error rate, %", id="speakers", title=title, text=text)


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
