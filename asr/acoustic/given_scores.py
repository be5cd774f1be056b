"""State scores that another program computes: posteriors or log-likelihoods of each frame instead of its features."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from asr.acoustic.composite import hybrid_stream
from asr.acoustic.hybrid import LOWEST_LOG_POSTERIOR
from asr.acoustic.model_file import SpeechModel
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.util.errors import ConfigError, FeatureError

ScoreKind = Literal["posteriors", "log-posteriors", "log-likelihoods"]
TOLERANCE = 0.02
"""Largest difference of a sum of posteriors from 1; archives may be compressed."""


@dataclass(frozen=True)
class GivenScores:
    """The acoustic model whose frames are scores, with a column for each state.

    Posteriors are divided by the priors of the states, as in `HybridAcousticModel`; log-likelihoods stay as they are.
    """

    kind: ScoreKind
    log_priors: np.ndarray  # float32 (n_states,), times the exponent of the priors

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return state scores, float32 (n_frames, n_states).

        Raises FeatureError for a negative posterior, or posteriors of a frame that do not sum to 1.
        """
        if self.kind == "log-likelihoods":
            return np.array(frames, np.float32)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            posteriors, logs = (frames, np.log(frames)) if self.kind == "posteriors" else (np.exp(frames), frames)
        require_posteriors(posteriors, logarithms=self.kind == "log-posteriors")
        return np.maximum(logs, np.float32(LOWEST_LOG_POSTERIOR)) - self.log_priors


def require_posteriors(posteriors: np.ndarray, *, logarithms: bool = False) -> None:
    """Raise FeatureError if a value of (n_frames, n_states) is negative, or a row does not sum to 1.

    `logarithms`: whether the posteriors were given as logarithms, for the message.
    """
    if posteriors.min(initial=0.0) < 0:
        frame, state = np.argwhere(posteriors < 0)[0]
        raise FeatureError(f"the posterior of state {state} at frame {frame} is {posteriors[frame, state]:g}")
    total = posteriors.sum(axis=1, dtype=np.float64)
    wrong = np.flatnonzero(~(np.abs(total - 1) <= TOLERANCE))
    if len(wrong):
        given, expected = "posteriors", "1"
        if logarithms:
            given, expected = "exponentials of the log-posteriors", "natural logarithms, so a sum of 1"
        raise FeatureError(
            f"the {given} of frame {wrong[0]} sum to {total[wrong[0]]:.4g}. Expected {expected}, within {TOLERANCE}"
        )


def score_columns(model: SpeechModel) -> int | None:
    """Return the number of states if the model's frames are state scores, otherwise None."""
    return model.hmm.topology.n_states if isinstance(model.hmm.acoustic_model, GivenScores) else None


def with_given_scores(model: SpeechModel, kind: ScoreKind) -> SpeechModel:
    """Return a model whose static features are state scores, float32 (n_frames, n_states).

    Raises ConfigError for an unknown kind, and for posteriors if the model is not a hybrid.
    """
    if kind not in get_args(ScoreKind):
        raise ConfigError(f"--scores (scores=) {kind!r} is unknown. Expected {', '.join(get_args(ScoreKind))}")
    n_states = model.hmm.topology.n_states
    priors = np.zeros(n_states, np.float32)
    if kind != "log-likelihoods":
        found = hybrid_stream(model.hmm.acoustic_model)
        if found is None:
            raise ConfigError(
                "posteriors need the state priors of a hybrid, but this model has only mixtures. Use a hybrid, or give "
                "log-likelihoods"
            )
        priors = np.float32(found[1].prior_exponent) * found[1].log_priors
    timing = model.front_end.config.model_dump(include={"sample_rate", "window_ms", "shift_ms"})
    front_end = FrontEnd(FeatureConfig(**timing, normalize="none", delta_order=0))
    front_end.fit(FrameTable.from_utterances(["scores"], ["scores"], [np.zeros((1, n_states), np.float32)]))
    hmm = replace(model.hmm, acoustic_model=GivenScores(kind, priors), pauses=None)
    return replace(model, hmm=hmm, front_end=front_end, source="archive", speakers=None)
