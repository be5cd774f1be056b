"""Conversion of frames to seconds of audio."""

from collections.abc import Iterable
from dataclasses import dataclass

from asr.corpus.audio import audio_seconds
from asr.corpus.data_directory import Utterance
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable


@dataclass(frozen=True)
class FrameTimes:
    """Borders between an utterance's frames, in seconds from its beginning.

    Frame i is a window centered at i * shift + window / 2. The border before it is halfway between two centers, at i *
    shift + (window - shift) / 2. The first and last frames extend to the beginning and end of the audio.
    """

    shift: float  # seconds between frames
    window: float  # seconds of a frame
    n_frames: int
    duration: float  # seconds of the audio

    @classmethod
    def of(cls, config: FeatureConfig, n_frames: int, seconds: float | None = None) -> "FrameTimes":
        """Return the times of `n_frames` frames made with `config` from `seconds` of audio.

        The duration is limited to what the number of frames allows. Without it (features from an archive) the utterance
        ends with its last window.
        """
        shift, window = config.shift_samples / config.sample_rate, config.window_samples / config.sample_rate
        shortest = (n_frames - 1) * shift + window
        duration = shortest if seconds is None else min(max(seconds, shortest), shortest + shift)
        return cls(shift, window, n_frames, duration)

    def border(self, frame: int) -> float:
        """Return the start of `frame` in seconds, to the millisecond; for `n_frames` the audio's end, to 0.1 ms."""
        if frame <= 0:
            return 0.0
        if frame >= self.n_frames:
            return round(self.duration, 4)
        return round(frame * self.shift + (self.window - self.shift) / 2, 3)


def frame_times(config: FeatureConfig, utterances: Iterable[Utterance], table: FrameTable) -> dict[str, FrameTimes]:
    """Return the times of every utterance in the table; CorpusError if an audio file can no longer be read."""
    times = {}
    for utterance in utterances:
        if utterance.id in table.index:
            seconds = None
            if utterance.audio is not None:
                seconds = audio_seconds(utterance.audio, start=utterance.start, end=utterance.end)
            rows = table.rows(utterance.id)
            times[utterance.id] = FrameTimes.of(config, rows.stop - rows.start, seconds)
    return times
