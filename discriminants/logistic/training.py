"""Data needed by every part of a fit."""

from dataclasses import dataclass

import numpy as np

from discriminants.logistic.checkpoint import Checkpoint
from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.workers import Workers


@dataclass(frozen=True)
class FitContext:
    """Samples, and the resources to process them."""

    X: np.ndarray  # (n_samples, n_features): in memory, or mapped from a file
    source: np.ndarray | StoredArray  # X in the form that the workers can read
    codes: np.ndarray  # int (n_samples,): class numbers
    weight: np.ndarray  # (n_samples,): positive weights
    n_classes: int
    workers: Workers
    random: np.random.RandomState
    checkpoint: Checkpoint
