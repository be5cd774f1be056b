"""MLLT: a square transform of frames that improves the fit of diagonal Gaussians (semi-tied covariances, one class).

Gales (1999), "Semi-tied covariance matrices for hidden Markov models", section III.
"""

import numpy as np

from asr.acoustic.constrained_transforms import RowStatistics, best_transform
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

CONTEXT, DIMENSION = 4, 40
"""Frames spliced on each side, and LDA dimension (as in Kaldi's recipes)."""
GAUSSIANS = 4  # per state, of the mixtures that the matrix is estimated for
ROUNDS = 3  # alternations of matrix and mixtures


def lda_mllt(
    config: FeatureConfig,
    static: FrameTable,
    states: np.ndarray,
    n_states: int,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> FrontEnd:
    """Fit a front end of static frames: normalization as in `config`, splicing, LDA over the states, and MLLT.

    `states`, int32 (n_frames,): -1 leaves a frame out. Raises FeatureError if the frames vary in too few directions.
    """
    n_columns = static.n_features * (2 * CONTEXT + 1)
    own = {"delta_order": 0, "context": CONTEXT, "lda_dimension": min(DIMENSION, n_columns)}
    front_end = FrontEnd(config.model_copy(update=own)).fit(static, states)
    for _ in range(ROUNDS):
        frames = front_end.transform(static).frames
        mixtures = mixtures_of_states(
            frames, states, n_states, GAUSSIANS, min_gaussian_count=frames.shape[1], workers=workers
        )
        front_end.turn(fit_mllt(mixtures, frames, states, workers=workers))
    return front_end


def fit_mllt(
    mixtures: GaussianMixtures,
    frames: np.ndarray,
    states: np.ndarray,
    *,
    alternations: int = 10,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> np.ndarray:
    """Return the matrix A, float64 (n, n), that maximizes the likelihood of A x with fixed Gaussian posteriors.

    Matrix and variances, diag(A W A') for a Gaussian whose frames have the covariance W, are updated in turn (equations
    9 and 13). Neither update lowers the likelihood.

    `frames`: float32 (n_frames, n). `states`, int32 (n_frames,): -1 leaves a frame out. `alternations`: updates of all
    rows.
    """
    counts, covariances = _component_covariances(mixtures, frames, states, workers)
    matrix = np.eye(frames.shape[1])
    no_means = np.zeros_like(matrix)
    for _ in range(alternations):
        variances = np.einsum("ij,mjk,ik->mi", matrix, covariances, matrix)
        second = np.tensordot((counts[:, None] / variances).T, covariances, 1)
        matrix = best_transform(RowStatistics(float(counts.sum()), no_means, second), matrix)
    return matrix


def _component_covariances(
    mixtures: GaussianMixtures, frames: np.ndarray, states: np.ndarray, workers: Workers
) -> tuple[np.ndarray, np.ndarray]:
    """Return the frame count of every Gaussian, (n_gaussians,), and its covariance, (n_gaussians, n, n).

    Gaussians with fewer than two frames per feature are left out, because their covariances are nearly singular.
    """
    order = np.argsort(states, kind="stable")
    starts = np.searchsorted(states[order], np.arange(len(mixtures.means) + 1))
    items = (
        (state, frames[order[starts[state] : starts[state + 1]]].astype(np.float64))
        for state in range(len(mixtures.means))
    )
    workers = in_threads(workers)
    found = workers.map(_covariances_of_state, items, workers.share(mixtures))
    counts, covariances = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return counts, covariances


def _covariances_of_state(item: tuple[int, np.ndarray], mixtures: GaussianMixtures) -> tuple[np.ndarray, np.ndarray]:
    state, x = item
    responsibility = mixtures.responsibilities(state, x)
    counts = responsibility.sum(axis=0)
    enough = np.flatnonzero(counts >= 2 * x.shape[1])
    covariances = np.empty((len(enough), x.shape[1], x.shape[1]))
    for number, component in enumerate(enough):
        share = responsibility[:, component]
        away = x - share @ x / counts[component]
        covariances[number] = (away * share[:, None]).T @ away / counts[component]
    return counts[enough], covariances
