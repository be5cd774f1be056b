"""Sparse linear models by fast maximization of the marginal likelihood (Tipping and Faul 2003)."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

_MAX_ROUNDS = 1000
_CHANGES = 100  # of precisions before all sums are computed again
_IDLE = 20  # modes without a higher evidence that end the search
_CHANGES_PER_MODE = 10  # changes of precisions between two searches for the mode of the logistic likelihood
_MAX_PRECISION = 1e6  # of the noise, relative to the variance of the targets: targets without noise stay regular
_FIRST_PRECISION = 100.0  # of the noise, for targets of variance one: large noise would hide wide columns
_MIN_PRECISION = 1e-10  # of a weight, relative to its precision by the samples: bounds the condition number
_SPANNED = 1e-6  # of the squared length of a column: with less outside the active columns, it is not added
_ROUNDING = 1e-13  # of the sum of the precisions: a smaller squared length is rounding
_NEWTON_STEPS, _NEWTON_TOLERANCE, _MIN_STEP = 100, 1e-10, 1e-10


class Relevance(NamedTuple):
    """Normal posterior of the weights with finite prior precision; the other weights are zero."""

    active: np.ndarray  # int (m,): columns with a weight, ascending
    mean: np.ndarray  # (m + 1,): weights of these columns, and the bias
    covariance: np.ndarray  # (m + 1, m + 1)
    noise_variance: float  # 1 for classes
    log_evidence: float  # logarithm of the marginal likelihood


class _Quadratic:
    """Quadratic log likelihood -beta / 2 sum_i r_i (t_i - f_i)^2, with the bias integrated out by centering.

    `alpha` (n_columns,) has the prior precisions, infinite for inactive columns. The constructor takes the columns
    (n_samples, n_columns), the precisions r and the products r t.
    """

    def __init__(self, columns: np.ndarray, precision: np.ndarray, responses: np.ndarray, alpha: np.ndarray) -> None:
        self._columns, self._precision, self.alpha = columns, precision, alpha
        self.total = float(precision.sum())
        self.means = precision @ columns / self.total
        self.response = float(responses.sum()) / self.total
        self._squares = np.einsum("i,ij,ij->j", precision, columns, columns) - self.total * self.means**2
        self._products = columns.T @ responses - self.total * self.response * self.means
        self.active = np.flatnonzero(np.isfinite(alpha))
        self._gram = self._products_with(self.active)

    def _products_with(self, active: np.ndarray) -> np.ndarray:
        """Return scalar products of all columns with these, (n_columns, n)."""
        weighted = self._precision[:, None] * self._columns[:, active]
        found: np.ndarray = self._columns.T @ weighted - self.total * np.outer(self.means, self.means[active])
        return found

    def solve(self, beta: float) -> None:
        """Compute mean and covariance of the active weights, and S and Q of all columns."""
        least = _MIN_PRECISION * beta * self._squares[self.active]
        self.alpha[self.active] = np.maximum(self.alpha[self.active], least)
        H = beta * self._gram[self.active]
        H.flat[:: H.shape[0] + 1] += self.alpha[self.active]
        factor = cho_factor(H, check_finite=False)
        self.covariance = cho_solve(factor, np.eye(H.shape[0]), check_finite=False)
        self.mean = beta * (self.covariance @ self._products[self.active])
        self._log_determinant = 2.0 * float(np.log(factor[0].diagonal()).sum())
        self._beta = beta
        outside = beta**2 * np.einsum("ij,ij->i", self._gram @ self.covariance, self._gram)
        self._S, self._Q = beta * self._squares - outside, beta * (self._products - self._gram @ self.mean)

    def explained(self) -> float:
        """Return the decrease of sum_i r_i (t_i - mean)^2 by the weights."""
        fitted = self._gram[self.active] @ self.mean
        return float(self.mean @ (2.0 * self._products[self.active] - fitted))

    def determined(self) -> float:
        """Return the number of weights determined by the samples instead of the prior."""
        return float((1.0 - self.alpha[self.active] * self.covariance.diagonal()).sum())

    def improve(self, tol: float, most: int) -> int:
        """Change up to `most` precisions, one at a time, as long as the evidence rises by `tol`; return their number.

        Each change is the one that raises the evidence most.
        """
        for n_changes in range(most):
            column, alpha = self._best_change(tol)
            if column is None:
                return n_changes
            if not np.isfinite(self.alpha[column]):
                self._add(column, alpha)
            else:
                self._reestimate(int(np.flatnonzero(self.active == column)[0]), alpha)
            self.alpha[column] = alpha
        return most

    def _best_change(self, tol: float) -> tuple[int | None, float]:
        """Return the column and its best precision, None if no change raises the evidence by `tol`.

        The evidence as a function of one precision a is (log(a / (a + s)) + q^2 / (a + s)) / 2 and a constant. Its
        maximum is at s^2 / (q^2 - s), or at infinity for q^2 <= s (Tipping and Faul 2003, section 2). For columns
        without a weight, s = S and q = Q.
        """
        s, q, least = self._S.copy(), self._Q.copy(), self._beta * self._squares
        spanned = (s <= _SPANNED * least) | (self._squares <= _ROUNDING * self.total)
        inverse = 1.0 / self.covariance.diagonal()
        s[self.active] = np.maximum(inverse - self.alpha[self.active], _SPANNED * inverse)
        q[self.active] = self.mean * inverse
        spanned[self.active] = False
        s[spanned] = 1.0  # not used
        excess = q**2 - s
        raised = (excess > 0) & ~spanned
        best = np.full_like(s, np.inf)
        best[raised] = np.maximum(s[raised] ** 2 / excess[raised], _MIN_PRECISION * least[raised])
        gains = _evidence(best, s, q) - _evidence(self.alpha, s, q)
        column = int(np.argmax(gains))
        return column if gains[column] >= tol else None, float(best[column])

    def _add(self, column: int, alpha: float) -> None:
        """Add a column (Tipping and Faul 2003, appendix)."""
        own = self._beta * (self.covariance @ self._gram[column])
        products = self._products_with(np.array([column]))
        change = self._beta * (products[:, 0] - self._gram @ own)
        variance = 1.0 / (alpha + self._S[column])
        mean = variance * self._Q[column]
        part = np.append(-own, 1.0)
        self.covariance = np.pad(self.covariance, (0, 1)) + variance * np.outer(part, part)
        self.mean = np.append(self.mean, 0.0) + mean * part
        self._S -= variance * change**2
        self._Q -= mean * change
        self.active, self._gram = np.append(self.active, column), np.hstack([self._gram, products])

    def _reestimate(self, j: int, alpha: float) -> None:
        """Change the precision of the active column number j, and remove the column if it is infinite."""
        own, mean = self.covariance[j], self.mean[j]
        factor = 1.0 / (own[j] + 1.0 / (alpha - self.alpha[self.active[j]]))
        change = self._beta * (self._gram @ own)
        self._S += factor * change**2
        self._Q += factor * mean * change
        self.mean = self.mean - factor * mean * own
        self.covariance = self.covariance - factor * np.outer(own, own)
        if not np.isfinite(alpha):
            kept = np.arange(self.active.shape[0]) != j
            self.active, self._gram, self.mean = self.active[kept], self._gram[:, kept], self.mean[kept]
            self.covariance = self.covariance[np.ix_(kept, kept)]

    def relevance(self, noise_variance: float, log_likelihood: float) -> Relevance:
        """Return the posterior of weights and bias, for the log likelihood of their means and beta = 1 / noise."""
        order = np.argsort(self.active)
        active, means = self.active[order], self.means[self.active[order]]
        covariance, mean = self.covariance[np.ix_(order, order)], self.mean[order]
        with_bias = -covariance @ means
        bias_variance = 1.0 / (self._beta * self.total) - means @ with_bias
        both = np.block([[covariance, with_bias[:, None]], [with_bias[None], np.full((1, 1), bias_variance)]])
        alpha = self.alpha[active]
        prior = float(np.log(alpha).sum() - alpha @ mean**2)
        integrals = np.log(2.0 * np.pi / (self._beta * self.total)) - self._log_determinant
        evidence = log_likelihood + 0.5 * (prior + float(integrals))
        return Relevance(active, np.append(mean, self.response - means @ mean), both, noise_variance, evidence)


def _evidence(alpha: np.ndarray, s: np.ndarray, q: np.ndarray) -> np.ndarray:
    found: np.ndarray = 0.5 * (q**2 / (alpha + s) - np.log1p(s / alpha))
    return found


def normal_relevance(columns: np.ndarray, target: np.ndarray, weight: np.ndarray, tol: float) -> Relevance:
    """Find precisions and noise of targets with normal noise.

    `columns` (n_samples, n_columns) have mean zero and length one with the weights, `target` (n_samples,) is not
    constant, and a sample of weight v > 0 counts v times. The noise variance is the maximum of the likelihood with the
    bias integrated out: the squared error over the number of samples that is not used up by weights and bias.
    """
    n_samples = float(weight.sum())
    mean = float(weight @ target) / n_samples
    size = float(np.sqrt(weight @ (target - mean) ** 2 / n_samples)) or 1.0
    target = (target - mean) / size
    total = float(weight @ target**2)
    quadratic = _Quadratic(columns, weight, weight * target, np.full(columns.shape[1], np.inf))
    beta, change = _FIRST_PRECISION, 1.0
    for _ in range(_MAX_ROUNDS):
        quadratic.solve(beta)
        n_changes = quadratic.improve(max(tol, 0.1 * change), _CHANGES)
        if n_changes == _CHANGES:
            continue
        error = max(total - quadratic.explained(), 0.0)
        free = max(n_samples - 1.0 - quadratic.determined(), 0.0)
        before, beta = beta, min(free / max(error, free / _MAX_PRECISION), _MAX_PRECISION) or beta
        change = abs(float(np.log(beta / before)))
        if n_changes == 0 and change < tol:
            break
    else:
        _warn()
        quadratic.solve(beta)
    error = max(total - quadratic.explained(), 0.0)
    log_likelihood = -0.5 * (n_samples * np.log(2.0 * np.pi * size**2 / beta) + beta * error)
    found = quadratic.relevance(size**2 / beta, float(log_likelihood) + np.log(size))
    location = np.append(size * found.mean[:-1], mean + size * found.mean[-1])
    return found._replace(mean=location, covariance=size**2 * found.covariance)


def logistic_relevance(columns: np.ndarray, target: np.ndarray, weight: np.ndarray, tol: float) -> Relevance:
    """Find precisions of the log odds of two classes, with a normal approximation at the mode (Laplace's method).

    `target` is -1 or +1; otherwise as `normal_relevance`. At the mode the log likelihood is replaced by a quadratic
    function, a few precisions are changed, and the next mode is found by Newton's method. These steps may end in a
    cycle, and the best of its modes is returned.
    """
    alpha = np.full(columns.shape[1], np.inf)
    active = np.empty(0, dtype=np.intp)
    theta = np.zeros(1)
    best, idle = None, 0
    for _ in range(_MAX_ROUNDS):
        theta = _mode(columns[:, active], target, weight, alpha[active], theta)
        outputs = columns[:, active] @ theta[:-1] + theta[-1]
        other = expit(-target * outputs)  # probability of the other class
        curvature = weight * other * (1.0 - other)
        quadratic = _Quadratic(columns, curvature, curvature * outputs + weight * target * other, alpha)
        quadratic.solve(1.0)
        found = quadratic.relevance(1.0, -float(weight @ np.logaddexp(0.0, -target * outputs)))
        idle += 1
        if best is None or found.log_evidence >= best.log_evidence + tol:
            best, idle = found, 0
        if idle == _IDLE or quadratic.improve(tol, _CHANGES_PER_MODE) == 0:
            return best
        active = quadratic.active
        theta = np.append(quadratic.mean, quadratic.response - quadratic.means[active] @ quadratic.mean)
    _warn()
    return found


def _mode(
    columns: np.ndarray, target: np.ndarray, weight: np.ndarray, alpha: np.ndarray, theta: np.ndarray
) -> np.ndarray:
    """Maximize the posterior of weights and bias (m + 1,) by Newton's method with step halving."""
    features = np.column_stack([columns, np.ones(columns.shape[0])])
    ridge = np.append(alpha, 0.0)

    def loss(theta: np.ndarray) -> float:
        return float(weight @ np.logaddexp(0.0, -target * (features @ theta)) + 0.5 * ridge @ theta**2)

    value = loss(theta)
    for _ in range(_NEWTON_STEPS):
        other = expit(-target * (features @ theta))
        slope = features.T @ (weight * target * other) - ridge * theta
        hessian = (features.T * (weight * other * (1.0 - other))) @ features + np.diag(ridge)
        direction = np.linalg.solve(hessian, slope)
        decrease = float(slope @ direction)
        if not decrease > _NEWTON_TOLERANCE:
            break
        step = 1.0
        while (trial := loss(theta + step * direction)) > value - 1e-4 * step * decrease:
            step /= 2
            if step < _MIN_STEP:
                return theta
        theta, value = theta + step * direction, trial
    return theta


def _warn() -> None:
    warnings.warn(
        f"the marginal likelihood still rises after {_MAX_ROUNDS} rounds. Use a larger tol",
        ConvergenceWarning,
        stacklevel=5,
    )
