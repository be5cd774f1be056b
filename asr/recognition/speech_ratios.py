"""Likelihood ratios of words against any string of phones and against silence, and rejection of utterances by them.

Both are log-likelihood ratios of the best path, in nats per frame. The first compares with a free phone loop (the
filler or background model of keyword spotting, Rose and Paul 1990); it is near 0 for spoken words and lower for other
speech. It says little about noise, which fits all phones about equally. The ratio against silence detects noise, whose
frames fit speech states hardly better than silence.
"""

import logging
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.search_settings import SearchSettings
from asr.decode.path_segments import frame_scores, frame_states
from asr.decode.token_passing import BestPath, best_path
from asr.grammar.filler import FILLER_WORD
from asr.hmm.state_graph import StateGraph

if TYPE_CHECKING:
    from asr.acoustic.model_file import SpeechModel

log = logging.getLogger(__name__)


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


def rejected(ratios: SpeechRatios, search: SearchSettings) -> bool:
    """Whether the words of an utterance fit worse than the settings require."""
    found = ratios.whole()
    limits = (search.min_phone_llr, search.min_silence_llr)
    return found is not None and any(
        limit is not None and ratio < limit for ratio, limit in zip(found, limits, strict=True)
    )


def checksum(graph: StateGraph) -> int:
    """Return a 32-bit checksum of a grammar's words and sentence lengths."""
    return zlib.crc32("\n".join([str(graph.most_words), *sorted(graph.words)]).encode())


def warn_of_rejection(model: "SpeechModel", graph: StateGraph) -> None:
    """Log a warning if the model's rejection was fitted to another grammar."""
    words, fitted, search = graph.words, model.rejection, model.search
    same = fitted is not None and fitted.grammar == checksum(graph)
    if fitted is not None and fitted.by == "ratios" and search.rejects and not same:
        log.warning(
            "the rejection limits of this model were tuned for another grammar (of %d words) and may reject too "
            "many or too few utterances. Use asr tune --others DIR (others=) to tune them, or --min-phone-llr "
            "-inf --min-silence-llr -inf (min_phone_llr=, min_silence_llr=) to disable them",
            fitted.grammar_words,
        )
    if FILLER_WORD not in words:
        if fitted is not None and fitted.by == "filler":
            log.warning(
                "the model rejects other speech by the filler, but this grammar has none, so other speech is "
                "recognized as its words. Add [unk] to its sentences, or $other in HParse"
            )
    elif (fitted is None or fitted.by != "filler") and search.filler_penalty == SearchSettings().filler_penalty:
        log.warning(
            "the filler penalty %g was not tuned for this model: many commands may be lost or other recordings "
            "accepted. Use asr tune --others DIR (others=)",
            search.filler_penalty,
        )
    elif fitted is not None and fitted.by == "filler" and not same:
        log.warning(
            "the filler penalty was tuned for another grammar (of %d words): more commands may be lost or other "
            "recordings accepted. Use asr tune --others DIR (others=)",
            fitted.grammar_words,
        )
