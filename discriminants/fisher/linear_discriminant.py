"""Fisher's linear discriminant and its posterior (Andelic 2007, section 3.1)."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.one_vs_rest import winners
from discriminants.posteriors.output_models import POSTERIORS
from discriminants.util.estimator import NOT_NEGATIVE, estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.weights import CLASS_WEIGHTS, weights_of, with_positive_weight

_MIN_SHARE = 1e-12  # minimum fraction of a direction's total variance within the classes


@estimator
class LinearDiscriminant(ClassifierMixin, BaseEstimator):
    """Fisher's linear discriminant and its posterior (Andelic 2007, 3.11-3.19).

    w = S_W^-1 (m_+ - m_-) with the bias of Bayes' rule for normal classes with a common covariance.

    For two classes the output is t = w'x + b (3.17), w = Sigma^-1 (m_+ - m_-), the log odds of the second class of
    `classes_`. At the threshold zero the projected class densities, weighted by the priors, are equal. Sigma is S_W /
    N, the maximum-likelihood estimate, plus the ridge if `regularization` is positive.

    With more classes the within-class scatter is shared by all, as in Fisher's criterion. The output of class c is its
    log posterior up to a term common to all classes, (m_c - m)' Sigma^-1 (x - (m_c + m) / 2) + log P(c), m the mean of
    all samples. The difference of any two outputs is their (3.17). One-vs-rest least squares would never predict a
    class between two others.

    A direction in which all samples are equal has weight zero. Time is O(N d^2 + d^3).

    Parameters
    ----------
    regularization : float
        mu >= 0, added to the diagonal of S_W, which is unnormalized; in squared units of X.
    posterior : str
        "equal_covariance" is (3.15), always consistent with `predict`. The names of
        `discriminants.posteriors.output_models.POSTERIORS` fit a separate model to the outputs of the training samples;
        "gaussian" gives every projected class its own variance.
    decide_by : {"posterior", "output"}
        `predict` returns the class with the largest posterior, or the class with the largest output.
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied by the sample weights. "balanced" gives equal priors.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features), float64
        One output for two classes, else one per class.
    intercept_ : ndarray of shape (n_outputs,), float64
    classes_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features), float64
    priors_ : ndarray of shape (n_classes,)
        Fractions of the training samples.
    posterior_ : fitted output model, or None for "equal_covariance"

    References
    ----------
    R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 1936.

    See Also
    --------
    KFDClassifier : the same in the space of a kernel.
    """

    regularization: float = parameter(NOT_NEGATIVE, default=0.0)
    posterior: str = parameter({"equal_covariance", *POSTERIORS}, default="equal_covariance")
    decide_by: str = parameter({"posterior", "output"}, default="posterior")
    class_weight: Any = parameter(*CLASS_WEIGHTS, default=None)
    _takes_weights: ClassVar[bool] = True

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the directions and biases.

        Raises
        ------
        ValueError
            For fewer than two classes or constant samples. Also if `regularization` is zero and classes differ in a
            direction in which they have no variance (always so with more features than samples).
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        X, y, weight = with_positive_weight(self, X, y, weights_of(self, X, y, sample_weight))
        self.classes_, codes = class_codes(y)
        counts = np.bincount(codes, weight)
        self.priors_ = counts / counts.sum()
        self.means_, within = _means_and_scatter(X, codes, self.classes_.shape[0], weight)
        mean = self.priors_ @ self.means_
        between = np.sqrt(counts)[:, None] * (self.means_ - mean)
        within.flat[:: within.shape[0] + 1] += self.regularization
        whitening = _whitening(within, between, varying=X.max(axis=0) > X.min(axis=0)) * np.sqrt(counts.sum())
        whitened = (self.means_ - mean) @ whitening
        coef = whitened @ whitening.T
        intercept = np.log(self.priors_) - 0.5 * np.einsum("ij,ij->i", whitened, whitened) - coef @ mean
        if self.classes_.shape[0] == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError(
                f"{type(self).__name__} has weights that are not finite: values of X are too large or too small. "
                "Scale X"
            )
        self.coef_, self.intercept_ = coef, intercept
        self.posterior_ = None
        if self.posterior != "equal_covariance":
            self.posterior_ = POSTERIORS[self.posterior]().fit(self._outputs(X), codes, weight)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Outputs of shape (n_samples, n_classes), or (n_samples,) for two classes, positive for the second."""
        outputs = self._outputs(self._checked(X))
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the largest posterior, or with `decide_by="output"` the largest output."""
        outputs = self._outputs(self._checked(X))
        if self.posterior_ is not None and self.decide_by == "posterior":
            return self.classes_[self.posterior_.predict_log_proba(outputs).argmax(axis=1)]
        return self.classes_[winners(outputs)]

    def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
        """Return natural log posteriors, shape (n_samples, n_classes)."""
        outputs = self._outputs(self._checked(X))
        if self.posterior_ is not None:
            return self.posterior_.predict_log_proba(outputs)
        both = np.hstack([-outputs, outputs])
        log_proba = log_expit(both) if outputs.shape[1] == 1 else log_softmax(outputs, axis=1)
        return np.where(np.exp(log_proba) < 1, log_proba, 0)  # the log of a posterior that rounds to one is zero

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return posteriors, shape (n_samples, n_classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))

    def _checked(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        return checked_samples(self, X, reset=False)

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return outputs (n_samples, n_outputs), computed in float64 against cancellation, in the type of X."""
        return (X @ self.coef_.T + self.intercept_).astype(X.dtype)


def _means_and_scatter(
    X: np.ndarray, codes: np.ndarray, n_classes: int, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return class means (3.1) and within-class scatter (3.7), computed class by class in float64."""
    means, scatter = np.empty((n_classes, X.shape[1])), np.zeros((X.shape[1], X.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # rejected by `_whitening`
        for c in range(n_classes):
            samples = X[codes == c].astype(np.float64)
            own = None if weight is None else weight[codes == c]
            means[c] = np.average(samples, axis=0, weights=own)
            samples -= means[c]
            scatter += samples.T @ (samples if own is None else own[:, None] * samples)
    return means, scatter


def _whitening(within: np.ndarray, between: np.ndarray, varying: np.ndarray) -> np.ndarray:
    """Return V (n_features, rank) with VV' the inverse of `within` on the directions in which samples differ.

    `within` includes the ridge, `between' between` is the total scatter less that within the classes, and `varying`
    marks the features that are not constant.
    """
    if not varying.any():
        raise ValueError("all samples are equal: every feature is constant. Expected samples that differ")
    with np.errstate(over="ignore", invalid="ignore"):
        total = within + between.T @ between
    energy = total.diagonal()[varying]
    if not (np.isfinite(total).all() and (energy >= np.finfo(np.float64).tiny).all()):
        raise ValueError(
            "the squared deviations of the features are too large or too small for float64: "
            f"{energy.min():.3g} to {energy.max():.3g}. Scale the features"
        )
    scale = np.where(varying, 1.0 / np.sqrt(np.where(varying, total.diagonal(), 1.0)), 0.0)
    eigenvalues, vectors = np.linalg.eigh(scale[:, None] * total * scale)
    kept = eigenvalues > 10 * scale.shape[0] * np.finfo(np.float64).eps * eigenvalues[-1]
    basis = scale[:, None] * vectors[:, kept] / np.sqrt(eigenvalues[kept])  # the total scatter becomes the identity
    shares, vectors = np.linalg.eigh(basis.T @ within @ basis)
    if shares[0] < _MIN_SHARE:
        raise ValueError(
            "S_W is singular: the classes differ in a direction in which they have no variance. "
            "Use regularization > 0, more samples, or fewer features"
        )
    return basis @ (vectors / np.sqrt(shares))
