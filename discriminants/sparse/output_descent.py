"""Weights of a fitted classifier, moved along the slope of any criterion of its log posteriors."""

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
    """Steps of the weights and biases of a `SparseKernelLogisticClassifier`, which it changes; its centres stay.

    The criterion is that of the caller, who knows more than the class of each sample: which sequences of classes may
    be, for instance. The coordinates are those of the fit, whitened by the centres and these samples, of which
    `random_state` draws some. A class's whitened weights change by at most `learning_rate` (root mean square) in one
    step; the rate rises and falls to zero over `n_steps`. Raises ValueError if the classifier has groups of classes.
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
            raise ValueError("the outputs of a classifier with groups of classes are not its log posteriors' alone")
        self.classifier = classifier
        n_classes = classifier.classes_.shape[0]
        codes, weight = np.zeros(X.shape[0], np.intp), np.ones(X.shape[0])
        random = check_random_state(random_state)
        with within_reach(X, workers) as source:
            training = FitContext(X, source, codes, weight, n_classes, workers, random, Checkpoint())
            centers = classifier.basis_centers_
            self._whitening = whitening_of(classifier.kernel_, centers, centers, training, classifier.damping)
        # Steps start from zero, so that what lies outside the whitened coordinates stays as it is.
        self._weights = np.zeros((self._whitening.transform.shape[1], n_classes))
        self._bias = np.zeros(n_classes)
        self._start = classifier.dual_coef_.astype(np.float64), classifier.intercept_.astype(np.float64)
        self._descent = PreconditionedDescent(self._weights, self._bias, learning_rate, n_steps)

    def step(self, gradient: np.ndarray) -> None:
        """Move the weights up a `weight_gradient`, a mean over samples, of shape (m + 1, n_classes)."""
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
    """The sum over samples of the derivative of a criterion by weights and biases, float64 (m + 1, n_classes).

    `slopes` (n_samples, n_classes) are its derivatives by the log posteriors. Rows sum to zero: what all classes of a
    sample gain counts for nothing. `smoothing` is the weight of the classifier's own loss, which is taken from the
    criterion (Povey and Woodland 2002 call it I-smoothing, Su et al. 2013 frame smoothing).
    """
    K = classifier.kernel_values(X)
    outputs = K @ classifier.dual_coef_ + classifier.intercept_
    derivative = slopes.astype(outputs.dtype)
    if classifier.whole_loss == "ovr":  # log sigmoid(f) has the derivative 1 - sigmoid(f) = sigmoid(-f)
        derivative *= np.exp(log_sigmoid(-outputs))
    loss_function(classifier.whole_loss)(outputs, codes, np.full(outputs.shape[0], smoothing))
    derivative -= outputs  # which are the derivative of the loss by now
    return np.vstack([K.T @ derivative, derivative.sum(axis=0, dtype=np.float64)]).astype(np.float64)
