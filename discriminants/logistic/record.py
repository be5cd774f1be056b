"""How the losses of a fit go, for those who watch it and for the fit that goes on after a halt."""

from collections.abc import Callable

import numpy as np


class LossHistory:
    """Losses after each pass or Newton step: `training`, and `watched`, given by `report`(number, training loss)."""

    def __init__(self, report: Callable[[int, float], float]) -> None:
        self._report = report
        self.training: list[float] = []
        self.watched: list[float] = []

    def tell(self, number: int, training_loss: float) -> None:
        """One more pass or step."""
        self.watched.append(self._report(number, training_loss))
        self.training.append(training_loss)

    def state(self) -> dict[str, np.ndarray]:
        """For a checkpoint."""
        return {"training": np.array(self.training), "watched": np.array(self.watched)}

    def go_on_from(self, state: dict[str, np.ndarray]) -> None:
        """Take up what `state` gave."""
        self.training, self.watched = state["training"].tolist(), state["watched"].tolist()
