"""Ridge regression from accumulated sums, without stored samples."""

from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator

_ROUNDING = 1e-15  # rounding of an eigenvalue, relative to the largest, per column


class RidgeSums(BaseEstimator):
    """Sums that determine ridge regression with a free bias for any number of samples.

    Memory is O(r^2) for r features (Suykens et al. 2002, section 6.2: the primal problem of the fixed-size LS-SVM).
    Fixed origins near the means are subtracted from features and targets, so that large means cost no precision. The
    arrays are origin_ (r,), target_origin_ (n_targets,), sums_ (r,), squares_ (r, r), target_sums_ and target_squares_
    (n_targets,), and products_ (r, n_targets).
    """

    def start(self, origin: np.ndarray, target_origin: np.ndarray) -> Self:
        """Set all sums to zero."""
        r, n_targets = origin.shape[0], target_origin.shape[0]
        self.n_samples_: float = 0
        self.origin_, self.target_origin_ = origin, target_origin
        self.sums_, self.squares_ = np.zeros(r), np.zeros((r, r))
        self.target_sums_, self.target_squares_ = np.zeros(n_targets), np.zeros(n_targets)
        self.products_ = np.zeros((r, n_targets))
        return self

    def copied(self) -> Self:
        """Return a copy with its own arrays."""
        copy = type(self)()
        for name, value in vars(self).items():
            setattr(copy, name, value.copy() if isinstance(value, np.ndarray) else value)
        return copy

    def add(self, features: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add samples, float64 (n, r) and (n, n_targets), in place; a sample of weight two counts as two."""
        Z, Y = features - self.origin_, targets - self.target_origin_
        if weight is None:
            self.n_samples_ += Z.shape[0]
            self.sums_ += Z.sum(axis=0)
            self.target_sums_ += Y.sum(axis=0)
        else:
            self.n_samples_ += float(weight.sum())
            self.sums_ += weight @ Z
            self.target_sums_ += weight @ Y
            root = np.sqrt(weight)[:, None]
            Z, Y = root * Z, root * Y
        self.squares_ += Z.T @ Z
        self.target_squares_ += (Y**2).sum(axis=0)
        self.products_ += Z.T @ Y

    def decay(self, factor: float) -> None:
        """Multiply the weights of all samples so far by `factor`."""
        for name, value in vars(self).items():
            if not name.endswith("origin_"):
                setattr(self, name, factor * value)

    def path(self) -> "RidgePath":
        """Compute the solutions for all penalties."""
        n = self.n_samples_
        mean, target_mean = self.sums_ / n, self.target_sums_ / n
        scatter = self.squares_ - n * np.outer(mean, mean)
        values, vectors = eigh(scatter, overwrite_a=True, check_finite=False, driver="evd")
        small = values <= _ROUNDING * values.shape[0] * max(values[-1], 0.0)
        values[small] = 0.0
        rotated = vectors.T @ (self.products_ - n * np.outer(mean, target_mean))
        rotated[small] = 0.0
        energies = np.maximum(self.target_squares_ - n * target_mean**2, 0.0)
        return RidgePath(values, vectors, rotated, self.origin_ + mean, self.target_origin_ + target_mean, energies, n)


class RidgePath(NamedTuple):
    """Minimizers of |y - f|^2 + mu |w|^2 for all mu from one eigendecomposition of the centered scatter, V diag(l)
    V'.
    """

    values: np.ndarray  # (r,): l, ascending; rounding is set to 0
    vectors: np.ndarray  # (r, r): V
    rotated: np.ndarray  # (r, n_targets): V'Z'Y with centered features and targets
    mean: np.ndarray  # (r,)
    target_mean: np.ndarray  # (n_targets,)
    energies: np.ndarray  # (n_targets,): squared deviations of the targets from their means
    n_samples: float  # sum of the weights

    def solve(self, mu: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute weights (r, n_targets) and biases (n_targets,) for mu > 0, one for all targets or (n_targets,)."""
        weights = self.vectors @ (self.rotated / (self.values[:, None] + mu))
        return weights, self.target_mean - self.mean @ weights

    def effective_parameters(self, penalties: np.ndarray) -> np.ndarray:
        """Compute 1 + sum_i l_i / (l_i + mu), 1 for the bias, shape (n_penalties,)."""
        return 1.0 + (self.values / (self.values + penalties[:, None])).sum(axis=1)

    def generalised_cross_validation(self, penalties: np.ndarray) -> np.ndarray:
        """Compute N |y - f|^2 / (N - effective parameters)^2 summed over the targets, shape (n_penalties,)."""
        spanned = self.values > 0
        values = self.values[spanned]
        inside = (self.rotated[spanned] ** 2).sum(axis=1) / values  # energy of the targets in each direction
        outside = max(float(self.energies.sum() - inside.sum()), 0.0)
        shrunk = penalties[:, None] / (values + penalties[:, None])
        left = np.maximum(self.n_samples - 1 - values.shape[0], 0) + shrunk.sum(axis=1)
        left = np.maximum(left, np.finfo(np.float64).eps)
        return self.n_samples * (outside + shrunk**2 @ inside) / left**2


class LeaveOneOut:
    """Squared leave-one-out errors in closed form: (y - f) / (1 - h).

    The centers and their columns stay; only the sample's equation is left out. The samples of the path are added a
    second time. `squares` (n_penalties,) sums over all samples so far and all targets.
    """

    def __init__(self, path: RidgePath, penalties: np.ndarray) -> None:
        self._path = path
        self._inverses = 1.0 / (path.values + penalties[:, None])
        self.squares = np.zeros(penalties.shape[0])

    def add(self, features: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add samples, float64 (n, r) and (n, n_targets), each with its weight; all of it is left out."""
        weight = np.ones(features.shape[0]) if weight is None else weight
        path = self._path
        coordinates = (features - path.mean) @ path.vectors
        centred = targets - path.target_mean
        leverages = weight[:, None] * (1.0 / path.n_samples + coordinates**2 @ self._inverses.T)
        for number, inverse in enumerate(self._inverses):
            left = np.maximum(1.0 - leverages[:, number], np.finfo(np.float64).eps)
            residuals = centred - coordinates @ (path.rotated * inverse[:, None])
            self.squares[number] += float((weight @ (residuals / left[:, None]) ** 2).sum())
