"""Praat TextGrids: one tier of intervals for words, one for phones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from asr.decode.path_segments import Segment
from asr.files import atomic_write


def write_textgrid(
    path: Path | str, tiers: Mapping[str, Sequence[Segment]], *, shift_seconds: float, duration: float
) -> None:
    """Write segments as interval tiers (long format); gaps between them become empty intervals.

    Parameters
    ----------
    path : path of the file to write
    tiers : mapping of tier name to segments in order of time, which do not overlap
    shift_seconds : float
        From one frame to the next.
    duration : float
        Of the audio in seconds, to 0.1 ms; the grid is longer where a segment ends later.

    Raises
    ------
    ValueError
        If segments overlap or last no time.
    """
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    times = {
        name: [
            (round(segment.start * shift_seconds, 3), round(segment.end * shift_seconds, 3), segment.label)
            for segment in segments
        ]
        for name, segments in tiers.items()
    }
    for name, intervals in times.items():
        earlier = 0.0
        for start, end, label in intervals:
            if not earlier <= start < end:
                raise ValueError(f"tier {name!r}: {label!r} from {start} to {end} s must begin at {earlier} s or later")
            earlier = end
    last = max([round(duration, 4), *(intervals[-1][1] for intervals in times.values() if intervals)])
    grid = Textgrid(0.0, last)
    for name, intervals in times.items():
        grid.addTier(IntervalTier(name, intervals, 0.0, last))
    with atomic_write(path) as temporary:
        grid.save(str(temporary), "long_textgrid", includeBlankSpaces=True, reportingMode="error")
