"""Class numbers from class labels of any type, and their target columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets


def draw_by_class(codes: np.ndarray, most: int | None, random: np.random.RandomState) -> list[np.ndarray]:
    """Return the rows of each class, ascending, at most `most` of each; None keeps all."""
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    if most is None:
        return rows
    return [np.sort(random.choice(own, most, replace=False)) if own.shape[0] > most else own for own in rows]


def one_vs_rest_targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return +1 for the class and -1 for the rest, int8 (n_samples, n_classes), or (n_samples, 1) for two classes."""
    if n_classes == 2:
        return np.where(codes == 1, 1, -1).astype(np.int8)[:, None]
    targets = np.full((codes.shape[0], n_classes), -1, dtype=np.int8)
    targets[np.arange(codes.shape[0]), codes] = 1
    return targets


@dataclass(frozen=True)
class OneVsRestTargets:
    """+1 for a sample's class, -1 for the rest; two classes have one target. Converted to arrays on demand."""

    codes: np.ndarray  # int (n_samples,): class numbers
    n_classes: int

    def __getitem__(self, rows: slice) -> "OneVsRestTargets":
        return OneVsRestTargets(self.codes[rows], self.n_classes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        targets = one_vs_rest_targets(self.codes, self.n_classes)
        return targets if dtype is None else targets.astype(dtype)

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """Return weight @ targets, of shape (n_targets,)."""
        own = np.bincount(self.codes, weight, self.n_classes)
        sums = 2.0 * own - weight.sum()
        return sums[1:] if self.n_classes == 2 else sums


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
