"""Forward selection of basis centres: one loop, exchangeable states, rules and updates.

A *state* holds the columns chosen so far and says how good each candidate is: `ColumnState` keeps the chosen
columns (thin Gram-Schmidt), `GramState` only products of columns, `GramSchmidtState` all columns. A *rule*
names the next candidate. An *update* runs after each accepted column (OROLS re-estimates lambda there) and
ends the selection by returning True.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem


class SelectionState(Protocol):
    """What the loop, the rules and the updates may ask of a state."""

    system: OrthogonalSystem
    available: np.ndarray  # (P,) bool: candidates neither chosen nor found dependent
    order: list[int]  # chosen candidates, first to last
    lam: float  # current penalty on the orthogonal weights

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; False, and the candidate is dropped, where it depends on others."""

    def residual(self) -> np.ndarray:
        """Current residual at the candidates, shape (P, S)."""

    def error_reduction(self, candidates: np.ndarray | None = None) -> np.ndarray:
        """Decrease of the regularized squared error if a candidate were added, of all (P,) or of those named."""

    def matching(self) -> np.ndarray:
        """Squared correlation of each candidate's own (centred) column, scaled to length one, with the residual."""


Rule = Callable[[SelectionState], int]
Update = Callable[[SelectionState], bool]


def forward_selection(state: SelectionState, rule: Rule, n_centers: int, update: Update | None = None) -> list[int]:
    """Choose candidates until `n_centers` are chosen, none is left, or `update` says stop; return them in order."""
    while len(state.order) < n_centers and state.available.any():
        if not state.append(rule(state)):
            continue
        if update is not None and update(state):
            break
    return state.order
