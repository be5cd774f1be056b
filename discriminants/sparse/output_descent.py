"""Gradient steps on the weights of a fitted classifier, for any criterion of its log posteriors."""

import numpy as np
from sklearn.utils import check_random_state

from discriminants.logistic.checkpoint import Checkpoint
from discriminants.logistic.loss import log_sigmoid, loss_function
from discriminants.logistic.moments import whitening_of
from discriminants.logistic.preconditioned_descent import PreconditionedDescent
from discriminants.logistic.samples import within_reach
from discriminants.logistic.training import FitContext
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier


class OutputDescent:
    """Gradient ascent on the weights and biases of a `SparseKernelLogisticClassifier`, in place; its centers stay
    fixed.

    The caller supplies the criterion, which may use more than the class of each sample, such as the allowed sequences
    of classes. The coordinates are those of the fit, whitened by the centers and a part of these samples, drawn with
    `random_state`. The whitened weights of a class change by at most `learning_rate` (root mean square) in one step;
    the rate rises and then falls to zero over `n_steps`. Raises ValueError if the classifier has groups of classes.
    """

    def __init__(
        self,
        classifier: SparseKernelLogisticClassifier,
        X: np.ndarray,
        *,
        learning_rate: float,
        n_steps: int,
        random_state: int = 0,
        workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    ) -> None:
        if not isinstance(classifier.whole_loss, str):
            raise ValueError(
                f"groups = {classifier.groups!r} is not supported. Expected a classifier without groups of classes"
            )
        self.classifier = classifier
        n_classes = classifier.classes_.shape[0]
        codes, weight = np.zeros(X.shape[0], np.intp), np.ones(X.shape[0])
        random = check_random_state(random_state)
        with within_reach(X, workers) as source:
            training = FitContext(X, source, codes, weight, n_classes, workers, random, Checkpoint())
            centers = classifier.basis_centers_
            self._whitening = whitening_of(classifier.kernel_, centers, centers, training, classifier.damping)
        # Steps start from zero, so the part outside the whitened coordinates does not change.
        self._weights = np.zeros((self._whitening.transform.shape[1], n_classes))
        self._bias = np.zeros(n_classes)
        self._start = classifier.dual_coef_.astype(np.float64), classifier.intercept_.astype(np.float64)
        self._descent = PreconditionedDescent(self._weights, self._bias, learning_rate, n_steps)

    def step(self, gradient: np.ndarray) -> None:
        """Move the weights along a `weight_gradient`, a mean over samples, of shape (m + 1, n_classes)."""
        of_bias = gradient[-1].copy()
        of_weights = self._whitening.transform.T @ (gradient[:-1] - np.outer(self._whitening.mean, of_bias))
        self._descent.step(-of_weights, -of_bias)
        change = self._whitening.transform @ self._weights
        weights, bias = self._start
        dtype = self.classifier.basis_centers_.dtype
        self.classifier.dual_coef_ = (weights + change).astype(dtype)
        self.classifier.intercept_ = (bias + self._bias - self._whitening.mean @ change).astype(dtype)


def weight_gradient(
    classifier: SparseKernelLogisticClassifier,
    X: np.ndarray,
    slopes: np.ndarray,
    codes: np.ndarray,
    *,
    smoothing: float,
) -> np.ndarray:
    """Return the summed derivative of a criterion with respect to weights and biases, float64 (m + 1, n_classes).

    `slopes` (n_samples, n_classes) are its derivatives with respect to the log posteriors. Rows sum to zero: a gain
    shared by all classes of a sample has no effect. `smoothing` is the weight of the classifier's own loss, which is
    subtracted from the criterion (Povey and Woodland 2002 call it I-smoothing, Su et al. 2013 frame smoothing).
    """
    K = classifier.kernel_values(X)
    outputs = K @ classifier.dual_coef_ + classifier.intercept_
    derivative = slopes.astype(outputs.dtype)
    if classifier.whole_loss == "ovr":  # log sigmoid(f) has the derivative 1 - sigmoid(f) = sigmoid(-f)
        derivative *= np.exp(log_sigmoid(-outputs))
    loss_function(classifier.whole_loss)(outputs, codes, np.full(outputs.shape[0], smoothing))
    derivative -= outputs  # these now hold the derivative of the loss
    return np.vstack([K.T @ derivative, derivative.sum(axis=0, dtype=np.float64)]).astype(np.float64)
