"""Agreement of alignments of the same recordings with and without padding."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from asr.acoustic.model_file import SpeechModel
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.frame_times import FrameTimes
from asr.alignment.transcript_graph import transcript_graph
from asr.decode.path_segments import phone_segments, word_segments
from asr.hmm.topology import SHORT_PAUSE, SILENCE
from asr.training.dataset import Dataset
from asr.util.errors import Issue
from benchmarks.padded_speech.padding import Padded

TOLERANCE = 0.020  # seconds


@dataclass(frozen=True)
class Phones:
    """Aligned phones of an utterance: label, word number, start and end in seconds; pauses have word -1."""

    labels: list[str]
    words: list[int]
    starts: np.ndarray
    ends: np.ndarray

    @property
    def silence(self) -> float:
        """Seconds of silence and short pause."""
        pauses = np.array(self.words) < 0
        return float((self.ends - self.starts)[pauses].sum())


def aligned_phones(model: SpeechModel, dataset: Dataset) -> dict[str, Phones]:
    """Align every utterance that can be aligned."""
    topology, config = model.hmm.topology, model.front_end.config
    table = model.front_end.transform(dataset.static)
    found = {}
    for name in table.ids:
        graph = transcript_graph(dataset.transcripts[name], model.lexicon, topology)
        scores = model.hmm.log_likelihood(table.utterance(name))
        result = align_utterance(scores, graph, topology, model.hmm.self_loops)
        if isinstance(result, Issue):
            continue
        times = FrameTimes.of(config, len(scores))
        segments = phone_segments(result.path, graph, topology)
        word_starts = np.array([word.start for word in word_segments(result.path, graph, topology)])
        words = np.searchsorted(word_starts, [segment.start for segment in segments], "right") - 1
        pauses = [segment.label in (SILENCE, SHORT_PAUSE) for segment in segments]
        found[name] = Phones(
            [segment.label for segment in segments],
            np.where(pauses, -1, words).tolist(),
            np.array([times.border(segment.start) for segment in segments]),
            np.array([times.border(segment.end) for segment in segments]),
        )
    return found


@dataclass(frozen=True)
class Agreement:
    """Measures of padded recordings in per cent: inserted noise, inserted noise plus silence of the plain alignment,
    aligned silence, and boundaries close to the plain ones.
    """

    noise: float
    true_silence: float
    silence: float
    close_boundaries: float


def agreement(
    plain: Mapping[str, Phones], padded: Mapping[str, Phones], places: Mapping[str, Padded], rate: int
) -> Agreement:
    """Compare alignments; silence in the plain ones counts as silence in addition to the noise.

    Both boundaries of every phone of a word count. If the two alignments use different pronunciations of a word, its
    boundaries are not close.
    """
    seconds = noise = true = aligned = 0.0
    distances: list[float] = []
    for name in sorted(plain.keys() & padded.keys()):
        place = places[name]
        seconds += place.n_samples / rate
        noise += place.n_noise / rate
        true += place.n_noise / rate + plain[name].silence
        aligned += padded[name].silence
        here = _by_word(padded[name])
        for word, theirs in _by_word(plain[name]).items():
            ours = here.get(word, [])
            if [plain[name].labels[index] for index in theirs] != [padded[name].labels[index] for index in ours]:
                distances += [np.inf] * (2 * len(theirs))
                continue
            for their, our in zip(theirs, ours, strict=True):
                for before, now in (
                    (plain[name].starts[their], padded[name].starts[our]),
                    (plain[name].ends[their], padded[name].ends[our]),
                ):
                    distances.append(abs(place.moved(before * rate, word) / rate - now))
    return Agreement(
        100.0 * noise / seconds,
        100.0 * true / seconds,
        100.0 * aligned / seconds,
        100.0 * float(np.mean(np.array(distances) <= TOLERANCE + 1e-6)),
    )


def _by_word(phones: Phones) -> dict[int, list[int]]:
    """Return positions of the phones of every word, by its number."""
    places: dict[int, list[int]] = {}
    for place, word in enumerate(phones.words):
        if word >= 0:
            places.setdefault(word, []).append(place)
    return places
