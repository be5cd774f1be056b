"""Kernel logistic regression by iteratively reweighted least squares (Newton's method) on a dictionary."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discriminants.linear_systems.conjugate_gradients import conjugate_gradients
from discriminants.logistic.block_sums import Features
from discriminants.logistic.checkpoint import Checkpoint
from discriminants.logistic.objective import LogisticObjective
from discriminants.logistic.samples import Samples
from discriminants.logistic.training import LossHistory
from discriminants.logistic.whitening import Whitening
from discriminants.parallel.workers import Workers

_SUFFICIENT_FALL = 0.1  # minimum decrease of a step, as a fraction of the decrease predicted by the slope
_HALVINGS = 40
_MAX_PRODUCTS = 500  # Hessian-vector products in one Newton step
_AFFORDABLE = 5e11  # multiplications, 30 to 60 s on one core
_USUAL_STEPS, _USUAL_PRODUCTS = 15, 500
_ROUNDING = 10 * float(np.finfo(float).eps)
_STAGE = "newton"


def fit_irls_weights(
    samples: Samples,
    features: Features,
    workers: Workers,
    whitening: Whitening,
    weights: np.ndarray,
    bias: np.ndarray,
    *,
    loss: str,
    alpha: float,
    tol: float,
    max_steps: int,
    record: LossHistory,
    checkpoint: Checkpoint | None = None,
) -> bool:
    """Minimize mean loss + alpha / 2 tr(W'K_mm W), W = T V, changing V (r, S) and the bias (S,) in place.

    Two classes make one problem, whose Newton equations (a weighted least-squares problem with a ridge: IRLS) are
    solved directly. The two columns of V are then each other's negatives. More classes are solved by truncated Newton:
    conjugate gradients on products with the Hessian, each a pass over the samples. The preconditioner is the whitening
    and each output's mean curvature (Rudi, Carratino and Rosasco 2017; Marteau-Ferey, Bach and Rudi 2019). Steps are
    halved until the loss decreases enough, so it never rises.

    V and the bias are those on the whitened, centered features T'(k(x) - mean) before and after the fit. It stops if
    every entry of the gradient with respect to them is at most `tol`, if rounding prevents a decrease, or after
    `max_steps`, at least one. `record` gets the objective after each step. Returns True if the gradient or rounding
    ended the steps, and False if `max_steps` did.
    """
    checkpoint = checkpoint or Checkpoint()
    theta = np.vstack([weights, bias])
    two = theta.shape[1] == 2
    coupled = loss == "multinomial" and not two
    # Softmax over two outputs +-f/2 is the sigmoid of f, and |V|^2 is half the square of the weights of f. One
    # binary loss for each of two outputs +-f is twice the loss of f.
    half = 0.5 if loss == "multinomial" else 1.0
    if two:
        theta = 0.5 * (theta[:, 1:] - theta[:, :1]) / half
        alpha *= half
    elif coupled:
        # Softmax does not depend on the common part of all outputs. Without it the penalty is smaller, and from here
        # on all steps sum to zero over the outputs.
        theta[:-1] -= theta[:-1].mean(axis=1, keepdims=True)
    objective = LogisticObjective(samples, features, workers, whitening, loss="binary" if two else loss, alpha=alpha)

    def keep(point: Point) -> None:
        both = np.hstack([-half * point.theta, half * point.theta]) if two else point.theta
        weights[...], bias[...] = both[:-1], both[-1]

    first = 1
    shapes = {"theta": theta.shape, "n_done": (), "training": ("steps",), "watched": ("steps",)}
    begun = checkpoint.get(_STAGE, shapes)
    if begun is not None:
        theta, first = begun["theta"], int(begun["n_done"]) + 1
        record.go_on_from(begun)
    search = NewtonSearch(objective)
    point = search.at(theta)
    keep(point)
    for number in range(first, max_steps + 1):
        if number > 1 and np.abs(point.gradient).max() <= tol:
            return True
        new = search.along(point, search.direct_step(point) if two else search.truncated_step(point))
        keep(new)
        record.tell(number, new.value * (2.0 if two and loss == "ovr" else 1.0))
        if new is point:
            return True
        point = new
        checkpoint.put(_STAGE, {"theta": point.theta, "n_done": np.array(number), **record.state()})
    return bool(np.abs(point.gradient).max() <= tol)


def irls_is_affordable(n_samples: int, n_centers: int, n_classes: int) -> bool:
    """Return whether Newton's method is expected to take up to about a minute on one core."""
    if n_classes == 2:
        return _USUAL_STEPS * 1.5 * n_samples * n_centers**2 <= _AFFORDABLE
    return _USUAL_PRODUCTS * 2.0 * n_samples * n_centers * n_classes <= _AFFORDABLE


@dataclass(frozen=True)
class Point:
    """Current point of the search."""

    theta: np.ndarray  # (r + 1, S): the bias in the last row
    value: float  # mean loss and penalty
    gradient: np.ndarray  # (r + 1, S)
    curvature: np.ndarray  # (S,): mean second derivative of each output's loss


class NewtonSearch:
    """Newton steps of the objective and the search along them."""

    def __init__(self, objective: LogisticObjective) -> None:
        self._objective = objective
        # Values of float32 products are compared with their rounding noise.
        self._rounding = 10 * float(np.finfo(objective.samples.source.dtype).eps)

    def at(self, theta: np.ndarray) -> Point:
        """Evaluate the objective and its derivatives."""
        value, gradient, curvature = self._objective.at(theta)
        return Point(theta, value, gradient, curvature)

    def direct_step(self, point: Point) -> np.ndarray:
        """Return the Newton step for one output, by Cholesky's method."""
        hessian = self._objective.hessian(point.theta)
        damping = _ROUNDING * max(float(np.trace(hessian)), np.finfo(float).tiny)
        while True:  # if all samples are fitted, the Hessian is only rounding
            try:
                return -cho_solve(cho_factor(hessian), point.gradient)
            except LinAlgError:
                hessian[np.diag_indices_from(hessian)] += damping
                damping *= 10.0

    def truncated_step(self, point: Point) -> np.ndarray:
        """Return the Newton step by conjugate gradients, truncated later the nearer the minimum is."""
        whitening, coupled = self._objective.whitening, self._objective.loss == "multinomial"
        variance = np.append(whitening.variance, 1.0)[:, None]
        penalty = self._objective.alpha * np.append(whitening.penalty, 0.0)[:, None]
        diagonal = variance * point.curvature + penalty
        inverse = 1.0 / np.maximum(diagonal, max(_ROUNDING * float(diagonal.max()), np.finfo(float).tiny))

        def precondition(residual: np.ndarray) -> np.ndarray:
            scaled = inverse * residual
            return scaled - scaled.mean(axis=1, keepdims=True) if coupled else scaled

        return conjugate_gradients(
            lambda direction: self._objective.hessian_product(point.theta, direction),
            -point.gradient,
            precondition,
            tolerance=min(0.1, float(np.sqrt(np.abs(point.gradient).max()))),
            max_products=_MAX_PRODUCTS,
            separate=not coupled,
        )

    def along(self, point: Point, direction: np.ndarray) -> Point:
        """Return the first of the steps 1, 1/2, 1/4, ... with a sufficient decrease, or `point` if none has.

        Near the minimum the decrease is below rounding, so the slope decides (Hager and Zhang 2005, approximate Wolfe
        conditions).
        """
        slope = float((point.gradient * direction).sum())
        if not slope < 0.0:
            return point
        step = 1.0
        for _ in range(_HALVINGS):
            new = self.at(point.theta + step * direction)
            if new.value <= point.value + _SUFFICIENT_FALL * step * slope:
                return new
            if new.value <= point.value * (1.0 + self._rounding) and (
                float((new.gradient * direction).sum()) <= (2.0 * _SUFFICIENT_FALL - 1.0) * slope
            ):
                return new
            if -step * slope <= self._rounding * abs(point.value):
                return point
            step /= 2.0
        return point
