"""Learners and peers with a common interface: `inputs`, `fit`, `predict`, and kernel evaluations per prediction."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import OrthogonalMatchingPursuit, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmarks.learners.settings import KERNEL_RIDGE_SAMPLES, OURS
from discriminants import KRLSClassifier, NPDClassifier, OROLSClassifier

_CACHE_MEGABYTES = 1000  # cache of kernel rows of SVC, five times its default
_SMALL = {"n_centers": 100, "n_candidates": 200, "max_centers": 100, "n_components": 100, "n_columns": 200, "atoms": 40}

# All centers, and the largest output decides, as with the peers.
_SELECTING: Mapping[str, Any] = {"criterion": None, "posterior": "gaussian", "random_state": 0}


class Method:
    """One classifier with its settings.

    Parameters
    ----------
    method : str
        A key of `settings.LABELS`.
    parameters : mapping
        Settings for a data set.
    small : bool
        Use sizes for a quick run.
    """

    def __init__(self, method: str, parameters: Mapping[str, Any], *, small: bool = False) -> None:
        sizes = {name: min(value, _SMALL[name]) for name, value in parameters.items() if small and name in _SMALL}
        self.dtype = np.float32 if method in OURS else np.float64
        self.estimator = _ESTIMATORS[method](**{**parameters, **sizes})

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """Return samples in the fastest float type for the method."""
        return np.ascontiguousarray(X, dtype=self.dtype)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.estimator.fit(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.estimator.predict(X)
        return found

    def evaluations(self) -> int:
        """Return the number of kernel evaluations for one prediction."""
        estimator = self.estimator
        if isinstance(estimator, SVC):
            return int(estimator.support_.shape[0])
        if hasattr(estimator, "basis_centers_"):
            return int(estimator.basis_centers_.shape[0])
        return int(estimator[0].components_.shape[0])


class KernelRidgeClassifier(ClassifierMixin, BaseEstimator):
    """scikit-learn's KernelRidge on +-1 targets, one per class; the largest output decides."""

    def __init__(self, gamma: float, alpha: float, max_samples: int = KERNEL_RIDGE_SAMPLES) -> None:
        self.gamma = gamma
        self.alpha = alpha
        self.max_samples = max_samples

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        rows = _sample(y.shape[0], self.max_samples)
        self.classes_ = np.unique(y)
        self.model_ = KernelRidge(alpha=self.alpha, kernel="rbf", gamma=self.gamma)
        self.model_.fit(X[rows], _targets(y[rows], self.classes_))
        self.basis_centers_ = X[rows]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.model_.predict(X).argmax(axis=1)]


class MatchingPursuitClassifier(ClassifierMixin, BaseEstimator):
    """scikit-learn's OrthogonalMatchingPursuit over kernel columns of random training samples, on +-1 targets. Each
    class chooses its own `atoms` columns.
    """

    def __init__(self, gamma: float, n_columns: int, atoms: int) -> None:
        self.gamma = gamma
        self.n_columns = n_columns
        self.atoms = atoms

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.classes_ = np.unique(y)
        columns = np.unique(X[_sample(X.shape[0], self.n_columns)], axis=0)
        targets = _targets(y, self.classes_)
        self.model_ = OrthogonalMatchingPursuit(n_nonzero_coefs=self.atoms)
        self.model_.fit(rbf_kernel(X, columns, gamma=self.gamma), targets)
        used = np.flatnonzero(self.model_.coef_.any(axis=0))
        self.basis_centers_ = columns[used]
        self.weights_ = self.model_.coef_[:, used].T
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        outputs = rbf_kernel(X, self.basis_centers_, gamma=self.gamma) @ self.weights_ + self.model_.intercept_
        return self.classes_[outputs.argmax(axis=1)]


def _sample(n_samples: int, size: int) -> np.ndarray:
    """Return ascending row numbers, at most `size`."""
    if n_samples <= size:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, size, replace=False))


def _targets(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return np.where(y[:, None] == classes, 1.0, -1.0)


def _orols(**parameters: Any) -> OROLSClassifier:
    return OROLSClassifier(tol=0.0, max_condition=1e12, **_SELECTING, **parameters)


def _npd(**parameters: Any) -> NPDClassifier:
    return NPDClassifier(**_SELECTING, **parameters)


def _svc(**parameters: Any) -> SVC:
    return SVC(kernel="rbf", cache_size=_CACHE_MEGABYTES, **parameters)


def _nystroem(gamma: float, alpha: float, n_components: int) -> Any:
    features = Nystroem(kernel="rbf", gamma=gamma, n_components=n_components, random_state=0)
    return make_pipeline(features, RidgeClassifier(alpha=alpha))


_ESTIMATORS: dict[str, Any] = {
    "orols": _orols,
    "orols_atoms": _orols,
    "npd": _npd,
    "krls": KRLSClassifier,
    "svc": _svc,
    "kernel_ridge": KernelRidgeClassifier,
    "nystroem": _nystroem,
    "omp": MatchingPursuitClassifier,
}
