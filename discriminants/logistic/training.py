"""Data needed by every part of a fit."""

from collections.abc import Callable
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


class LossHistory:
    """Losses after each pass or Newton step: `training`, and `watched`, given by `report`(number, training loss)."""

    def __init__(self, report: Callable[[int, float], float]) -> None:
        self._report = report
        self.training: list[float] = []
        self.watched: list[float] = []

    def tell(self, number: int, training_loss: float) -> None:
        """Record one more pass or step."""
        self.watched.append(self._report(number, training_loss))
        self.training.append(training_loss)

    def state(self) -> dict[str, np.ndarray]:
        """Return the state for a checkpoint."""
        return {"training": np.array(self.training), "watched": np.array(self.watched)}

    def go_on_from(self, state: dict[str, np.ndarray]) -> None:
        """Restore the result of `state`."""
        self.training, self.watched = state["training"].tolist(), state["watched"].tolist()
