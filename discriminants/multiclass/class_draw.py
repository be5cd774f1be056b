"""A seeded draw of at most so many samples of every class."""

import numpy as np


def draw_by_class(codes: np.ndarray, most: int | None, random: np.random.RandomState) -> list[np.ndarray]:
    """The samples that stand for each class.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        Class numbers, each of 0 to n_classes - 1 at least once.
    most : int or None
        Samples of a class; None keeps all.
    random : RandomState

    Returns
    -------
    list of ndarray of int
        Rows of each class, ascending.
    """
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    if most is None:
        return rows
    return [np.sort(random.choice(own, most, replace=False)) if own.shape[0] > most else own for own in rows]
