"""What the maps of training's speakers foretell of another speaker's, so that seconds of speech are enough for a map.

Maps of speakers differ in few directions. They are found by principal components, in the metric of the auxiliary
function, as of the basis for maps of Povey and Yao (2012), "A basis representation of constrained MLLR transforms for
robust adaptation"; beside them each direction has its variance among the speakers, so that a map's coordinates have a
normal prior (maximum a posteriori: Chesta, Siohan and Lee 1999; eigenspaces of speakers: Kuhn, Junqua, Nguyen and
Niedzielski 2000), and nothing has to be decided by how long a speaker has spoken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from asr.acoustic.constrained_transforms import RowStatistics

MIN_SPEAKERS = 3
"""From whose maps a prior is learnt; fewer tell too little of how speakers differ."""
MAX_DIRECTIONS = 30
"""That are kept: thirty recognize as a hundred do."""
_STEPS, _HALVINGS, _MIN_GAIN = 20, 30, 1e-6
_LITTLE = 1.0
"""Of the log-likelihood: a step that promises less is near enough that the second derivative hardly changes."""


@dataclass(frozen=True)
class FmllrPrior:
    """A normal distribution of maps (A b): their mean, and directions in which they differ.

    Attributes
    ----------
    mean : float32 (n, n + 1)
        Its matrix can be inverted.
    directions : float32 (m, n, n + 1)
        Each times the deviation of the speakers' maps along it.
    """

    mean: np.ndarray
    directions: np.ndarray

    def at(self, coordinates: np.ndarray) -> np.ndarray:
        """The map mean + sum_k coordinates_k directions_k, float64 (n, n + 1)."""
        mean, directions = self._doubles
        return mean + np.tensordot(coordinates, directions, 1)

    def map_estimate(self, statistics: RowStatistics, start: np.ndarray | None = None) -> np.ndarray:
        """Coordinates of the map of the largest auxiliary function less half their square sum, float64 (m,).

        Newton's method from `start` (the mean unless given), each step halved until it gains. The second derivative is
        that of the auxiliary function's quadratic part and of log|det A|, count tr(A^-1 D_k A^-1 D_l), where that is
        positive definite, and else without the latter; it stays as it is where a step promises little.
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
        """What the directions add to the matrix, float64 (m, n n)."""
        directions = self._doubles[1]
        return np.ascontiguousarray(directions[:, :, :-1]).reshape(len(directions), -1)

    @cached_property
    def _doubles(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean.astype(np.float64), self.directions.astype(np.float64)


def fit_fmllr_prior(
    maps: Sequence[np.ndarray], expected: RowStatistics, others: Sequence[np.ndarray] = ()
) -> FmllrPrior | None:
    """The prior that maps of speakers have in common; None of fewer than three, and of maps that do not differ.

    Parameters
    ----------
    maps : float64 (n, n + 1) each
    expected : RowStatistics
        Of one frame, as the mixtures expect it (`asr.acoustic.fmllr.expected_statistics`): its second derivatives are
        the metric in which maps differ.
    others : float64 (n, n + 1) each
        Further maps, of speakers who are made up of these.
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
    """What mixtures expect of one frame for which this map, float64 (n, n + 1), is the best one.

    `expected` has the identity as its best map; its frames y come from frames x with y = A x + b.
    """
    n_rows = len(transform)
    inverse = np.eye(n_rows + 1)
    inverse[:n_rows, :n_rows] = np.linalg.inv(transform[:, :n_rows])
    inverse[:n_rows, n_rows] = -inverse[:n_rows, :n_rows] @ transform[:, n_rows]
    second = np.matmul(np.matmul(inverse, expected.second), inverse.T)
    return RowStatistics(expected.count, expected.first @ inverse.T, second)


def _factors(matrix: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Cholesky's, as `cho_solve` takes them; None where the matrix is not positive definite."""
    try:
        factors: tuple[np.ndarray, bool] = cho_factor(matrix, check_finite=False)
    except LinAlgError:
        return None
    return factors
