"""Praat TextGrids: one tier of intervals for words, one for phones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from asr.alignment.frame_times import FrameTimes
from asr.decode.path_segments import Segment
from asr.util.files import atomic_write


def write_textgrid(path: Path | str, tiers: Mapping[str, Sequence[Segment]], times: FrameTimes) -> None:
    """Write segments as interval tiers (long format) of the length of the audio; gaps become empty intervals.

    Segments are in frames, in order of time. Raises ValueError if segments overlap or have no duration.
    """
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    in_seconds = {
        name: [(times.border(segment.start), times.border(segment.end), segment.label) for segment in segments]
        for name, segments in tiers.items()
    }
    for name, intervals in in_seconds.items():
        earlier = 0.0
        for start, end, label in intervals:
            if not earlier <= start < end:
                raise ValueError(
                    f"tier {name!r}: {label!r} from {start} to {end} s overlaps. Expected a start of {earlier} s or "
                    "later"
                )
            earlier = end
    last = times.border(times.n_frames)
    grid = Textgrid(0.0, last)
    for name, intervals in in_seconds.items():
        grid.addTier(IntervalTier(name, intervals, 0.0, last))
    with atomic_write(path) as temporary:
        grid.save(str(temporary), "long_textgrid", includeBlankSpaces=True, reportingMode="error")
