"""Seeded draw of a limited number of samples per class."""

import numpy as np


def draw_by_class(codes: np.ndarray, most: int | None, random: np.random.RandomState) -> list[np.ndarray]:
    """Return the rows of each class, ascending, at most `most` of each; None keeps all."""
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    if most is None:
        return rows
    return [np.sort(random.choice(own, most, replace=False)) if own.shape[0] > most else own for own in rows]
