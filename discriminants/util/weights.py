"""Weights of the samples in a fit, from `sample_weight` and `class_weight`."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_sample_weight

CLASS_WEIGHTS: tuple[Any, ...] = (dict, {"balanced"}, None)
"""Allowed values of `class_weight`."""


def weights_of(learner: Any, X: Any, y: np.ndarray, sample_weight: Any) -> np.ndarray | None:
    """Return the weight of each sample, (n_samples,), or None if all are equal because none are given.

    The weight is that of the sample times that of its class. "balanced" gives all classes equal sums of weights, with
    the sum of all weights unchanged. Raises ValueError for negative weights, a class without a positive weight, labels
    in `class_weight` that do not occur, or a learner without the attribute `_takes_weights`.
    """
    class_weight = getattr(learner, "class_weight", None)
    if sample_weight is None and class_weight is None:
        return None
    name = type(learner).__name__
    if not getattr(learner, "_takes_weights", False):
        given = "class_weight" if sample_weight is None else "sample_weight"
        raise ValueError(f"{name} does not support {given}. Use {instead_of(learner)}")
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is 0 for all samples. Expected at least one positive weight")
    return weight if class_weight is None else weight * _of_classes(class_weight, y, weight)


def instead_of(learner: Any) -> str:
    """Return the name of a similar learner that supports weights."""
    return "LSSVMClassifier" if is_classifier(learner) else "LSSVMRegressor"


def with_positive_weight(
    learner: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the samples of positive weight; ValueError if a precomputed kernel would need another matrix."""
    if weight is None or (weight > 0).all():
        return X, y, weight
    if get_tags(learner).input_tags.pairwise:
        raise ValueError("sample_weight = 0 is not supported by a precomputed kernel. Leave these samples out")
    return X[weight > 0], y[weight > 0], weight[weight > 0]


def _of_classes(class_weight: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    classes, codes = np.unique(y, return_inverse=True)
    if isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in classes]
        values = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
        if unknown or not ((values > 0) & np.isfinite(values)).all():
            raise ValueError(
                f"class_weight = {class_weight} does not fit the classes {classes[:10]}. "
                "Expected positive finite weights of labels that occur in y"
            )
        return values[codes]
    sums = np.bincount(codes, weight)
    present = sums > 0
    values = np.where(present, weight.sum() / (present.sum() * np.where(present, sums, 1.0)), 0.0)
    return values[codes]
