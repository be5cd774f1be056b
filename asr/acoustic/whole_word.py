"""Whole-word HMMs for utterances of one word: a baseline without phones.

hmmlearn trains the models through its public interface; trained models are plain arrays and do not depend on it.
"""

import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Self

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.gmm import GaussianMixtures
from asr.features.frame_table import FrameTable
from asr.util.errors import ConfigError, CorpusError, FeatureError
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

WordHmm = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Start probabilities (n,), transitions (n, n), means and variances (n, n_features)."""

HMMLEARN_NEEDED = (
    "whole-word models need the package hmmlearn, which has no wheel for Python 3.14. Use Python 3.13, or, with "
    "a compiler: pip install hmmlearn"
)


def can_train() -> bool:
    """Return whether hmmlearn is installed."""
    return find_spec("hmmlearn") is not None


class WholeWordHmms:
    """Left-to-right HMMs of whole words with several diagonal Gaussians per state.

    Each Gaussian of a state is an HMM state of its own. From each, a path may stay, change to another Gaussian of the
    same state, or move to any Gaussian of the next. This is a mixture whose weights depend on the previous Gaussian,
    and it trains five times as fast as hmmlearn's own mixtures. Baum-Welch uses weak conjugate priors, which keep
    variances above zero and unvisited parameters finite.

    Parameters
    ----------
    n_states : int
        States of every word.
    n_mixtures : int
        Gaussians of every state.
    n_iter : int
        Maximum number of Baum-Welch iterations; training stops if the log-likelihood per frame gains less than 1e-3.
    seed : int
        Seed of the initial k-means.

    Attributes
    ----------
    words_ : tuple of str
        Sorted.
    start_, transitions_ : float64 (n_words, n), (n_words, n, n)
        Probabilities; n = n_states * n_mixtures, the Gaussians of a state next to each other.
    gaussians_ : GaussianMixtures
        One component for each of n_words * n, of standardized frames.
    mean_, deviation_ : float32 (n_features,)
        Of all training frames, for standardizing frames.
    curves_ : mapping of word to float64 (n_iterations,)
        Log-likelihood per frame before each re-estimation.
    """

    words_: tuple[str, ...]
    start_: np.ndarray
    transitions_: np.ndarray
    gaussians_: GaussianMixtures
    mean_: np.ndarray
    deviation_: np.ndarray
    curves_: Mapping[str, np.ndarray]

    def __init__(self, n_states: int = 5, n_mixtures: int = 2, n_iter: int = 8, seed: int = 0) -> None:
        self.n_states = n_states
        self.n_mixtures = n_mixtures
        self.n_iter = n_iter
        self.seed = seed

    def fit(
        self,
        table: FrameTable,
        transcripts: Mapping[str, Sequence[str]],
        *,
        workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    ) -> Self:
        """Train a model for every word.

        `table`: training frames. `transcripts`: exactly one word for every utterance of the table. `workers`: train the
        words in parallel; the result does not depend on them. Raises CorpusError if an utterance does not have exactly
        one word, or a word has too few frames, and FeatureError if a frame is not finite, and ConfigError if hmmlearn
        is not installed, a number of states, mixtures or iterations is below 1, or training diverges.
        """
        if not can_train():
            raise ConfigError(HMMLEARN_NEEDED)
        for name in ("n_states", "n_mixtures", "n_iter"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}. Expected at least 1")
        by_word = _utterances_by_word(table, transcripts)
        if not np.isfinite(table.frames).all():
            frame = int(np.flatnonzero(~np.isfinite(table.frames).all(axis=1))[0])
            name = table.ids[int(np.searchsorted(table.offsets, frame, side="right")) - 1]
            raise FeatureError(f"{name} has features that are not finite. Check its audio")
        self.mean_ = table.frames.mean(axis=0, dtype=np.float64).astype(np.float32)
        deviation = (table.frames - self.mean_).std(axis=0, dtype=np.float64)
        self.deviation_ = np.where(deviation > 0, deviation, 1.0).astype(np.float32)
        self.words_ = tuple(sorted(by_word))
        spoken = ((word, [self._standardized(table.utterance(name)) for name in by_word[word]]) for word in self.words_)
        settings = (self.n_states, self.n_mixtures, self.n_iter, self.seed)
        models, curves = zip(*workers.map(_train_word, spoken, settings), strict=True)
        start, transitions, means, variances = (np.stack(arrays) for arrays in zip(*models, strict=True))
        self.start_, self.transitions_ = start, transitions
        n_features = means.shape[-1]
        self.gaussians_ = GaussianMixtures(
            np.zeros((start.size, 1)), means.reshape(-1, 1, n_features), variances.reshape(-1, 1, n_features)
        )
        self.curves_ = dict(zip(self.words_, curves, strict=True))
        return self

    def recognize(self, table: FrameTable) -> dict[str, tuple[str]]:
        """Return the most likely word of every utterance, as a one-word transcript; FeatureError as for `score`."""
        best = self.score(table).argmax(axis=1)
        return {name: (self.words_[word],) for name, word in zip(table.ids, best.tolist(), strict=True)}

    def score(self, table: FrameTable) -> np.ndarray:
        """Return the natural log-likelihood of every utterance under every word, float64 (n_utterances, n_words).

        Paths may end in any state. Raises FeatureError if the number of features differs from training.
        """
        if table.n_features != len(self.mean_):
            raise FeatureError(
                f"the frames have {table.n_features} features. Expected {len(self.mean_)}, as in the training of "
                "the word models"
            )
        with threadpool_limits(1):
            scores = self.gaussians_.log_likelihood(self._standardized(table.frames))
            return _forward(scores, table.offsets, self.start_, self.transitions_)

    def _standardized(self, frames: np.ndarray) -> np.ndarray:
        return (frames - self.mean_) / self.deviation_


def _utterances_by_word(table: FrameTable, transcripts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    by_word: dict[str, list[str]] = {}
    for name in table.ids:
        if name not in transcripts:
            raise CorpusError(f"{name} has no transcript. Expected exactly one word")
        words = transcripts[name]
        if len(words) != 1:
            raise CorpusError(f"{name} has {len(words)} words ({' '.join(words)}). Expected exactly one")
        by_word.setdefault(words[0], []).append(name)
    return by_word


def _train_word(
    spoken: tuple[str, Sequence[np.ndarray]], settings: tuple[int, int, int, int]
) -> tuple[WordHmm, np.ndarray]:
    """Train one word with hmmlearn; return the model and its log-likelihood per frame before each iteration."""
    from hmmlearn.hmm import GaussianHMM

    word, utterances = spoken
    n_states, n_mixtures, n_iter, seed = settings
    frames = np.concatenate(utterances).astype(np.float64)
    lengths = [len(utterance) for utterance in utterances]
    with threadpool_limits(1):
        start, transitions, means, variances = _flat_start(word, frames, lengths, n_states, n_mixtures, seed)
        hmm = GaussianHMM(
            len(start),
            covariance_type="diag",
            init_params="",
            params="stmc",
            n_iter=n_iter,
            tol=1e-3 * len(frames),
            # Each prior counts as one frame, or one transition, of standard normal data.
            means_weight=1.0,
            covars_prior=1.0,
            covars_weight=2.0,
            startprob_prior=2.0,
            transmat_prior=2.0,
        )
        hmm.startprob_, hmm.transmat_, hmm.means_, hmm.covars_ = start, transitions, means, variances
        hmm.fit(frames, lengths)
    variances = np.diagonal(hmm.covars_, axis1=1, axis2=2)
    curve = np.array(hmm.monitor_.history) / len(frames)
    # hmmlearn treats a NaN likelihood as convergence.
    for numbers in (curve, hmm.startprob_, hmm.transmat_, hmm.means_, variances):
        if not np.isfinite(numbers).all():
            raise ConfigError(
                f"word {word!r}: training diverged to numbers that are not finite. Use fewer states, mixtures or "
                f"iterations than {n_states}, {n_mixtures} and {n_iter}"
            )
    log.debug("%s: log-likelihood per frame %.3f after %d iterations", word, curve[-1], len(curve))
    return (hmm.startprob_, hmm.transmat_, hmm.means_, variances), curve


def _flat_start(
    word: str, frames: np.ndarray, lengths: Sequence[int], n_states: int, n_mixtures: int, seed: int
) -> WordHmm:
    """Divide every utterance evenly among the states; k-means within each state initializes its Gaussians."""
    from sklearn.cluster import KMeans

    state = np.concatenate([np.arange(length) * n_states // length for length in lengths])
    means, weights, variances = [], [], []
    for number in range(n_states):
        own = frames[state == number]
        if len(own) < n_mixtures:
            raise CorpusError(
                f"word {word!r}: state {number + 1} of {n_states} has only {len(own)} frames in {len(lengths)} "
                f"training utterances. Expected at least one for each of the {n_mixtures} mixtures"
            )
        clusters = KMeans(n_mixtures, n_init=1, random_state=seed).fit(own)
        means.append(clusters.cluster_centers_)
        weights.append((np.bincount(clusters.labels_, minlength=n_mixtures) + 1) / (len(own) + n_mixtures))
        variances.append(np.tile(own.var(axis=0) + 0.01, (n_mixtures, 1)))
    move = min(0.5, n_states * len(lengths) / len(frames))
    step = (1 - move) * np.eye(n_states) + move * np.eye(n_states, k=1)
    step[-1, -1] = 1.0
    transitions = np.kron(step, np.ones((n_mixtures, n_mixtures))) * np.concatenate(weights)
    start = np.concatenate([weights[0], np.zeros((n_states - 1) * n_mixtures)])
    return start, transitions, np.concatenate(means), np.concatenate(variances)


def _forward(scores: np.ndarray, offsets: np.ndarray, start: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """Compute the forward recursion (Rabiner 1989, equations 19-21) of all utterances under all words, frame by frame.

    `scores`: float32 (n_frames, n_words * n). `offsets`: int64 (n_utterances + 1,). `start`, `transitions`: float64
    (n_words, n), (n_words, n, n).

    Returns
    -------
    float64 (n_utterances, n_words)
    """
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")  # utterances still running at a frame then come first
    n_running = np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)), side="left")
    log_likelihood = np.zeros((len(lengths), len(start)))
    probability = np.tile(start, (len(lengths), 1, 1))  # state posteriors given the frames so far, (utterance, word, n)
    for frame, running in enumerate(n_running.tolist()):
        rows = offsets[order[:running]] + frame
        emission = scores[rows].reshape(running, *start.shape).astype(np.float64)
        peak = emission.max(axis=2, keepdims=True)
        probability = probability[:running]
        if frame:
            probability = np.einsum("uwi,wij->uwj", probability, transitions, optimize=True)
        probability = probability * np.exp(emission - peak)
        total = probability.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):
            log_likelihood[:running] += (np.log(total) + peak)[..., 0]
        probability = np.divide(probability, total, out=np.zeros_like(probability), where=total > 0)
    found = np.empty_like(log_likelihood)
    found[order] = log_likelihood
    return found
