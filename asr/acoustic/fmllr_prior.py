"""Prior distribution of speakers' transforms, so that seconds of speech are enough to estimate one.

Transforms of speakers differ in few directions. These are principal components in the metric of the auxiliary function
(Povey and Yao 2012, "A basis representation of constrained MLLR transforms for robust adaptation"). Each direction has
its variance among the training speakers, so the coordinates of a transform have a normal prior (maximum a posteriori:
Chesta, Siohan and Lee 1999; eigenvoices: Kuhn, Junqua, Nguyen and Niedzielski 2000). The number of directions need not
depend on the amount of speech.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from asr.acoustic.constrained_transforms import RowStatistics

MIN_SPEAKERS = 3
"""Minimum number of training speakers for a prior."""
MAX_DIRECTIONS = 30
"""Maximum number of directions; 30 recognize as well as 100."""
_STEPS, _HALVINGS, _MIN_GAIN = 20, 30, 1e-6
_LITTLE = 1.0
"""Expected gain in log-likelihood below which a step reuses the second derivative."""


@dataclass(frozen=True)
class FmllrPrior:
    """Normal distribution of transforms (A b): their mean, and the directions in which they differ."""

    mean: np.ndarray  # float32 (n, n + 1), with invertible matrix
    directions: np.ndarray  # float32 (m, n, n + 1), each scaled by its standard deviation

    def at(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the transform mean + sum_k coordinates_k directions_k, float64 (n, n + 1)."""
        mean, directions = self._doubles
        return mean + np.tensordot(coordinates, directions, 1)

    def map_estimate(self, statistics: RowStatistics, start: np.ndarray | None = None) -> np.ndarray:
        """Return the coordinates, float64 (m,), that maximize the auxiliary function minus half their squared norm.

        Newton's method from `start` (default: the mean), with step halving. The second derivative includes that of
        log|det A|, count tr(A^-1 D_k A^-1 D_l), if the sum is positive definite. It is reused while the expected gain
        is small.
        """
        mean, directions = self._doubles
        n_rows = len(mean)
        flat, squares = directions.reshape(len(directions), -1), self._squares
        gradient_at_mean = flat @ (statistics.first - np.matmul(statistics.second, mean[:, :, None])[:, :, 0]).ravel()
        curved = np.matmul(directions.transpose(1, 0, 2), statistics.second)  # (n, m, n + 1)
        quadratic = curved.transpose(1, 0, 2).reshape(flat.shape) @ flat.T + np.eye(len(flat))

        def matrix(coordinates: np.ndarray) -> np.ndarray:
            return mean[:, :n_rows] + (coordinates @ squares).reshape(n_rows, n_rows)

        def value(coordinates: np.ndarray) -> float:
            _, log_determinant = np.linalg.slogdet(matrix(coordinates))
            linear = (gradient_at_mean - 0.5 * quadratic @ coordinates) @ coordinates
            return float(statistics.count * log_determinant + linear)

        coordinates = np.zeros(len(flat)) if start is None else start
        found, promised, factors = value(coordinates), np.inf, None
        enough = _MIN_GAIN * max(statistics.count, 1.0)
        for _ in range(_STEPS):
            inverse = np.linalg.inv(matrix(coordinates))
            gradient = gradient_at_mean - quadratic @ coordinates + statistics.count * (squares @ inverse.T.ravel())
            if factors is None or promised > _LITTLE:
                turned = np.matmul(inverse, squares.reshape(-1, n_rows, n_rows))
                crossed = turned.reshape(squares.shape) @ turned.transpose(0, 2, 1).reshape(squares.shape).T
                factors = _factors(quadratic + statistics.count * crossed) or cho_factor(quadratic, check_finite=False)
            step = cho_solve(factors, gradient, check_finite=False)
            promised = 0.5 * (step @ gradient)  # by Newton's parabola
            if promised < enough:
                break
            for _ in range(_HALVINGS):
                moved = value(coordinates + step)
                if moved > found:
                    break
                step *= 0.5
            else:
                break
            coordinates, found = coordinates + step, moved
        return coordinates

    @cached_property
    def _squares(self) -> np.ndarray:
        """The matrix parts of the directions, float64 (m, n n)."""
        directions = self._doubles[1]
        return np.ascontiguousarray(directions[:, :, :-1]).reshape(len(directions), -1)

    @cached_property
    def _doubles(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean.astype(np.float64), self.directions.astype(np.float64)


def fit_fmllr_prior(
    maps: Sequence[np.ndarray], expected: RowStatistics, others: Sequence[np.ndarray] = ()
) -> FmllrPrior | None:
    """Estimate the prior from transforms of speakers; None for fewer than three or if they do not differ.

    `maps`: float64 (n, n + 1) each. `expected`: expected statistics of one frame
    (`asr.acoustic.fmllr.expected_statistics`); `second` is the metric. `others`, float64 (n, n + 1) each: transforms of
    simulated speakers, derived from the same speakers.
    """
    if len(maps) < MIN_SPEAKERS:
        return None
    stacked = np.stack([*maps, *others])
    mean = stacked.mean(axis=0)
    factors = np.linalg.cholesky(expected.second)
    apart = np.matmul((stacked - mean).transpose(1, 0, 2), factors).transpose(1, 0, 2)
    _, deviations, components = np.linalg.svd(apart.reshape(len(stacked), -1), full_matrices=False)
    deviations = deviations[: min(len(stacked) - 1, MAX_DIRECTIONS)] / np.sqrt(len(stacked) - 1.0)
    kept = int((deviations > 1e-6 * deviations[0]).sum())
    if not kept:
        return None
    scaled = (deviations[:kept, None] * components[:kept]).reshape(kept, *mean.shape)
    directions = np.stack(
        [np.linalg.solve(factor.T, rows.T).T for factor, rows in zip(factors, scaled.transpose(1, 0, 2), strict=True)],
        axis=1,
    )
    return FmllrPrior(mean.astype(np.float32), directions.astype(np.float32))


def expected_under(expected: RowStatistics, transform: np.ndarray) -> RowStatistics:
    """Return the expected statistics of one frame whose best transform is `transform`, float64 (n, n + 1).

    The best transform of `expected` is the identity; its frames y come from frames x with y = A x + b.
    """
    n_rows = len(transform)
    inverse = np.eye(n_rows + 1)
    inverse[:n_rows, :n_rows] = np.linalg.inv(transform[:, :n_rows])
    inverse[:n_rows, n_rows] = -inverse[:n_rows, :n_rows] @ transform[:, n_rows]
    second = np.matmul(np.matmul(inverse, expected.second), inverse.T)
    return RowStatistics(expected.count, expected.first @ inverse.T, second)


def _factors(matrix: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Return the Cholesky factors for `cho_solve`; None if the matrix is not positive definite."""
    try:
        factors: tuple[np.ndarray, bool] = cho_factor(matrix, check_finite=False)
    except LinAlgError:
        return None
    return factors
