"""Models that turn outputs of discriminants into class posteriors."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discriminants.kernels.kernel import float_type
from discriminants.logistic.loss import log_sigmoid
from discriminants.util.estimator import estimator, field

_MIN_DEVIATION = 1e-6  # of an output within a class, relative to its standard deviation over all samples
_MAX_SQUARE = 1e200  # of a standardized output: differences and sums of these squares stay finite
_MAX_SCORE = 1e300
_NEWTON_STEPS, _SIGMOID_TOLERANCE, _SIGMOID_RIDGE, _MIN_STEP = 100, 1e-10, 1e-12, 1e-10
_MIN_SLOPE = 1e-5  # of a sigmoid, in log odds per standard deviation of the output


def unit_length_outputs(outputs: np.ndarray, dual_coef: np.ndarray) -> np.ndarray:
    """Return outputs (n, S) for weight vectors scaled to length one (Andelic 2007, 4.2.1)."""
    length = np.linalg.norm(dual_coef, axis=0)
    return outputs / np.where(length > 0, length, 1.0).astype(outputs.dtype)


@estimator
class _OutputModel(BaseEstimator):
    """Base class that documents the arguments of `fit`."""

    def fit(self, outputs: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Learn posteriors from outputs.

        Parameters
        ----------
        outputs : ndarray of shape (n_samples, n_classes) or (n_samples, 1)
            One output for two classes, positive for class 1.
        y : ndarray of int of shape (n_samples,)
            Class numbers 0 to n_classes - 1.
        sample_weight : ndarray of shape (n_samples,), optional
            Number of samples that each sample counts as; positive.
        even_at_zero : bool
            Whether two classes are equally probable at output zero, because zero is a threshold. Ignored for more than
            two classes.

        Raises
        ------
        ValueError
            If a class has no sample or all samples, or outputs are so large that their variance is not finite.
        """
        raise NotImplementedError


@estimator
class GaussianOutputModel(_OutputModel):
    """One-vs-rest outputs as Gaussian within the class and within the rest, combined by Bayes' rule and normalized.

    p(q | class) and p(q | rest) are normal densities (Andelic 2007, 4.7; sigma_i^2 is the variance). The prior is the
    class's share of the training samples. The one-vs-rest posteriors need not sum to one and are normalized over the
    classes. Two classes have one output, whose posteriors need no normalization.

    Attributes
    ----------
    means_, variances_ : ndarray of shape (2, n_outputs)
        Row 0 is for the class, row 1 for the rest.
    log_priors_ : ndarray of shape (2, n_outputs)
    n_classes_ : int

    See Also
    --------
    PlattOutputModel : a sigmoid for each output.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import GaussianOutputModel
    >>> model = GaussianOutputModel().fit(np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))
    >>> np.exp(model.predict_log_proba(np.array([[1.5]]))).argmax(axis=1)
    array([1])
    """

    def fit(self, outputs: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Estimate the densities."""
        outputs, y, self.n_classes_ = _checked(outputs, y)
        n_outputs = outputs.shape[1]
        self.means_, self.variances_ = np.empty((2, n_outputs)), np.empty((2, n_outputs))
        self.log_priors_ = np.empty((2, n_outputs))
        weight = np.ones(y.shape[0]) if sample_weight is None else sample_weight
        for s in range(n_outputs):
            output = outputs[:, s].astype(np.float64)
            inside = y == (s if n_outputs > 1 else 1)
            floor = _MIN_DEVIATION**2 * max(_moments(output, weight)[1], np.finfo(float).tiny)
            for row, part in enumerate((inside, ~inside)):
                self.means_[row, s], variance = _moments(output[part], weight[part])
                self.variances_[row, s] = max(variance, floor)
                self.log_priors_[row, s] = np.log(weight[part].sum() / weight.sum())
        return self

    def predict_log_proba(self, outputs: np.ndarray) -> np.ndarray:
        """Natural log posteriors, float32 or float64 like the outputs, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        with np.errstate(over="ignore"):
            inside, rest = (
                self.log_priors_[k]
                - 0.5
                * (
                    np.log(self.variances_[k])
                    + np.minimum((outputs - self.means_[k]) ** 2 / self.variances_[k], _MAX_SQUARE)
                )
                for k in (0, 1)
            )
        return finite_log_proba(log_proba_from_odds(inside - rest), outputs)


@estimator
class PlattOutputModel(_OutputModel):
    """One sigmoid for each one-vs-rest output, normalized over the classes; for two classes one sigmoid.

    P(class | q) = 1 / (1 + exp(-(a q + b))) (Platt 1999, with a = -A and b = -B). The cross-entropy uses his smoothed
    targets (N+ + 1) / (N+ + 2) and 1 / (N- + 2) instead of 1 and 0. The slope then stays finite if the outputs separate
    the classes. The minimum is found by Newton's method with step halving (Lin, Lin and Weng 2007).

    A larger output never has a smaller probability. Without signal, outputs of left-out samples can have a best slope
    below zero. The slope is then set to 1e-5 per standard deviation of the output, and the probabilities are near the
    priors. The normalization over more than two classes is that of Zadrozny and Elkan (2002).

    Attributes
    ----------
    slopes_, offsets_ : ndarray of shape (n_outputs,)
        a and b.
    n_classes_ : int

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines, 1999. H.-T. Lin, C.-J. Lin, R. Weng, A note on
    Platt's probabilistic outputs for support vector machines, 2007. B. Zadrozny, C. Elkan, Transforming
    classifier scores into accurate multiclass probability estimates, 2002.

    See Also
    --------
    GaussianOutputModel : normal densities of the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import PlattOutputModel
    >>> model = PlattOutputModel().fit(np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))
    >>> np.exp(model.predict_log_proba(np.array([[1.5]]))).argmax(axis=1)
    array([1])
    """

    def fit(
        self,
        outputs: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        *,
        even_at_zero: bool = False,
    ) -> Self:
        """Fit the sigmoids."""
        outputs, y, self.n_classes_ = _checked(outputs, y)
        n_outputs = outputs.shape[1]
        free_offset = n_outputs > 1 or not even_at_zero
        self.slopes_, self.offsets_ = np.empty(n_outputs), np.empty(n_outputs)
        weight = np.ones(y.shape[0]) if sample_weight is None else sample_weight
        for s in range(n_outputs):
            output = outputs[:, s].astype(np.float64)
            mean, variance = _moments(output, weight)
            deviation = float(np.sqrt(variance)) or 1.0
            origin = mean if free_offset else 0.0
            positive = y == (s if n_outputs > 1 else 1)
            slope, offset = fit_sigmoid((output - origin) / deviation, positive, weight, free_offset=free_offset)
            self.slopes_[s] = slope / deviation
            self.offsets_[s] = offset - self.slopes_[s] * origin
        return self

    def predict_log_proba(self, outputs: np.ndarray) -> np.ndarray:
        """Natural log posteriors, float32 or float64 like the outputs, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        scores = _bounded(outputs, np.abs(self.slopes_)) * self.slopes_ + self.offsets_
        return finite_log_proba(log_proba_from_odds(scores), outputs)


def fit_sigmoid(
    output: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None, *, free_offset: bool = True
) -> tuple[float, float]:
    """Return slope and offset of Platt's sigmoid for one output, with the slope held above a small positive bound.

    The output must have a scale of about one, because the bound and the safeguards of the Newton steps are absolute.
    `weight` is the number of samples that each sample counts as. Without `free_offset` the offset is zero.
    """
    weight = np.ones(positive.shape[0]) if weight is None else weight
    n_positive = float(weight[positive].sum())
    n_negative = float(weight.sum()) - n_positive
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    priors = np.log((n_positive + 1) / (n_negative + 1))
    if not free_offset:
        (slope,) = _newton(output[None], np.zeros_like(output), np.zeros(1), target, weight)
        return max(float(slope), _MIN_SLOPE), 0.0
    one = np.ones_like(output)
    slope, offset = _newton(np.stack([output, one]), np.zeros_like(output), np.array([0.0, priors]), target, weight)
    if slope < _MIN_SLOPE:  # the loss is convex, so its constrained minimum lies on the bound
        slope = _MIN_SLOPE
        (offset,) = _newton(one[None], slope * output, np.array([priors]), target, weight)
    return float(slope), float(offset)


def _newton(
    features: np.ndarray, known: np.ndarray, parameters: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Minimize the cross-entropy of sigmoids of known + parameters @ features, starting from the given parameters."""

    def cross_entropy(parameters: np.ndarray) -> float:
        score = known + parameters @ features
        return float((np.maximum(score, 0.0) - target * score + np.log1p(np.exp(-np.abs(score)))) @ weight)

    value, n_samples = cross_entropy(parameters), float(weight.sum())
    ridge = _SIGMOID_RIDGE * np.eye(parameters.shape[0])
    for _ in range(_NEWTON_STEPS):
        probability = np.exp(log_sigmoid(known + parameters @ features))
        gradient = features @ (weight * (probability - target))
        if np.abs(gradient).max() < _SIGMOID_TOLERANCE * n_samples:
            break
        hessian = (features * (weight * probability * (1.0 - probability))) @ features.T + ridge
        direction = -np.linalg.solve(hessian, gradient)
        slope, step = float(gradient @ direction), 1.0
        while (trial := cross_entropy(parameters + step * direction)) > value + 1e-4 * step * slope:
            step /= 2
            if step < _MIN_STEP:  # the decrease would be below rounding
                return parameters
        parameters, value = parameters + step * direction, trial
    return parameters


@estimator
class LogisticOutputModel(_OutputModel):
    """A full multinomial logistic layer on the outputs, or for two classes the sigmoid of `PlattOutputModel`.

    Both parameters are ignored for two classes.

    Parameters
    ----------
    C : float
        Inverse strength of the ridge penalty on the layer's weights; outputs are standardized first.
    max_samples : int
        Maximum number of samples, evenly spaced, used to fit the small layer.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_classes)
    intercept_ : ndarray of shape (n_classes,)

    See Also
    --------
    PlattOutputModel : a sigmoid for each output.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LogisticOutputModel
    >>> model = LogisticOutputModel().fit(np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))
    >>> np.exp(model.predict_log_proba(np.array([[1.5]]))).argmax(axis=1)
    array([1])
    """

    C: float = field(default=1.0, kw_only=False)
    max_samples: int = field(default=50_000, kw_only=False)

    def fit(
        self,
        outputs: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        *,
        even_at_zero: bool = False,
    ) -> Self:
        """Fit the layer."""
        from sklearn.linear_model import LogisticRegression

        outputs, y, n_classes = _checked(outputs, y)
        if n_classes == 2:
            sigmoid = PlattOutputModel().fit(outputs, y, sample_weight, even_at_zero=even_at_zero)
            self.coef_, self.intercept_ = sigmoid.slopes_ * [[-0.5, 0.5]], sigmoid.offsets_ * [-0.5, 0.5]
            return self
        outputs = outputs.astype(np.float64)
        weight = np.ones(y.shape[0]) if sample_weight is None else sample_weight
        mean, variance = np.array([_moments(output, weight) for output in outputs.T]).T
        rows = np.arange(y.shape[0])
        if rows.shape[0] > self.max_samples:
            even = np.linspace(0, rows.shape[0] - 1, self.max_samples).astype(int)
            _, first = np.unique(y, return_index=True)
            rows = np.union1d(even, first)  # keep every class
        deviation = np.sqrt(variance)
        deviation[deviation == 0] = 1.0
        layer: Any = LogisticRegression(C=self.C, max_iter=300)
        with warnings.catch_warnings():  # scikit-learn suspects a regression if there are many classes
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            layer.fit((outputs[rows] - mean) / deviation, y[rows], None if sample_weight is None else weight[rows])
        self.coef_ = (layer.coef_ / deviation).T
        self.intercept_ = layer.intercept_ - mean @ self.coef_
        return self

    def predict_log_proba(self, outputs: np.ndarray) -> np.ndarray:
        """Natural log posteriors, float32 or float64 like the outputs, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        strength = np.abs(self.coef_).sum(axis=0).max()
        return finite_log_proba(_normalized(_bounded(outputs, strength) @ self.coef_ + self.intercept_), outputs)


def _checked(outputs: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return outputs, class numbers and the number of classes, after checking that each class has samples."""
    outputs, y = np.asarray(outputs), np.asarray(y)
    n_classes = max(2, outputs.shape[1])
    counts = np.bincount(y, minlength=n_classes)
    if counts.shape[0] != n_classes or counts.min() == 0:
        raise ValueError(f"every class from 0 to {n_classes - 1} needs samples, got counts {counts}")
    return outputs, y, n_classes


def _moments(output: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Mean and variance."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.average(output, weights=weight))
        variance = float(np.average((output - mean) ** 2, weights=weight))
    if not np.isfinite(variance):
        raise ValueError(f"the variance of outputs up to {np.abs(output).max():.3g} overflows. Scale the outputs down")
    return mean, variance


def _bounded(outputs: np.ndarray, strength: np.ndarray | float) -> np.ndarray:
    """Return outputs in float64, clipped so that a linear map with weights of sum `strength` cannot overflow."""
    limit = _MAX_SCORE / (1.0 + strength)
    return np.clip(outputs.astype(np.float64), -limit, limit)


def log_proba_from_odds(scores: np.ndarray) -> np.ndarray:
    """Return log posteriors (n_samples, n_classes) from the log odds of each class against the rest, or of class 1
    alone.
    """
    if scores.shape[1] == 1:
        return np.hstack([log_sigmoid(-scores), log_sigmoid(scores)])
    return _normalized(log_sigmoid(scores))


def finite_log_proba(log_proba: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Convert to the float type of `like`, clipping values below its range."""
    dtype = float_type(like)
    return np.maximum(log_proba, np.finfo(dtype).min).astype(dtype)


def _normalized(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


POSTERIORS: dict[str, Any] = {
    "gaussian": GaussianOutputModel,
    "platt": PlattOutputModel,
    "multinomial": LogisticOutputModel,
}
