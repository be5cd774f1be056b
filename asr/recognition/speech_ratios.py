"""Likelihood ratios of words against any string of phones, and against silence.

Both are log-likelihood ratios of the best path, in nats per frame. The first compares with a free phone loop (the
filler or background model of keyword spotting, Rose and Paul 1990); it is near 0 for spoken words and lower for other
speech. It says little about noise, which fits all phones about equally. The ratio against silence detects noise, whose
frames fit speech states hardly better than silence.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asr.acoustic.phone_hmm import PhoneHmm
from asr.decode.path_segments import frame_scores, frame_states
from asr.decode.token_passing import BestPath, best_path
from asr.hmm.state_graph import StateGraph


class SpeechRatio(NamedTuple):
    """Log-likelihood ratios of words, nats per frame: against any string of phones, and against silence."""

    phone_llr: float
    silence_llr: float


@dataclass(frozen=True)
class SpeechRatios:
    """Likelihood ratios of an utterance's frames."""

    # `phones`, `silence`, float32 (n_frames,): frame scores on the word path, minus those on the path of the phone loop
    # and those of silence
    phones: np.ndarray
    silence: np.ndarray
    # `speech`, `heard`, bool (n_frames,): speech frames of the word path, and of either path
    speech: np.ndarray
    heard: np.ndarray

    def between(self, start: int, end: int) -> SpeechRatio:
        """Return the ratios of frames `start` to `end` (exclusive)."""
        part = slice(start, max(end, start + 1))
        return SpeechRatio(float(self.phones[part].mean()), float(self.silence[part].mean()))

    def whole(self) -> SpeechRatio | None:
        """Return the ratios of the utterance per speech frame; None without words."""
        if not self.speech.any():
            return None
        # Includes speech frames that the word path assigns to pauses.
        return SpeechRatio(float(self.phones.sum() / self.heard.sum()), float(self.silence[self.speech].mean()))


def speech_ratios(
    path: BestPath, graph: StateGraph, scores: np.ndarray, hmm: PhoneHmm, loop: StateGraph
) -> SpeechRatios | None:
    """Return the ratios of the word path; None if no string of phones has a finite score.

    Parameters
    ----------
    path : BestPath
        Best path through `graph`.
    scores : float32 (n_frames, n_states)
        Natural log-likelihoods.
    loop : StateGraph
        From `asr.alignment.transcript_scores.phone_loop`.
    """
    topology = hmm.topology
    free = best_path(scores, loop, topology.unit_state, hmm.self_loops)
    if free is None or not free.complete:
        return None
    silences = topology.silence_states
    states = frame_states(path, graph, topology)
    speech = states >= len(silences)
    gain = frame_scores(path, graph, scores, topology, hmm.self_loops)
    gain -= frame_scores(free, loop, scores, topology, hmm.self_loops)
    silent = scores[:, : len(silences)].max(axis=1)
    return SpeechRatios(
        gain.astype(np.float32),
        (scores[np.arange(len(scores)), states] - silent).astype(np.float32),
        speech,
        speech | (frame_states(free, loop, topology) >= len(silences)),
    )
