"""Kernel Fisher discriminants with an L1 penalty (Mika 2002, section 3.4.8)."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from discriminants.fisher.column_generation import ActiveSet, Columns, Expansion, generate_columns, merged
from discriminants.fisher.l1_least_squares import l1_least_squares
from discriminants.fisher.least_absolute_deviations import least_absolute_deviations
from discriminants.kernels import make_kernel
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import POSITIVE, estimator, field, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.regression import KernelRegressor

_NO_WEIGHT = 1e-6  # of the largest weight: an interior point method returns zeros of this size
_NO_PENALTY = 1e-6  # of the largest sum of a column: a smaller penalty does not determine small weights
_MAX_PENALTY = 1e100  # a larger one has the same solution; its squares stay finite
_NO_SHARE = 1e-9  # of the objective without columns: a weight with a smaller penalty counts as zero


_NO_DISTANCE = 1e-10  # of the largest kernel value: a smaller difference of a column's class means is rounding


class _ClassSums(NamedTuple):
    """Deviations whose sum over each class has weight `weight`, large enough to force the sum to zero."""

    classes: np.ndarray  # of shape (2, n_samples), one in its own class, zero in the other
    weight: float


@estimator
class _SparseKFD(KernelExpansion):
    """min sum_i loss(y_i - f(x_i)) + C sum_j |alpha_j|, f = sum_j alpha_j k(., x_j) + b.

    Parameters
    ----------
    kernel
        The kernel may be indefinite.
    regularization : float
        C > 0. With `loss="squared"` no column is used for C >= max_j |k_j'(y - mean)|. With "absolute" the bound has
        the signs of the deviations from the median instead of y - mean.
    loss : {"squared", "absolute"}
        Loss of the slacks.

    Attributes
    ----------
    n_centers_ : ndarray of int of shape (n_outputs,)
        Number of columns with a weight in each output.
    center_indices_ : ndarray of int of shape (m,)
        Rows of the training samples that are centers of any output.

    References
    ----------
    S. Mika, G. Raetsch, K.-R. Mueller, A mathematical programming approach to the kernel Fisher algorithm, NIPS 13,
    2001.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    regularization: float = parameter(POSITIVE, default=1.0)
    loss: str = parameter({"squared", "absolute"}, default="squared")
    class_means: str = field(default="free", init=False)  # a parameter of the classifier

    @property
    def _penalty(self) -> float:
        return min(float(self.regularization), _MAX_PENALTY)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs at least two samples, got 1 sample")
        columns = Columns(make_kernel(self.kernel, self.sigma).resolved(X), X)
        found = [self._expansion(columns, target.astype(np.float64)) for target in targets.T]
        union, weights, bias = merged(found)
        self.center_indices_ = columns.points[union]
        self._keep_expansion(columns.kernel.at(union), X[self.center_indices_], weights, bias)
        self.n_centers_ = np.array([expansion.columns.shape[0] for expansion in found])

    def _expansion(self, columns: Columns, target: np.ndarray) -> Expansion:
        middle = (float(target.max()) + float(target.min())) / 2
        target = target - middle
        size = float(np.abs(target).max()) or 1.0
        target = target / size
        C = self._penalty
        if self.loss == "squared":
            found = generate_columns(columns, target, C, self._least_squares, target - target.mean())
        elif self.class_means == "fixed" and (first := self._farthest(columns, target)) is not None:
            solve = partial(self._least_deviations, sums=first[1])
            found = generate_columns(columns, target, C, solve, target, first=first[0])
        else:
            found = generate_columns(columns, target, C, self._least_deviations, _signs(target))
        return found._replace(alpha=size * found.alpha, bias=size * found.bias + middle)

    def _least_squares(self, K: np.ndarray, target: np.ndarray) -> ActiveSet:
        """The Lasso on centered columns."""
        means, mean = K.mean(axis=0), float(target.mean())
        centred, rest = K - means, target - mean
        alpha = l1_least_squares(centred.T @ centred, rest @ centred, float(rest @ rest), self._penalty)
        return ActiveSet(alpha, mean - float(means @ alpha), rest - centred @ alpha)

    def _farthest(self, columns: Columns, target: np.ndarray) -> tuple[np.ndarray, _ClassSums] | None:
        """Return the column with the most distant class means, and the weight that forces the sums over the classes to
        zero.

        Returns None if every column has equal class means. The program with fixed means is homogeneous: its value V is
        proportional to the distance of the means. The multipliers of the two sums are therefore at most V / 2, and V is
        at most the value reached by one column alone.
        """
        classes = np.stack([target > 0, target <= 0]).astype(np.float64)
        shares = classes / classes.sum(axis=1, keepdims=True)
        distances = columns.products(shares[0] - shares[1], np.arange(columns.n_candidates))
        farthest = np.array([int(np.abs(distances).argmax())])
        k = columns.at(farthest)[:, 0]
        distance = float(distances[farthest[0]])
        if not abs(distance) > _NO_DISTANCE * float(np.abs(k).max()):
            return None
        alpha = 2.0 / distance
        deviations = target - alpha * k
        deviations -= float(shares[0] @ deviations)
        value = float(np.abs(deviations).sum()) + self._penalty * abs(alpha)
        return farthest, _ClassSums(classes, 2.0 * (1.0 + value / (2.0 * float(classes.sum(axis=1).min()))))

    def _least_deviations(self, K: np.ndarray, target: np.ndarray, sums: _ClassSums | None = None) -> ActiveSet:
        """Minimize absolute deviations with a penalty C on every weight except the bias, and a row for each sum."""
        n_samples, n = K.shape
        rows = np.hstack([K, np.ones((n_samples, 1))])
        penalty = np.append(np.full(n, self._penalty), 0.0)
        targets = target
        if sums is not None:
            rows = np.concatenate([rows, sums.weight * (sums.classes @ rows)])
            targets = np.concatenate([target, sums.weight * (sums.classes @ target)])
        found = least_absolute_deviations(rows, targets, penalty)
        multipliers = found.multipliers[:n_samples]
        if sums is not None:
            multipliers = multipliers + sums.weight * (found.multipliers[n_samples:] @ sums.classes)
        alpha = found.theta[:n]
        sizes = np.abs(alpha)
        steepest = float(np.abs(K).sum(axis=0).max())
        none = _NO_SHARE * float(np.abs(target).sum()) / max(self._penalty, _NO_PENALTY * steepest)
        alpha[sizes <= max(_NO_WEIGHT * sizes.max(initial=0.0), none)] = 0.0
        return ActiveSet(alpha, float(found.theta[n]), multipliers)


def _signs(target: np.ndarray) -> np.ndarray:
    """Return multipliers of the median: signs of the deviations; those of zero deviations make the sum zero."""
    signs = np.sign(target - np.median(target))
    level = signs == 0
    if level.any():
        signs[level] = -signs.sum() / level.sum()
    return signs


@estimator
class SparseKFDClassifier(_SparseKFD, ThresholdedClassifier):
    """Fisher's discriminant with few kernel columns by an L1 penalty: SKFD, or with absolute slacks LSKFD.

    Minimizes sum_i (y_i - f(x_i))^2 / 2 + C sum_j |alpha_j| (Mika 2002, 3.53), the Lasso on the kernel matrix. With
    `loss="absolute"` it minimizes sum_i |y_i - f(x_i)| + C sum_j |alpha_j| (3.55), a linear program. Targets are +-1.
    The first is the Fisher discriminant with another penalty; the second also bounds the influence of a single sample,
    and is sparser. Any sample may become a center, not only those near the boundary, so there are fewer centers than
    support vectors in a support vector machine.

    Both are solved over few columns at a time (`discriminants.fisher.column_generation`) by interior point methods.
    Memory is O(N m) for more than 3000 samples.

    Parameters
    ----------
    class_means : {"free", "fixed"}
        "fixed" makes the mean output of either class its target, as in the authors' first version (Mika, Raetsch,
        Mueller 2001). It matters for absolute slacks and unequal classes. The bias alone then makes errors only on the
        smaller class, so with free means a large C sets all weights to zero. Fixed means keep the classes apart with a
        few columns. With squared slacks both have the same solutions, under another C.
    threshold
        "least_squares" keeps the bias found with the coefficients, for either loss.

    See Also
    --------
    SparseGreedyKFDClassifier : a given number of centers, with a quadratic penalty.
    RobustKFDClassifier : absolute slacks with a quadratic penalty.
    """

    class_means: str = parameter({"free", "fixed"}, default="fixed")


@estimator
class SparseKFDRegressor(_SparseKFD, KernelRegressor):
    """L1-penalized kernel regression: the discriminant as a regression onto real targets (Mika 2002, 3.6.3 and 5).

    y may have several columns. C refers to targets scaled to the range from -1 to 1; outputs are scaled back.

    See Also
    --------
    SparseKFDClassifier : the discriminant.
    OROLSRegressor : forward selection of centers.
    """

    regularization: float = 1e-2
