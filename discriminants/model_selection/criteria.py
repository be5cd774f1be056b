"""Criteria for kernels and penalties, as functions of a fitted estimator and its training samples."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from discriminants.linear_systems.kernel_values import kernel_matrix
from discriminants.linear_systems.weighted_ridge import WeightedRidge
from discriminants.lssvm.lssvm import LSSVM, LSSVMClassifier
from discriminants.multiclass.labels import codes_among, one_vs_rest_targets

_TRIMMED = 0.2  # fraction of the largest squares left out
_HUBER = 1.5 * 1.4826  # median absolute residuals at which the loss becomes linear
_NORMAL_RANGE = 1.349  # interquartile range of the standard normal distribution


def mean_square(residuals: np.ndarray) -> float:
    """Return the mean square of residuals (n_samples,)."""
    return float(np.mean(residuals**2))


def huber_mean(residuals: np.ndarray) -> float:
    """Return the mean of Huber's loss: squares up to 1.5 standard deviations, linear above.

    The deviation is 1.4826 times the median absolute residual. It is the mean square if most residuals are 0.
    """
    size = np.abs(residuals)
    knee = _HUBER * float(np.median(size))
    return (
        mean_square(residuals) if knee == 0 else float(np.where(size > knee, (2 * size - knee) * knee, size**2).mean())
    )


def trimmed_mean(residuals: np.ndarray) -> float:
    """Return the mean of all squares but the largest fifth, the (0, 0.2)-trimmed mean (5.27, 5.39)."""
    n_kept = residuals.shape[0] - int(_TRIMMED * residuals.shape[0])
    return float(np.sort(residuals**2)[:n_kept].mean())


def interquartile_variance(residuals: np.ndarray) -> float:
    """Return the variance of a normal variable with the same interquartile range."""
    low, high = np.quantile(residuals, [0.25, 0.75])
    return float(((high - low) / _NORMAL_RANGE) ** 2)


MEANS: Mapping[str, Callable[[np.ndarray], float]] = {
    "leave_one_out": mean_square,
    "huber": huber_mean,
    "trimmed": trimmed_mean,
    "interquartile": interquartile_variance,
}
"""Estimates from leave-one-out residuals, by criterion."""


_MAX_STEPS = 100  # for each sample


def squared_radius(K: np.ndarray, tol: float = 1e-6) -> float:
    """Return the squared radius of the smallest ball for the kernel matrix K (n_samples, n_samples).

    The dual problem is to maximize sum_i l_i K_ii - l'Kl over l >= 0 with the sum 1 (Suykens et al. 2002, 2.39). Each
    step moves weight between two samples, the most distant one and the one that gains most. The result is within `tol`
    of the radius, relative to it, unless there are more than 100 steps for each sample.
    """
    n_samples = K.shape[0]
    own = K.diagonal().copy()
    weights = np.full(n_samples, 1.0 / n_samples)
    products = K @ weights
    for _ in range(_MAX_STEPS * n_samples):
        slopes = own - 2.0 * products  # squared distances to the center, up to a constant
        far = int(np.argmax(slopes))
        lower = slopes[far] - slopes
        radius = float(weights @ (own - products))
        if weights @ lower <= tol * max(radius, 0.0):
            break
        curvature = np.maximum(own[far] + own - 2.0 * K[far], np.finfo(float).tiny)
        gains = np.where(weights > 0, lower**2 / curvature, -1.0)
        near = int(np.argmax(gains))
        step = min(weights[near], 0.5 * lower[near] / curvature[near])
        weights[far] += step
        weights[near] -= step
        products += step * (K[far] - K[near])
    return max(float(weights @ (own - products)), 0.0)


def kernel_alignment(K: np.ndarray, targets: np.ndarray) -> float:
    """Return the cosine between the centered matrices K and TT' of N samples, 0 if one of them is zero.

    K is (n_samples, n_samples) and T are `targets` (n_samples, n_targets). The criterion of Cristianini et al. (On
    kernel-target alignment, NIPS 14, 2002) with centering (Cortes, Mohri and Rostamizadeh, JMLR 13, 2012).
    """
    centered = K - K.mean(axis=0)
    centered -= centered.mean(axis=1)[:, None]
    T = targets - targets.mean(axis=0)
    norms = float(np.linalg.norm(centered) * np.linalg.norm(T.T @ T))
    return float(np.vdot(T, centered @ T)) / norms if norms > 0 else 0.0


FACTORS: Mapping[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "fpe": lambda share, n_samples: (1 + share) / (1 - share),
    "gcv": lambda share, n_samples: 1 / (1 - share) ** 2,
    "shibata": lambda share, n_samples: 1 + 2 * share,
    "schwarz": lambda share, n_samples: 1 + share * np.log(n_samples) / (2 * (1 - share)),
}
"""Factors of the mean squared training error for the share d / N of effective parameters (Suykens et al. 2002,
2.59-2.62).
"""
CRITERIA = (*MEANS, *FACTORS, "evidence", "alignment", "radius_margin")


def selection_criterion(estimator: Any, X: Any, y: Any, criterion: str = "leave_one_out") -> float:
    """Compute a criterion of a fitted estimator from its training samples; smaller is better.

    Parameters
    ----------
    estimator : estimator
        Fitted to X and y without sample weights; the last step of a pipeline counts.
    X : array-like of shape (n_samples, n_features)
        Training samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their targets.
    criterion : str
        - "leave_one_out": mean square of the closed-form leave-one-out residuals. Robust against outliers of y (Suykens
          et al. 2002, 5.37-5.40, with one sample per fold): "huber", mean of Huber's loss; "trimmed", mean of all
          squares but the largest fifth; "interquartile", from the interquartile range of the residuals.
        - "fpe", "gcv", "shibata", "schwarz": the mean squared training error times a factor for the effective number of
          parameters (2.59-2.62): Akaike's final prediction error, generalized cross-validation, Shibata's criterion,
          and that of Schwarz, whose factor increases with N.
        - "evidence": minus the log evidence of a `BayesianLSSVMRegressor` or `BayesianLSSVMClassifier`.
        - "alignment": minus the centered alignment of kernel and targets, for every kernel learner (Cristianini et al.
          2002). It does not depend on the penalty.
        - "radius_margin": r^2 |w|^2 / N, the bound of the leave-one-out error of a large-margin classifier, for
          `LSSVMClassifier` (2.36-2.39). As for other machines with squared slacks, the kernel is K + mu I (Chapelle et
          al. 2002).

    Returns
    -------
    float
        The mean over the outputs, or over the two-class tasks of a classifier.

    Raises
    ------
    ValueError
        If the criterion is unknown or does not support the estimator, or X are not the training samples.

    References
    ----------
    O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, Choosing multiple parameters for support vector machines,
    Machine Learning 46, 2002, 131-159. N. Cristianini et al., On kernel-target alignment, NIPS 14, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LSSVMRegressor, selection_criterion
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> models = [LSSVMRegressor(sigma=sigma, regularization=0.1).fit(X, y) for sigma in (0.1, 1.0, 10.0)]
    >>> [round(selection_criterion(model, X, y, "gcv"), 3) for model in models]
    [0.028, 0.008, 0.218]
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    if isinstance(estimator, Pipeline):
        X, estimator = estimator[:-1].transform(X) if len(estimator) > 1 else X, estimator[-1]
    check_is_fitted(estimator)
    X, y = np.asarray(X), np.asarray(y)
    if criterion == "evidence":
        return -float(np.mean(_learned(estimator, "log_evidence_")))
    if criterion == "alignment":
        K = kernel_matrix(_learned(estimator, "kernel_"), X, X)
        return -kernel_alignment(K, _one_vs_rest(estimator, y))
    if criterion == "radius_margin":
        return _radius_margin(estimator, X, y)
    if criterion in MEANS:
        return float(np.mean([MEANS[criterion](residuals) for residuals in _left_out(estimator, X, y).T]))
    return _corrected(estimator, X, y, criterion)


def criterion_scorer(criterion: str) -> Callable[[Any, Any, Any], float]:
    """Return a scorer (estimator, X, y) -> minus `selection_criterion`, for the `scoring` of a search.

    All samples are both training and test samples: `cv=[(rows, rows)]` with `rows = np.arange(n_samples)`.

    Parameters
    ----------
    criterion : str
        As in `selection_criterion`.

    Returns
    -------
    callable
        Larger is better.

    Raises
    ------
    ValueError
        If the criterion is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from discriminants import LSSVMClassifier, criterion_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> rows, grid = np.arange(150), {"sigma": [0.1, 1.0, 10.0], "regularization": [0.1]}
    >>> search = GridSearchCV(LSSVMClassifier(), grid, scoring=criterion_scorer("trimmed"), cv=[(rows, rows)])
    >>> bool(search.fit(X, y).score(X, y) < 0)
    True
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    return partial(_score, criterion=criterion)


def _score(estimator: Any, X: Any, y: Any, criterion: str) -> float:
    return -selection_criterion(estimator, X, y, criterion)


def _one_vs_rest(estimator: Any, y: np.ndarray) -> np.ndarray:
    """Return targets (n_samples, n_targets): those of a regressor, or +-1 for each class."""
    if is_classifier(estimator):
        return one_vs_rest_targets(codes_among(estimator.classes_, y), estimator.classes_.shape[0]).astype(np.float64)
    return np.asarray(y[:, None] if y.ndim == 1 else y, dtype=np.float64)


def _machine(estimator: Any, X: np.ndarray, y: np.ndarray) -> tuple[WeightedRidge, np.ndarray, np.ndarray]:
    """Return the solution of a machine, its kernel matrix, and its targets (n_samples, n_targets)."""
    if not isinstance(estimator, LSSVM) or hasattr(estimator, "robust_weights_"):
        raise ValueError(f"this criterion supports LSSVMRegressor and LSSVMClassifier, got {type(estimator).__name__}")
    _require_training_samples(estimator, X)
    targets = _one_vs_rest(estimator, y)
    if isinstance(estimator, LSSVMClassifier):
        targets = estimator.code_[codes_among(estimator.classes_, y)].astype(np.float64)
        if not targets.all():
            raise ValueError(f"this criterion needs tasks on all samples, got coding = {estimator.coding!r}")
    K = kernel_matrix(estimator.kernel_, X, X)
    return WeightedRidge(K.copy(), targets, estimator.regularization_), K, targets


def _learned(estimator: Any, name: str) -> Any:
    if not hasattr(estimator, name):
        raise ValueError(f"{type(estimator).__name__} has no attribute {name}, which this criterion needs")
    return getattr(estimator, name)


def _require_training_samples(estimator: Any, X: np.ndarray) -> None:
    centers = _learned(estimator, "basis_centers_")
    if centers.shape[0] != X.shape[0] or not (np.array_equal(centers, X) or centers.shape[1] == 0):
        raise ValueError(
            f"the {X.shape[0]} samples are not the {centers.shape[0]} centers of {type(estimator).__name__}. Expected "
            "the training samples. In a search use cv = [(rows, rows)] with rows = np.arange(n_samples)"
        )


def _left_out(estimator: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return leave-one-out residuals (n_samples, n_targets)."""
    residuals = getattr(estimator, "leave_one_out_residuals_", None)
    if residuals is None:
        return _machine(estimator, X, y)[0].leave_one_out_residuals()
    _require_training_samples(estimator, X)
    return np.reshape(residuals, (X.shape[0], -1))


def _corrected(estimator: Any, X: np.ndarray, y: np.ndarray, criterion: str) -> float:
    n_samples = X.shape[0]
    if hasattr(estimator, "effective_parameters_") and not is_classifier(estimator):
        residuals = _one_vs_rest(estimator, y) - np.reshape(estimator.predict(X), (n_samples, -1))
        n_parameters = estimator.effective_parameters_
    else:
        solution = _machine(estimator, X, y)[0]
        residuals, n_parameters = solution.residuals, solution.effective_parameters()
    errors = np.mean(residuals**2, axis=0) * FACTORS[criterion](np.asarray(n_parameters) / n_samples, n_samples)
    return float(np.mean(errors))


def _radius_margin(estimator: Any, X: np.ndarray, y: np.ndarray) -> float:
    if not is_classifier(estimator):
        raise ValueError(f"this criterion supports LSSVMClassifier, got {type(estimator).__name__}")
    solution, K, targets = _machine(estimator, X, y)
    K.flat[:: K.shape[0] + 1] += estimator.regularization_
    # alpha'(K + mu I) alpha = alpha'y, because alpha sums to zero
    return squared_radius(K) * float(np.vdot(solution.alpha, targets)) / targets.size
