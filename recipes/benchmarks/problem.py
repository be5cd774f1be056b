"""Data sets, partitions, and the evaluation of one model."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline


class Partition(NamedTuple):
    """Row numbers of one training and one test set."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Problem:
    """A data set with its partitions.

    Attributes
    ----------
    X : ndarray of shape (N, n_features), float64
    y : ndarray of shape (N,)
        Class numbers from 0, or real targets.
    partitions : tuple of Partition
    """

    X: np.ndarray
    y: np.ndarray
    partitions: tuple[Partition, ...]

    @property
    def is_classification(self) -> bool:
        """Whether y contains class numbers."""
        return self.y.dtype.kind in "iu"


class OwnChoice(NamedTuple):
    """Settings that an estimator chose itself by cross-validation on its training part.

    Attributes
    ----------
    parameters : dict
        Parameters by their plain names.
    loss : float
        Error rate on held-out samples.
    seconds : float
        Wall-clock time without the final fit.
    """

    parameters: Mapping[str, float | str]
    loss: float
    seconds: float


class Trial(NamedTuple):
    """One model on one partition.

    Attributes
    ----------
    loss : float
        Error rate or mean squared error on the test samples.
    kernels : int
        Kernel evaluations for one prediction: distinct centers, support vectors, or the remaining components of a
        pruned model.
    n_train : int
    fit_seconds, predict_seconds : float
        Wall-clock times; the second is for all test samples.
    choice : OwnChoice or None
        Settings of an estimator that chooses them itself.
    """

    loss: float
    kernels: int
    n_train: int
    fit_seconds: float
    predict_seconds: float
    choice: OwnChoice | None = None


def run_trial(estimator: Any, X: np.ndarray, y: np.ndarray, partition: Partition) -> Trial:
    """Fit on the training part and evaluate on the test part."""
    train, test = X[partition.train], X[partition.test]
    started = time.perf_counter()
    estimator.fit(train, y[partition.train])
    fitted = time.perf_counter()
    predictions = estimator.predict(test)
    done = time.perf_counter()
    loss = summed_loss(estimator, y[partition.test], predictions) / test.shape[0]
    fit_seconds, choice = fitted - started, None
    if hasattr(estimator, "best_params_"):
        parameters = {plain_name(name): value for name, value in estimator.best_params_.items()}
        choice = OwnChoice(parameters, 1.0 - float(estimator.best_score_), fit_seconds - estimator.refit_time_)
        fit_seconds = float(estimator.refit_time_)
    return Trial(loss, kernel_evaluations(estimator), train.shape[0], fit_seconds, done - fitted, choice)


def plain_name(parameter: str) -> str:
    """Return the name of a parameter without its pipeline steps."""
    return parameter.rpartition("__")[2]


def summed_loss(estimator: Any, y: np.ndarray, predictions: np.ndarray) -> float:
    """Return the number of wrong classes, or the sum of squared errors."""
    if is_classifier(estimator):
        return float(np.count_nonzero(predictions != y))
    return float(((predictions - y) ** 2).sum())


def kernel_evaluations(estimator: Any) -> int:
    """Count distinct centers, support vectors (which scikit-learn lists once each for any number of classes), training
    samples of a Gaussian process, or remaining components; 0 without kernels. For a search its best estimator counts,
    for a pipeline its last step.
    """
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    if getattr(estimator, "n_components", None) is not None and hasattr(estimator, "n_components_"):
        return int(np.sum(estimator.n_components_))
    if hasattr(estimator, "basis_centers_"):
        return int(estimator.basis_centers_.shape[0])
    vectors = getattr(estimator, "support_", getattr(getattr(estimator, "base_estimator_", None), "X_train_", ()))
    return len(vectors)
