"""Checking and scaling of the benchmark sets."""

from pathlib import Path

import numpy as np

from asr.util.errors import CorpusError
from recipes.benchmarks.arrays_file import read_arrays
from recipes.benchmarks.problem import Partition, Problem


def two_class_problem(path: Path) -> Problem:
    """Read a set with fixed partitions: x (N, d), y (N,) in {-1, +1}, train and test (n_partitions, n) row numbers.

    The data are not scaled.
    """
    x, y, train, test = read_arrays(path, ("x", "y", "train", "test"))
    check_samples(path, "x", x, "y", y)
    if set(np.unique(y).tolist()) != {-1, 1}:
        raise CorpusError(f"{path}: y has the values {np.unique(y).tolist()[:5]}. Expected -1 and 1")
    for name, rows in (("train", train), ("test", test)):
        good = rows.ndim == 2 and rows.shape[0] == train.shape[0] and rows.dtype.kind in "iu"
        if not good or not rows.size or rows.min() < 0 or rows.max() >= x.shape[0]:
            raise CorpusError(
                f"{path}: {name!r} is not valid. Expected row numbers of x below {x.shape[0]}, one line per partition"
            )
    for number, (a, b) in enumerate(zip(train, test, strict=True)):
        if np.intersect1d(a, b).size:
            raise CorpusError(f"{path}: partition {number} has samples in both training and test parts")
    partitions = tuple(Partition(a.astype(np.intp), b.astype(np.intp)) for a, b in zip(train, test, strict=True))
    return Problem(x.astype(np.float64), (y == 1).astype(np.intp), partitions)


def multi_class_problem(path: Path) -> Problem:
    """Read a set with one split: x_train, y_train, x_test, y_test.

    One linear map for all features, fitted on the training data, scales their minimum to -1 and their maximum to 1.
    """
    x_train, y_train, x_test, y_test = read_arrays(path, ("x_train", "y_train", "x_test", "y_test"))
    check_samples(path, "x_train", x_train, "y_train", y_train)
    check_samples(path, "x_test", x_test, "y_test", y_test)
    if x_train.shape[1] != x_test.shape[1]:
        raise CorpusError(f"{path}: x_train has {x_train.shape[1]} features, x_test {x_test.shape[1]}")
    classes = np.unique(y_train)
    if not np.isin(y_test, classes).all():
        raise CorpusError(f"{path}: y_test has classes that are missing in y_train")
    if len(classes) < 2:
        raise CorpusError(f"{path}: y_train has only one class. Expected at least two")
    low, high = float(x_train.min()), float(x_train.max())
    if low == high:
        raise CorpusError(f"{path}: all values of x_train are {low}")
    X = (np.vstack([x_train, x_test]).astype(np.float64) - low) * (2.0 / (high - low)) - 1.0
    codes = np.searchsorted(classes, np.concatenate([y_train, y_test]))
    rows, n_train = np.arange(X.shape[0]), x_train.shape[0]
    return Problem(X, codes, (Partition(rows[:n_train], rows[n_train:]),))


def regression_problem(path: Path, n_train: int, n_test: int, n_partitions: int) -> Problem:
    """Read a set without a split: x, y, with random partitions drawn in order by `default_rng(0)`.

    Continuous features are scaled to mean zero and variance one over the whole set, test samples included, as in the
    source; features with two values (indicators) are not scaled.
    """
    x, y = read_arrays(path, ("x", "y"))
    check_samples(path, "x", x, "y", y)
    if x.shape[0] < n_train + n_test:
        raise CorpusError(f"{path}: {x.shape[0]} samples. Expected {n_train} + {n_test}")
    X = x.astype(np.float64)
    for column in X.T:
        values = np.unique(column)
        if values.shape[0] > 2:
            column -= column.mean()
            deviation = column.std()
            if not deviation > np.finfo(np.float64).tiny:
                raise CorpusError(f"{path}: a column of x is almost constant. Remove it")
            column /= deviation
    return Problem(X, y.astype(np.float64), random_partitions(X.shape[0], n_train, n_test, n_partitions))


def random_partitions(n_samples: int, n_train: int, n_test: int, n_partitions: int) -> tuple[Partition, ...]:
    """Draw `n_partitions` random training and test parts of a set in order, by `default_rng(0)`."""
    random = np.random.default_rng(0)
    permutations = [random.permutation(n_samples) for _ in range(n_partitions)]
    return tuple(Partition(p[:n_train], p[n_train : n_train + n_test]) for p in permutations)


def check_samples(path: Path, x_name: str, x: np.ndarray, y_name: str, y: np.ndarray) -> None:
    """Check that there is one row of features per target."""
    if x.ndim != 2 or y.ndim != 1 or x.shape[0] != y.shape[0] or not x.size:
        raise CorpusError(
            f"{path}: {x_name} has shape {x.shape} and {y_name} {y.shape}. Expected (samples, features) and (samples,)"
        )
