"""History of the losses of a fit, for progress reports and for resuming."""

from collections.abc import Callable

import numpy as np


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
