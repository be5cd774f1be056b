"""A classifier over frames as acoustic model: posteriors divided by state priors (Bourlard and Morgan 1994).

Seed of the method: Andelic (2007), section 4.2, p(x|i) ~ P(i|x) / P(i).
"""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from asr.util.errors import ConfigError, DecodeError
from asr.util.files import write_array
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.posteriors.output_models import LogisticOutputModel

LOWEST_LOG_POSTERIOR = -30.0


class HybridAcousticModel:
    """Scaled likelihoods of a scikit-learn classifier.

    Parameters
    ----------
    classifier : scikit-learn classifier
        With `predict_log_proba`, `predict_proba` or `decision_function`; its classes are state numbers. A
        classifier that has only the last is calibrated with a logistic model of its outputs (Platt 1999).
    n_states : int
    prior_exponent : float
        log p(x|s) = log P(s|x) - prior_exponent * log P(s). One is Bayes' rule; less keeps part of the prior.
    prior_floor : float
        Least prior of a state, as a fraction of the mean prior 1 / n_states; above 0, or a state without frames
        would be infinitely likely.
    prior_ceiling : float, optional
        Greatest prior of a state, as a multiple of the median one. Silence may have a third of all frames in a single
        state; divided by such a prior, frames unlike any in training, on which the classifier has little to say, would
        be likelier in any other state, and noise full of words.
    block : int
        Frames scored at a time.

    Raises
    ------
    ConfigError
        If the floor is not above 0, or the classifier has none of the three methods.
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
            raise ConfigError(f"prior_floor is {prior_floor}, but must be above 0")
        methods = ("predict_log_proba", "predict_proba", "decision_function")
        if not any(hasattr(classifier, method) for method in methods):
            raise ConfigError(f"{type(classifier).__name__} has none of {', '.join(methods)}, so it scores no states")
        self.classifier = classifier
        self.n_states = n_states
        self.prior_exponent = prior_exponent
        self.prior_floor = prior_floor
        self.prior_ceiling = prior_ceiling
        self.block = block
        self.calibration: LogisticOutputModel | None = None
        self.log_priors = np.zeros(n_states, np.float32)
        self.smbr_epochs: int | None = 0
        """Over training utterances, in which the classifier was trained on sequences; None where nobody knows."""

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
            For the tenth of every state's frames held out when the classifier needs calibration; a state with
            a single frame then counts as one without.
        progress : callable, optional
            Called with the passes over the frames done and their number by classifiers that tell.
        workers : Workers, optional
            For classifiers that divide their work; what is learnt does not depend on it.
        checkpoint : path, optional
            File from which classifiers that keep one go on after an interruption. Workers of a cluster read the
            frames from a file beside it, which has to be on a file system that they see.
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
        """Priors from an alignment: the share of every state, -1 left out, between floor and ceiling."""
        counts = np.bincount(states[states >= 0], minlength=self.n_states)
        shares = np.maximum(counts / counts.sum(), self.prior_floor / self.n_states)
        if self.prior_ceiling is not None:
            shares = np.minimum(shares, self.prior_ceiling * np.median(shares))
        self.log_priors = np.log(shares / shares.sum()).astype(np.float32)

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """log P(s|x), float32 (n_frames, n_states), floored where a state had no training frames."""
        return self._classified(frames)

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Scaled log-likelihoods, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        scores = self._classified(frames)
        scores -= np.float32(self.prior_exponent) * self.log_priors
        return scores

    def _classified(self, frames: np.ndarray) -> np.ndarray:
        """log P(s|x), in blocks."""
        posteriors = np.full((len(frames), self.n_states), LOWEST_LOG_POSTERIOR, np.float32)
        columns = np.asarray(self.classifier.classes_, np.int64)
        log_proba = self._log_proba()
        for start in range(0, len(frames), self.block):
            part = slice(start, start + self.block)
            try:
                values = log_proba(frames[part])
            except ValueError as error:  # such as kernel values that are too large for the float type
                name = type(self.classifier).__name__
                raise DecodeError(f"the classifier {name} cannot score these frames: {error}") from error
            if values.shape != (len(frames[part]), len(columns)):
                raise DecodeError(f"the classifier gives {values.shape} scores for {len(columns)} classes")
            posteriors[part, columns] = values
        return np.maximum(posteriors, LOWEST_LOG_POSTERIOR, out=posteriors)

    def _needs_calibration(self) -> bool:
        return not (hasattr(self.classifier, "predict_log_proba") or hasattr(self.classifier, "predict_proba"))

    def _log_proba(self) -> Callable[[np.ndarray], np.ndarray]:
        if self.calibration is not None:
            calibration = self.calibration
            return lambda frames: calibration.predict_log_proba(self._outputs(frames))
        if hasattr(self.classifier, "predict_log_proba"):
            return self._silenced(self.classifier.predict_log_proba)
        return self._silenced(lambda frames: np.log(self.classifier.predict_proba(frames)))

    def _outputs(self, frames: np.ndarray) -> np.ndarray:
        """Outputs of a classifier without probabilities, (n_frames, n_outputs); two classes have one."""
        outputs = self.classifier.decision_function(frames)
        return outputs[:, None] if outputs.ndim == 1 else outputs

    @staticmethod
    def _silenced(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        """A probability of zero has the logarithm -inf, which the floor then replaces."""

        def evaluate(frames: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return function(frames)

        return evaluate


def _in_file(frames: np.ndarray, path: Path) -> np.ndarray:
    """The same frames, mapped from a file."""
    write_array(path, frames)
    mapped: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def _tenth_of_each(used: np.ndarray, states: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide frame numbers, state by state, into nine tenths and one tenth but at least one frame; singles drop out."""
    drawn = np.random.default_rng(seed).permutation(used)
    drawn = drawn[np.argsort(states[drawn], kind="stable")]
    _, first, counts = np.unique(states[drawn], return_index=True, return_counts=True)
    rank = np.arange(len(drawn)) - np.repeat(first, counts)
    several, n_held_out = np.repeat(counts > 1, counts), np.repeat(np.maximum(1, counts // 10), counts)
    return np.sort(drawn[several & (rank >= n_held_out)]), np.sort(drawn[several & (rank < n_held_out)])
