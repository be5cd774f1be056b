"""What every part of a fit needs."""

from dataclasses import dataclass

import numpy as np

from discriminants.logistic.checkpoint import Checkpoint
from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.workers import Workers


@dataclass(frozen=True)
class FitContext:
    """Samples, and how they are worked through."""

    X: np.ndarray  # (n_samples, n_features): in memory, or mapped from a file
    source: np.ndarray | StoredArray  # X where the workers find it
    codes: np.ndarray  # int (n_samples,): class numbers
    weight: np.ndarray  # (n_samples,): positive weights
    n_classes: int
    workers: Workers
    random: np.random.RandomState
    checkpoint: Checkpoint
