"""What every part of a fit needs."""

from dataclasses import dataclass

import numpy as np

from discriminants.logistic.checkpoint import Checkpoint
from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.workers import Workers


@dataclass(frozen=True)
class FitContext:
    """Samples, and how they are worked through.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        In memory, or mapped from a file.
    source : ndarray or StoredArray
        X where the workers find it.
    codes, weight : ndarray of shape (n_samples,)
        Class numbers and positive weights.
    n_classes : int
    workers : Workers
    random : RandomState
    checkpoint : Checkpoint
    """

    X: np.ndarray
    source: np.ndarray | StoredArray
    codes: np.ndarray
    weight: np.ndarray
    n_classes: int
    workers: Workers
    random: np.random.RandomState
    checkpoint: Checkpoint
