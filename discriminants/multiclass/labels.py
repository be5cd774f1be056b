"""From class labels of any kind to class numbers."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def distinct_classes(labels: Any) -> np.ndarray:
    """Sorted distinct labels, of which there are at least two.

    Raises
    ------
    ValueError
        If the labels cannot be ordered (strings beside numbers, or missing values), or are all the same.
    """
    try:
        classes = np.unique(np.asarray(labels))
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"class labels must be all numbers or all strings, got a mixture of {kinds}") from error
    if classes.shape[0] < 2:
        raise ValueError(f"samples of at least two classes are needed, got one class: {classes}")
    return classes


def class_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes (n_classes,), sorted, and the number of each sample's class (n_samples,).

    Raises
    ------
    ValueError
        If there are fewer than two classes, or the labels are continuous or cannot be ordered.
    """
    classes = distinct_classes(y)
    check_classification_targets(y)
    return classes, np.searchsorted(classes, y)
