"""Praat TextGrids: a file per recording, with a tier of words and a tier of phones for each speaker."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from asr.alignment.recording_labels import Interval, RecordingLabels
from asr.corpus.formats.textgrid import open_textgrid
from asr.util.files import atomic_write


def write_labels(path: Path, recording: RecordingLabels) -> None:
    """Write the tiers of a recording after those of its source, if that is a TextGrid."""
    from praatio.data_classes.textgrid import Textgrid

    source = recording.source if recording.source and recording.source.suffix.lower() == ".textgrid" else None
    kept = Textgrid() if source is None else open_textgrid(source)
    tiers = {name: [label[:3] for label in labels] for name, _, labels in recording.named_tiers(kept.tierNames)}
    last = max([recording.seconds, *(label[1] for labels in tiers.values() for label in labels[-1:])])
    write_textgrid(path, tiers, max(last, kept.maxTimestamp or 0.0), kept.tiers)


def write_textgrid(
    path: Path | str, tiers: Mapping[str, Sequence[Interval]], last: float, kept: Sequence[Any] = ()
) -> None:
    """Write intervals in seconds as tiers (long format) that end at `last`; gaps become empty intervals.

    Tiers of praatio in `kept` come first. Raises ValueError if intervals overlap or have no duration.
    """
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    for name, intervals in tiers.items():
        earlier = 0.0
        for start, end, label in intervals:
            if not earlier <= start < end:
                raise ValueError(
                    f"tier {name!r}: {label!r} from {start} to {end} s overlaps. Expected a start of {earlier} s or "
                    "later"
                )
            earlier = end
    grid = Textgrid(0.0, last)
    same_end = (tier.new(minTimestamp=0.0, maxTimestamp=last) for tier in kept)
    for tier in (*same_end, *(IntervalTier(name, intervals, 0.0, last) for name, intervals in tiers.items())):
        grid.addTier(tier, reportingMode="silence")
    with atomic_write(path) as temporary:
        grid.save(str(temporary), "long_textgrid", includeBlankSpaces=True, reportingMode="error")
