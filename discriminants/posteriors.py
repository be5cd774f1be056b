"""From the outputs of discriminants to class posteriors."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

_SMALLEST_DEVIATION = 1e-6  # of an output within a class, relative to its deviation over all samples


def unit_length_outputs(outputs: np.ndarray, dual_coef: np.ndarray) -> np.ndarray:
    """Outputs (n, S) as they would be with every weight vector scaled to length one (Andelic 2007, 4.2.1)."""
    length = np.linalg.norm(dual_coef, axis=0)
    return outputs / np.where(length > 0, length, 1.0).astype(outputs.dtype)


class GaussianOutputModel(BaseEstimator):
    """Every one-vs-rest output is Gaussian within its class and within the rest; Bayes' rule, then
    normalised.

    p(q | class) and p(q | rest) are normal densities (Andelic 2007, 4.7; sigma_i^2 is the variance), the
    prior is the class's share of the training samples. The one-vs-rest posteriors need not sum to one and are
    normalised over the classes. With two classes there is one output, and nothing to normalise.

    Attributes
    ----------
    means_, variances_ : ndarray of shape (2, n_outputs)
        Row 0 the class, row 1 the rest.
    log_priors_ : ndarray of shape (2, n_outputs)
    n_classes_ : int
    """

    def fit(self, outputs: np.ndarray, y: np.ndarray) -> Self:
        """Estimate the densities.

        Parameters
        ----------
        outputs : ndarray of shape (n_samples, n_classes), or (n_samples, 1) for two classes, positive for
        class 1
        y : ndarray of int of shape (n_samples,)
            Class numbers 0 to n_classes - 1.

        Raises
        ------
        ValueError
            If a class has no sample or holds all of them.
        """
        outputs, y = np.asarray(outputs), np.asarray(y)
        n_outputs = outputs.shape[1]
        self.n_classes_ = max(2, n_outputs)
        counts = np.bincount(y, minlength=self.n_classes_)
        if counts.shape[0] != self.n_classes_ or counts.min() == 0:
            raise ValueError(f"all classes of 0..{self.n_classes_ - 1} need samples, got counts {counts}")
        self.means_, self.variances_ = np.empty((2, n_outputs)), np.empty((2, n_outputs))
        self.log_priors_ = np.empty((2, n_outputs))
        for s in range(n_outputs):
            output = outputs[:, s].astype(np.float64)
            inside = y == (s if n_outputs > 1 else 1)
            floor = _SMALLEST_DEVIATION**2 * max(output.var(), np.finfo(float).tiny)
            for row, part in enumerate((output[inside], output[~inside])):
                self.means_[row, s] = part.mean()
                self.variances_[row, s] = max(part.var(), floor)
                self.log_priors_[row, s] = np.log(part.shape[0] / y.shape[0])
        return self

    def predict_log_proba(self, outputs: np.ndarray) -> np.ndarray:
        """Natural log posteriors, float32 or float64 like the outputs, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        inside, rest = (
            self.log_priors_[k]
            - 0.5 * (np.log(self.variances_[k]) + (outputs - self.means_[k]) ** 2 / self.variances_[k])
            for k in (0, 1)
        )
        both = np.logaddexp(inside, rest)
        if outputs.shape[1] == 1:
            return np.hstack([rest - both, inside - both]).astype(outputs.dtype)
        return _normalised(inside - both).astype(outputs.dtype)


class LogisticOutputModel(BaseEstimator):
    """A full multinomial logistic layer on the outputs; for two classes Platt's sigmoid.

    Parameters
    ----------
    C : float
        Inverse strength of the ridge on the layer's weights (outputs are standardised first).
    max_samples : int
        At most this many samples, evenly spaced, are used: the layer is small.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_classes)
    intercept_ : ndarray of shape (n_classes,)
    """

    def __init__(self, C: float = 1.0, max_samples: int = 50_000) -> None:
        self.C = C
        self.max_samples = max_samples

    def fit(self, outputs: np.ndarray, y: np.ndarray) -> Self:
        """Fit the layer to outputs (n_samples, n_outputs) and class numbers (n_samples,)."""
        from sklearn.linear_model import LogisticRegression

        outputs = np.asarray(outputs, dtype=np.float64)
        y = np.asarray(y)
        n_classes = max(2, outputs.shape[1])
        rows = np.arange(y.shape[0])
        if rows.shape[0] > self.max_samples:
            even = np.linspace(0, rows.shape[0] - 1, self.max_samples).astype(int)
            _, first = np.unique(y, return_index=True)
            rows = np.union1d(even, first)  # every class stays
        mean, deviation = outputs.mean(axis=0), outputs.std(axis=0)
        deviation[deviation == 0] = 1.0
        layer: Any = LogisticRegression(C=self.C, max_iter=300).fit((outputs[rows] - mean) / deviation, y[rows])
        if layer.classes_.shape[0] != n_classes:
            raise ValueError(f"every class of 0..{n_classes - 1} needs samples, got only {layer.classes_}")
        coef = (layer.coef_ / deviation).T
        intercept = layer.intercept_ - mean @ coef
        if n_classes == 2:
            coef, intercept = np.hstack([-coef, coef]) / 2, np.concatenate([-intercept, intercept]) / 2
        self.coef_, self.intercept_ = coef, intercept
        return self

    def predict_log_proba(self, outputs: np.ndarray) -> np.ndarray:
        """Natural log posteriors, float32 or float64 like the outputs, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return _normalised(outputs @ self.coef_ + self.intercept_).astype(outputs.dtype)


def _normalised(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


POSTERIORS = {"gaussian": GaussianOutputModel, "logistic": LogisticOutputModel}
