"""From frames to seconds of the audio: the one place where segments become times."""

from collections.abc import Iterable
from dataclasses import dataclass

from asr.corpus.audio import audio_seconds
from asr.corpus.data_directory import Utterance
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable


@dataclass(frozen=True)
class FrameTimes:
    """Where the borders between an utterance's frames lie, in seconds from its beginning.

    Frame i is a window centred at i * shift + window / 2, so the border before it, halfway between two centres, is at
    i * shift + (window - shift) / 2. The first frame also has what is before it, and the last what is after it, up to
    the end of the audio: the frames divide all of an utterance.

    Attributes
    ----------
    shift, window : float
        Seconds from one frame to the next, and that a frame is long.
    n_frames : int
    duration : float
        Seconds of the audio.
    """

    shift: float
    window: float
    n_frames: int
    duration: float

    @classmethod
    def of(cls, config: FeatureConfig, n_frames: int, seconds: float | None = None) -> "FrameTimes":
        """Times of `n_frames` frames made with `config` from audio of that many seconds.

        What the file says of its length counts as far as it fits the number of frames, which was counted in samples;
        without it (None: features from an archive) the utterance ends with its last window.
        """
        shift, window = config.shift_samples / config.sample_rate, config.window_samples / config.sample_rate
        shortest = (n_frames - 1) * shift + window
        duration = shortest if seconds is None else min(max(seconds, shortest), shortest + shift)
        return cls(shift, window, n_frames, duration)

    def border(self, frame: int) -> float:
        """Seconds at which `frame` begins, to the millisecond; for `n_frames` the end of the audio, to 0.1 ms."""
        if frame <= 0:
            return 0.0
        if frame >= self.n_frames:
            return round(self.duration, 4)
        return round(frame * self.shift + (self.window - self.shift) / 2, 3)


def frame_times(config: FeatureConfig, utterances: Iterable[Utterance], table: FrameTable) -> dict[str, FrameTimes]:
    """Times of every utterance that is in the table.

    Raises
    ------
    CorpusError
        If an audio file, which was read for the table, can no longer be read.
    """
    times = {}
    for utterance in utterances:
        if utterance.id in table.index:
            seconds = None
            if utterance.audio is not None:
                seconds = audio_seconds(utterance.audio, start=utterance.start, end=utterance.end)
            rows = table.rows(utterance.id)
            times[utterance.id] = FrameTimes.of(config, rows.stop - rows.start, seconds)
    return times
