"""Forward selection of basis centers with interchangeable states, rules and updates.

A *state* holds the chosen columns and scores each candidate: `ColumnState` keeps the chosen columns (thin
Gram-Schmidt), `GramState` only products of columns, `GramSchmidtState` all columns. A *rule* returns the next
candidate. An *update* runs after each accepted column (OROLS re-estimates lambda there) and ends the selection by
returning True.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem


class SelectionState(Protocol):
    """Interface of a state for the loop, the rules and the updates."""

    system: OrthogonalSystem
    available: np.ndarray  # (P,) bool: candidates neither chosen nor found dependent
    order: list[int]  # chosen candidates, first to last
    lam: float  # current penalty on the orthogonal weights

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; if it depends on others, drop the candidate and return False."""

    def residual(self) -> np.ndarray:
        """Return the current residual at the candidates, shape (P, S)."""

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Return the decrease of the regularized squared error for all candidates (P,) or for the given ones."""

    def matching(self) -> np.ndarray:
        """Return squared correlations of each candidate's normalized (centered) column with the residual."""


Rule = Callable[[SelectionState], int]
Update = Callable[[SelectionState], bool]


def forward_selection(state: SelectionState, rule: Rule, n_centers: int, update: Update | None = None) -> list[int]:
    """Choose candidates in order until `n_centers` are chosen, none is left, or `update` returns True."""
    while len(state.order) < n_centers and state.available.any():
        if not state.append(rule(state)):
            continue
        if update is not None and update(state):
            break
    return state.order
