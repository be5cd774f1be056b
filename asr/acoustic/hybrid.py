"""Hybrid acoustic model: classifier posteriors divided by state priors (Bourlard and Morgan 1994).

See also Andelic (2007), section 4.2, p(x|i) ~ P(i|x) / P(i).
"""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import log_softmax

from asr.acoustic.classifiers import SCORES
from asr.util.errors import ConfigError, DecodeError
from asr.util.files import write_array
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.posteriors.output_models import LogisticOutputModel

LOWEST_LOG_POSTERIOR = -30.0
LOWEST_LOG_LIKELIHOOD = -1000.0  # relative to the best state of the frame


class HybridAcousticModel:
    """Scaled likelihoods from a scikit-learn classifier.

    Raises ConfigError if the floor is not above 0, or the classifier has none of the four methods.

    Parameters
    ----------
    classifier : scikit-learn classifier
        Its classes are state numbers. `predict_log_likelihood` returns log p(x|s), float (n_frames, n_classes), up to a
        term common to all states of a frame; it is used without the priors. `predict_log_proba` or `predict_proba`
        return posteriors. A classifier that has only `decision_function` is calibrated by logistic regression on its
        outputs (Platt 1999).
    n_states : int
    prior_exponent : float
        log p(x|s) = log P(s|x) - prior_exponent * log P(s). 1 is Bayes' rule; a smaller value keeps part of the prior.
    prior_floor : float
        Smallest prior, as a fraction of the mean prior 1 / n_states. Must be above 0, because a state without frames
        would have an infinite likelihood.
    prior_ceiling : float, optional
        Largest prior, as a multiple of the median prior. A single silence state may have a third of all frames.
        Division by such a prior would make speech more likely in noise that was not in the training data.
    block : int
        Frames scored at a time.
    """

    def __init__(
        self,
        classifier: Any,
        n_states: int,
        *,
        prior_exponent: float = 1.0,
        prior_floor: float = 0.01,
        prior_ceiling: float | None = None,
        block: int = 4096,
    ) -> None:
        if not prior_floor > 0:
            raise ConfigError(f"prior_floor is {prior_floor}. Expected a number above 0")
        if not any(hasattr(classifier, method) for method in SCORES):
            raise ConfigError(
                f"{type(classifier).__name__} cannot score states. Expected a classifier with one "
                f"of {', '.join(SCORES)}"
            )
        self.classifier = classifier
        self.n_states = n_states
        self.prior_exponent = prior_exponent
        self.prior_floor = prior_floor
        self.prior_ceiling = prior_ceiling
        self.block = block
        self.calibration: LogisticOutputModel | None = None
        self.log_priors = np.zeros(n_states, np.float32)
        self.smbr_epochs: int | None = 0
        """Sequence-training passes of the classifier; None if unknown."""

    def fit(
        self,
        frames: np.ndarray,
        states: np.ndarray,
        *,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        workers: Workers | None = None,
        checkpoint: Path | None = None,
    ) -> "HybridAcousticModel":
        """Train the classifier and estimate the priors.

        Parameters
        ----------
        frames : float32 (n_frames, n_features)
        states : int32 (n_frames,)
            State of every frame; -1 leaves a frame out.
        seed : int
            Seed for holding out a tenth of each state's frames if the classifier needs calibration. A state with one
            frame then gets no class.
        progress : callable, optional
            Called with the passes done and the total, by classifiers that report progress.
        workers : Workers, optional
            For classifiers that run in parallel; the result does not depend on it.
        checkpoint : path, optional
            File for resuming after an interruption, if the classifier supports it. Workers of a cluster read the frames
            from a file next to it, which must be on a shared file system.
        """
        used = np.flatnonzero(states >= 0)
        wanted = {
            "progress": None if progress is None else lambda done, total, *_: progress(done, total),
            "workers": None if workers is None else in_threads(workers),
            "checkpoint": checkpoint,
        }
        taken = signature(self.classifier.fit).parameters
        extra = {name: value for name, value in wanted.items() if value is not None and name in taken}
        calibrates = self._needs_calibration()
        if calibrates:
            used, held_out = _tenth_of_each(used, states, seed)
        chosen = frames[used]
        if checkpoint is not None and not isinstance(extra.get("workers", SerialWorkers()), SerialWorkers):
            chosen = _in_file(chosen, checkpoint.with_name(f"{checkpoint.name}.npy"))
        self.classifier.fit(chosen, states[used], **extra)
        if calibrates:
            columns = np.searchsorted(self.classifier.classes_, states[held_out])
            self.calibration = LogisticOutputModel().fit(self._outputs(frames[held_out]), columns)
        self.set_priors(states)
        return self

    def set_priors(self, states: np.ndarray) -> None:
        """Estimate priors from an alignment, limited by floor and ceiling; frames of state -1 are left out."""
        counts = np.bincount(states[states >= 0], minlength=self.n_states)
        shares = np.maximum(counts / counts.sum(), self.prior_floor / self.n_states)
        if self.prior_ceiling is not None:
            shares = np.minimum(shares, self.prior_ceiling * np.median(shares))
        self.log_priors = np.log(shares / shares.sum()).astype(np.float32)

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """Return log P(s|x), float32 (n_frames, n_states), floored for states without training frames."""
        if self._has_likelihoods:
            joint = self._likelihoods(frames) + self.log_priors
            return np.maximum(log_softmax(joint, axis=1), np.float32(LOWEST_LOG_POSTERIOR))
        return self._classified(frames)

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return scaled log-likelihoods, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        if self._has_likelihoods:
            return self._likelihoods(frames)
        scores = self._classified(frames)
        scores -= np.float32(self.prior_exponent) * self.log_priors
        return scores

    @property
    def _has_likelihoods(self) -> bool:
        return hasattr(self.classifier, SCORES[0])

    def _likelihoods(self, frames: np.ndarray) -> np.ndarray:
        scores = self._by_state(frames, self.classifier.predict_log_likelihood, -np.inf)
        lowest = scores.max(axis=1, keepdims=True, initial=-1e30) + np.float32(LOWEST_LOG_LIKELIHOOD)
        return np.maximum(scores, lowest, out=scores)

    def _classified(self, frames: np.ndarray) -> np.ndarray:
        posteriors = self._by_state(frames, self._log_proba(), LOWEST_LOG_POSTERIOR)
        return np.maximum(posteriors, LOWEST_LOG_POSTERIOR, out=posteriors)

    def _by_state(self, frames: np.ndarray, score: Callable[[np.ndarray], np.ndarray], missing: float) -> np.ndarray:
        """Return the scores of all states, block by block; `missing` for states without training frames."""
        scores = np.full((len(frames), self.n_states), missing, np.float32)
        columns = np.asarray(self.classifier.classes_, np.int64)
        for start in range(0, len(frames), self.block):
            part = slice(start, start + self.block)
            try:
                values = score(frames[part])
            except ValueError as error:  # such as kernel values that are too large for the float type
                name = type(self.classifier).__name__
                raise DecodeError(f"the classifier {name} cannot score these frames: {error}") from error
            if values.shape != (len(frames[part]), len(columns)):
                raise DecodeError(f"the classifier returns scores of shape {values.shape} for {len(columns)} classes")
            scores[part, columns] = values
        return scores

    def _needs_calibration(self) -> bool:
        return not any(hasattr(self.classifier, name) for name in SCORES[:-1])

    def _log_proba(self) -> Callable[[np.ndarray], np.ndarray]:
        if self.calibration is not None:
            calibration = self.calibration
            return lambda frames: calibration.predict_log_proba(self._outputs(frames))
        if hasattr(self.classifier, "predict_log_proba"):
            return self._silenced(self.classifier.predict_log_proba)
        return self._silenced(lambda frames: np.log(self.classifier.predict_proba(frames)))

    def _outputs(self, frames: np.ndarray) -> np.ndarray:
        """Return decision values, (n_frames, n_outputs); two classes have one output."""
        outputs = self.classifier.decision_function(frames)
        return outputs[:, None] if outputs.ndim == 1 else outputs

    @staticmethod
    def _silenced(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        """Silence the warning for log(0) = -inf, which the floor replaces."""

        def evaluate(frames: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return function(frames)

        return evaluate


def _in_file(frames: np.ndarray, path: Path) -> np.ndarray:
    write_array(path, frames)
    mapped: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def _tenth_of_each(used: np.ndarray, states: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Hold out a tenth of the frames of each state, at least one; drop states with a single frame."""
    drawn = np.random.default_rng(seed).permutation(used)
    drawn = drawn[np.argsort(states[drawn], kind="stable")]
    _, first, counts = np.unique(states[drawn], return_index=True, return_counts=True)
    rank = np.arange(len(drawn)) - np.repeat(first, counts)
    several, n_held_out = np.repeat(counts > 1, counts), np.repeat(np.maximum(1, counts // 10), counts)
    return np.sort(drawn[several & (rank >= n_held_out)]), np.sort(drawn[several & (rank < n_held_out)])
