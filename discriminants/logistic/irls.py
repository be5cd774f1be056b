"""Kernel logistic regression by iteratively reweighted least squares: Newton's method on the selected
dictionary.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discriminants.kernels import KernelColumns
from discriminants.logistic.conjugate_gradients import conjugate_gradients
from discriminants.logistic.loss import LOSSES, Loss, binary
from discriminants.logistic.whitened_features import WhitenedFeatures
from discriminants.logistic.whitening import Whitening

_SUFFICIENT_FALL = 0.1  # share of the fall that the slope promises which a step has to bring
_HALVINGS = 40
_MAX_PRODUCTS = 500  # Hessian-vector products in one Newton step
_AFFORDABLE = 5e11  # multiplications, half a minute to a minute of one core
_USUAL_STEPS, _USUAL_PRODUCTS = 15, 500
_ROUNDING = 10 * float(np.finfo(float).eps)


def fit_irls_weights(
    X: np.ndarray,
    codes: np.ndarray,
    sample_weight: np.ndarray,
    columns: KernelColumns,
    whitening: Whitening,
    weights: np.ndarray,
    bias: np.ndarray,
    *,
    loss: str,
    alpha: float,
    tol: float,
    max_steps: int,
    after_step: Callable[[int, float], None],
) -> bool:
    """Minimise mean loss + alpha / 2 tr(W'K_mm W), W = T V, changing V and the bias in place.

    Two classes make one problem, whose Newton equations (a weighted least-squares problem with a ridge: IRLS)
    are solved directly; the two columns of V are then each other's negatives. More classes are solved by
    truncated Newton: conjugate gradients on products with the Hessian, each two matrix products over the
    samples. Steps are halved until the loss falls enough, so it never rises. Everything is float64, of the
    kernel values as `columns` gives them; beside the features, a few arrays (n_samples, S) are held.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    codes : ndarray of int of shape (n_samples,)
        Class numbers.
    sample_weight : ndarray of shape (n_samples,)
        Positive.
    columns : KernelColumns
        The kernel on the m centres.
    whitening : Whitening
    weights, bias : ndarray of shape (r, S) and (S,), float64
        V and the bias on the whitened, centred features T'(k(x) - mean); where they start and end.
    loss : {"multinomial", "ovr"}
    alpha : float
    tol : float
        Largest entry of the gradient with respect to V and the bias at which to stop. A step that rounding
        keeps from falling stops as well.
    max_steps : int
        Most Newton steps; one is always made.
    after_step : callable
        Called with the number of the step, from 1, and the objective: mean loss and penalty.

    Returns
    -------
    bool
        Whether the gradient or rounding ended the steps, not their number.
    """
    features = WhitenedFeatures(X, columns, whitening)
    theta = np.vstack([weights, bias])
    two = theta.shape[1] == 2
    # Softmax over two outputs +-f/2 is the sigmoid of f, and |V|^2 is half the square of the weights of f; one
    # binary loss for each of two outputs +-f is twice the loss of f.
    half = 0.5 if loss == "multinomial" else 1.0
    if two:
        theta = 0.5 * (theta[:, 1:] - theta[:, :1]) / half
        alpha *= half
    elif loss == "multinomial":
        # What all outputs have in common a softmax does not see: without it the penalty is less, and from here
        # on all steps sum to zero over the outputs.
        theta[:-1] -= theta[:-1].mean(axis=1, keepdims=True)
    problem = _Problem(
        features,
        codes,
        sample_weight * (X.shape[0] / sample_weight.sum()),
        binary if two else LOSSES[loss],
        alpha * np.append(whitening.penalty, 0.0)[:, None],
        np.append(whitening.variance, 1.0)[:, None],
        coupled=loss == "multinomial" and not two,
    )

    def keep(number: int, point: _Point) -> None:
        both = np.hstack([-half * point.theta, half * point.theta]) if two else point.theta
        weights[...], bias[...] = both[:-1], both[-1]
        after_step(number, point.value * (2.0 if two and loss == "ovr" else 1.0))

    point = problem.at(theta, features.outputs(theta))
    for number in range(1, max_steps + 1):
        gradient = problem.gradient(point)
        direction = problem.direct_step(point, gradient) if two else problem.truncated_step(point, gradient)
        new = problem.search(point, direction)
        keep(number, new)
        if new is point:
            return True
        point = new
        if np.abs(problem.gradient(point)).max() <= tol:
            return True
    return False


def irls_is_affordable(n_samples: int, n_centers: int, n_classes: int) -> bool:
    """Whether Newton's method is expected to take up to about a minute on one core."""
    if n_classes == 2:
        return _USUAL_STEPS * 1.5 * n_samples * n_centers**2 <= _AFFORDABLE
    return _USUAL_PRODUCTS * 2.0 * n_samples * n_centers * n_classes <= _AFFORDABLE


@dataclass(frozen=True)
class _Point:
    theta: np.ndarray  # (r + 1, S), the bias in the last row
    outputs: np.ndarray  # (n, S)
    residual: np.ndarray  # (n, S), derivative of the summed loss
    value: float  # mean loss and penalty


class _Problem:
    """Value, gradient and Hessian of the objective in theta (r + 1, S).

    Parameters
    ----------
    relative_weight : ndarray of shape (n_samples,)
        Of mean one.
    penalty, variance : ndarray of shape (r + 1, 1)
        Ridge on each row of theta, and variance of each feature.
    coupled : bool
        Whether the outputs share one softmax; otherwise each has a loss of its own.
    """

    def __init__(
        self,
        features: WhitenedFeatures,
        codes: np.ndarray,
        relative_weight: np.ndarray,
        loss: Loss,
        penalty: np.ndarray,
        variance: np.ndarray,
        *,
        coupled: bool,
    ) -> None:
        self._features, self._codes, self._weight = features, codes, relative_weight
        self._loss, self._penalty, self._variance, self._coupled = loss, penalty, variance, coupled

    def at(self, theta: np.ndarray, outputs: np.ndarray) -> _Point:
        residual = outputs.copy()
        value = self._loss(residual, self._codes, self._weight) / self._features.n_samples
        return _Point(theta, outputs, residual, value + 0.5 * float((self._penalty * theta**2).sum()))

    def gradient(self, point: _Point) -> np.ndarray:
        return self._features.transposed(point.residual) / self._features.n_samples + self._penalty * point.theta

    def direct_step(self, point: _Point, gradient: np.ndarray) -> np.ndarray:
        """The Newton step for one output, by Cholesky's method."""
        hessian = self._features.gram(self._curvature(point)[:, 0]) / self._features.n_samples
        hessian[np.diag_indices_from(hessian)] += self._penalty[:, 0]
        damping = _ROUNDING * max(float(np.trace(hessian)), np.finfo(float).tiny)
        while True:  # where all samples are fitted nothing is left of the Hessian but rounding
            try:
                return -cho_solve(cho_factor(hessian), gradient)
            except LinAlgError:
                hessian[np.diag_indices_from(hessian)] += damping
                damping *= 10.0

    def truncated_step(self, point: _Point, gradient: np.ndarray) -> np.ndarray:
        """The Newton step as far as conjugate gradients take it: the nearer the minimum, the further."""
        curvature, n = self._curvature(point), self._features.n_samples
        diagonal = self._variance * curvature.mean(axis=0) + self._penalty
        inverse = 1.0 / np.maximum(diagonal, max(_ROUNDING * float(diagonal.max()), np.finfo(float).tiny))

        def precondition(residual: np.ndarray) -> np.ndarray:
            scaled = inverse * residual
            return scaled - scaled.mean(axis=1, keepdims=True) if self._coupled else scaled

        if self._coupled:
            probability = self._probability(point)

            def between(rows: slice, outputs: np.ndarray) -> np.ndarray:
                P = probability[rows]
                outputs -= np.einsum("ns,ns->n", P, outputs)[:, None]
                outputs *= P
                outputs *= self._weight[rows, None]
                return outputs
        else:

            def between(rows: slice, outputs: np.ndarray) -> np.ndarray:
                outputs *= curvature[rows]
                return outputs

        return conjugate_gradients(
            lambda theta: self._features.through(theta, between) / n + self._penalty * theta,
            -gradient,
            precondition,
            tolerance=min(0.1, float(np.sqrt(np.abs(gradient).max()))),
            max_products=_MAX_PRODUCTS,
            separate=not self._coupled,
        )

    def search(self, point: _Point, direction: np.ndarray) -> _Point:
        """The first of the steps 1, 1/2, 1/4, ... after which the objective has fallen enough; `point` itself if
        none has.

        Near the minimum the fall drowns in rounding and the slope decides (Hager and Zhang 2005, approximate
        Wolfe conditions).
        """
        change = self._features.outputs(direction)
        slope = self._slope(point, direction, change)
        if not slope < 0.0:
            return point
        step = 1.0
        for _ in range(_HALVINGS):
            new = self.at(point.theta + step * direction, point.outputs + step * change)
            if new.value <= point.value + _SUFFICIENT_FALL * step * slope:
                return new
            if new.value <= point.value * (1.0 + _ROUNDING) and (
                self._slope(new, direction, change) <= (2.0 * _SUFFICIENT_FALL - 1.0) * slope
            ):
                return new
            step /= 2.0
        return point

    def _slope(self, point: _Point, direction: np.ndarray, change: np.ndarray) -> float:
        """Derivative of the objective along the direction, which changes the outputs by `change`."""
        along = float(np.einsum("ns,ns->", point.residual, change)) / self._features.n_samples
        return along + float((self._penalty * point.theta * direction).sum())

    def _probability(self, point: _Point) -> np.ndarray:
        probability = point.residual / self._weight[:, None]
        probability[np.arange(probability.shape[0]), self._codes] += 1.0
        return probability

    def _curvature(self, point: _Point) -> np.ndarray:
        """weight * p (1 - p), (n, S): |residual| / weight is either p or 1 - p."""
        error = np.abs(point.residual)
        return error * (1.0 - error / self._weight[:, None])
