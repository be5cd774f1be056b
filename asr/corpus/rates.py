"""Sampling rate for a corpus with recordings of several rates."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from asr.corpus.audio import read_header
from asr.corpus.batches import attempt_all
from asr.corpus.data_directory import Utterance
from asr.util.errors import Issue
from discriminants.parallel.workers import SerialWorkers, Workers

MAX_USEFUL = 16_000
"""Hz; speech has little energy above 8 kHz, and a wider band makes the filters coarser."""
REACHED = 0.9
"""Fraction of the audio that has at least the chosen rate, so that a few files do not lower it."""


@dataclass(frozen=True)
class CorpusRate:
    """Chosen rate in Hz, and seconds of audio by rate."""

    rate: int
    seconds: Mapping[int, float]

    def __str__(self) -> str:
        """Return one line for users."""
        if len(self.seconds) == 1:
            own = next(iter(self.seconds))
            source = ", as the audio" if own == self.rate else f", from audio of {own} Hz"
            return f"sample_rate = {self.rate}{source}"
        total = sum(self.seconds.values())
        shares = ", ".join(f"{100 * part / total:.0f} % at {rate} Hz" for rate, part in sorted(self.seconds.items()))
        return f"sample_rate = {self.rate}; the audio has several rates ({shares}), and higher ones are resampled down"


def rate_of_corpus(
    utterances: Iterable[Utterance],
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> CorpusRate | None:
    """Return the rate for `sample_rate = "auto"` from the headers of audio files; None without audio.

    It is the highest rate reached by 90 % of the audio, at most 16 kHz. Unreadable files are ignored.
    """
    files = [utterance for utterance in utterances if utterance.audio is not None]
    seconds: dict[int, float] = defaultdict(float)
    for found in attempt_all(_rate, files, workers=workers):
        if not isinstance(found, Issue):
            seconds[found[0]] += found[1]
    return chosen_rate(seconds) if seconds else None


def chosen_rate(seconds: Mapping[int, float]) -> CorpusRate:
    """Choose the rate from seconds of audio by rate."""
    needed, found = REACHED * sum(seconds.values()), 0.0
    for rate in sorted(seconds, reverse=True):
        found += seconds[rate]
        if found >= needed:
            break
    return CorpusRate(min(rate, MAX_USEFUL), dict(seconds))


def _rate(utterance: Utterance) -> tuple[int, float]:
    header, n_samples = read_header(utterance.source, rate=1, start=utterance.start, end=utterance.end)
    return header.rate, n_samples / header.rate
