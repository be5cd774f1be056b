"""Class numbers from class labels of any type."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def distinct_classes(labels: Any) -> np.ndarray:
    """Return sorted distinct labels; ValueError if all are equal or cannot be ordered, such as strings and numbers."""
    try:
        classes = np.unique(np.asarray(labels))
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"class labels must be all numbers or all strings, got a mixture of {kinds}") from error
    if classes.shape[0] < 2:
        raise ValueError(f"y has only one class: {classes}. Expected at least two classes")
    return classes


def class_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes (n_classes,), and the number of each sample's class (n_samples,).

    Raises ValueError if there are fewer than two classes, or the labels are continuous or cannot be ordered.
    """
    classes = distinct_classes(y)
    check_classification_targets(y)
    return classes, np.searchsorted(classes, y)


def announced_classes(given: Any, known: np.ndarray | None) -> np.ndarray:
    """Return the classes of a stream, as given in its first call of `partial_fit`.

    `known` are those of the earlier calls. Raises ValueError if the first call gives none, or a later one gives others.
    """
    if given is None:
        if known is None:
            raise ValueError("the first call of partial_fit needs classes. Expected all labels of all calls")
        return known
    classes = distinct_classes(given)
    if known is not None and not np.array_equal(classes, known):
        raise ValueError(f"classes = {classes} differ from previous calls. Expected {known}")
    return classes


def codes_among(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the number of each sample's class among the given sorted classes, shape (n_samples,).

    Raises ValueError if a label is not among them, or if labels are continuous.
    """
    check_classification_targets(y)
    strangers = np.setdiff1d(y, classes)
    if strangers.size:
        raise ValueError(f"y has unknown labels {strangers}. Expected labels among the classes {classes}")
    return np.searchsorted(classes, y)
