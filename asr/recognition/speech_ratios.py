"""How much better the words fit their frames than any string of phones, and than silence.

Both are log-likelihood ratios of the best path, in nats a frame. Against a free loop of all phones (the filler or
background model of keyword spotting, Rose and Paul 1990) the ratio is near 0 for words that were said, and lower for
other speech. Noise fits no phone better than another, so this ratio says little about noise. The ratio against silence
does: the frames of noise fit the states of speech hardly better than those of silence.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from asr.acoustic.phone_hmm import PhoneHmm
from asr.decode.path_segments import frame_states, unit_runs
from asr.decode.search_graph import transitions
from asr.decode.token_passing import BestPath, best_path
from asr.hmm.state_graph import StateGraph


class SpeechRatio(NamedTuple):
    """Log-likelihood ratios of words, nats a frame: against any string of phones, and against silence."""

    phone_llr: float
    silence_llr: float


@dataclass(frozen=True)
class SpeechRatios:
    """The ratios of an utterance's frames.

    Attributes
    ----------
    phones, silence : float32 (n_frames,)
        What a frame scores more on the path of the words than on that of the phone loop, and than in silence.
    speech, heard : bool (n_frames,)
        Frames that the words take for speech, and those that the words or the loop do.
    """

    phones: np.ndarray
    silence: np.ndarray
    speech: np.ndarray
    heard: np.ndarray

    def between(self, start: int, end: int) -> SpeechRatio:
        """Ratios of the frames from `start` up to, not including, `end`."""
        part = slice(start, max(end, start + 1))
        return SpeechRatio(float(self.phones[part].mean()), float(self.silence[part].mean()))

    def whole(self) -> SpeechRatio | None:
        """Ratios of the utterance, a frame of speech; None without words."""
        if not self.speech.any():
            return None
        # Speech that the words leave to pauses counts against them.
        return SpeechRatio(float(self.phones.sum() / self.heard.sum()), float(self.silence[self.speech].mean()))


def speech_ratios(
    path: BestPath, graph: StateGraph, scores: np.ndarray, hmm: PhoneHmm, loop: StateGraph
) -> SpeechRatios | None:
    """Ratios of the path of the words; None if no string of phones has a finite score.

    Parameters
    ----------
    path : BestPath
        Through `graph`.
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
    gain = frame_scores(path, graph, scores, hmm) - frame_scores(free, loop, scores, hmm)
    silent = scores[:, : len(silences)].max(axis=1)
    return SpeechRatios(
        gain.astype(np.float32),
        (scores[np.arange(len(scores)), states] - silent).astype(np.float32),
        speech,
        speech | (frame_states(free, loop, topology) >= len(silences)),
    )


def frame_scores(path: BestPath, graph: StateGraph, scores: np.ndarray, hmm: PhoneHmm) -> np.ndarray:
    """What each frame adds to a path without the grammar, natural log, float64 (n_frames,).

    A frame adds its state's score, and the log probability to stay in the unit or, in a unit's last frame, to leave it.
    """
    stay, leave = transitions(hmm.self_loops)
    units, lengths = unit_runs(path, graph)
    found = scores[np.arange(len(scores)), hmm.topology.unit_state[np.repeat(units, lengths)]].astype(np.float64)
    found += np.repeat(stay[units], lengths)
    found[np.cumsum(lengths) - 1] += leave[units] - stay[units]
    return found
