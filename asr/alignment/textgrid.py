"""Praat TextGrids: a file per recording, with a tier of words and a tier of phones for each speaker."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from asr.alignment.frame_times import FrameTimes
from asr.corpus.audio import audio_seconds
from asr.corpus.data_directory import Utterance
from asr.decode.path_segments import Segment
from asr.util.files import atomic_write

Interval = tuple[float, float, str]


class AlignedUtterance(NamedTuple):
    """Words and phones of an utterance in frames, the times of the frames, and trust from 0 to 1.

    `trust` is that in the transcript, None if unknown. `word_trusts` and `phone_trusts` are parallel to `words` and
    `phones`, or empty if unknown.
    """

    utterance: Utterance
    words: Sequence[Segment]
    phones: Sequence[Segment]
    times: FrameTimes
    trust: float | None = None
    word_trusts: Sequence[float] = ()
    phone_trusts: Sequence[float] = ()

    def intervals(self, segments: Iterable[Segment]) -> list[Interval]:
        """Return segments with start and end in seconds of the recording."""
        start, border = self.utterance.start or 0.0, self.times.border
        return [(start + border(one.start), start + border(one.end), one.label) for one in segments]


def write_textgrids(folder: Path, aligned: Iterable[AlignedUtterance]) -> None:
    """Write `folder/RECORDING.TextGrid` for each recording, with the times of the recording.

    A file has the name of its audio file. If the audio files are in several folders, the files are in folders of the
    same names, so that `asr prepare textgrid` finds the audio. The tiers are `words` and `phones`; if a recording has
    several speakers, `SPEAKER - words` and `SPEAKER - phones` for each, as Montreal Forced Aligner names them. Features
    from archives have no recordings: each utterance gets a file.
    """
    of_recording: dict[Path | str, list[AlignedUtterance]] = defaultdict(list)
    for one in aligned:
        of_recording[one.utterance.audio or one.utterance.id].append(one)
    names = recording_names([path for path in of_recording if isinstance(path, Path)])
    for recording, ones in of_recording.items():
        ones.sort(key=lambda one: (one.utterance.start or 0.0, one.utterance.id))
        tiers = dict(_tiers(ones))
        last = max((interval[1] for intervals in tiers.values() for interval in intervals), default=0.0)
        last = max(last, *((one.utterance.start or 0.0) + one.times.border(one.times.n_frames) for one in ones))
        if isinstance(recording, Path):
            last = max(last, round(audio_seconds(recording), 4))
        path = folder / f"{names[recording] if isinstance(recording, Path) else recording}.TextGrid"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_textgrid(path, tiers, last)


def recording_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each audio file relative to their common folder, without its ending unless two are equal."""
    if not paths:
        return {}
    common = Path(os.path.commonpath([path.parent for path in paths]))
    bare = {path: path.relative_to(common).with_suffix("") for path in paths}
    n_alike = Counter(bare.values())
    return {path: str(path.relative_to(common) if n_alike[name] > 1 else name) for path, name in bare.items()}


def _tiers(ones: Sequence[AlignedUtterance]) -> Iterator[tuple[str, list[Interval]]]:
    """Yield the tiers of a recording, whose utterances are in order of time."""
    speakers = dict.fromkeys(one.utterance.speaker for one in ones)
    for speaker in speakers:
        own = [one for one in ones if one.utterance.speaker == speaker]
        prefix = f"{speaker} - " if len(speakers) > 1 else ""
        yield f"{prefix}words", _without_overlap(row for one in own for row in one.intervals(one.words))
        yield f"{prefix}phones", _without_overlap(row for one in own for row in one.intervals(one.phones))


def _without_overlap(intervals: Iterable[Interval]) -> list[Interval]:
    """Shorten intervals that begin before the end of the previous one, as if segments of a speaker overlap."""
    kept: list[Interval] = []
    for start, end, label in intervals:
        start = max(round(start, 4), kept[-1][1] if kept else 0.0)
        if start < round(end, 4):
            kept.append((start, round(end, 4), label))
    return kept


def write_textgrid(path: Path | str, tiers: Mapping[str, Sequence[Interval]], last: float) -> None:
    """Write intervals in seconds as tiers (long format) that end at `last`; gaps become empty intervals.

    Raises ValueError if intervals overlap or have no duration.
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
    for name, intervals in tiers.items():
        grid.addTier(IntervalTier(name, intervals, 0.0, last))
    with atomic_write(path) as temporary:
        grid.save(str(temporary), "long_textgrid", includeBlankSpaces=True, reportingMode="error")
