"""Forward selection of basis centres: one loop, exchangeable states, rules and updates.

A *state* holds the columns chosen so far and says how good each candidate is: `ColumnState` keeps the columns
themselves (thin Gram-Schmidt), `GramState` only their products. A *rule* names the next candidate. An
*update* runs after each accepted column (OROLS re-estimates lambda there) and ends the selection by returning
True.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from discriminants.orthogonal_system import OrthogonalSystem


class SelectionState(Protocol):
    """What the loop, the rules and the updates may ask of a state."""

    system: OrthogonalSystem
    available: np.ndarray  # (P,) bool: candidates neither chosen nor found dependent
    order: list[int]  # chosen candidates, first to last
    lam: float  # current penalty on the orthogonal weights

    def append(self, candidate: int) -> bool:
        """Add a candidate's column; False (and the candidate is dropped) where it depends on the chosen
        ones.
        """

    def residual(self) -> np.ndarray:
        """Current residual at the candidates, shape (P, S)."""

    def error_reduction(self) -> np.ndarray:
        """Decrease of the regularised squared error if a candidate were added, shape (P,)."""


Rule = Callable[[SelectionState], int]
Update = Callable[[SelectionState], bool]


def forward_selection(state: SelectionState, rule: Rule, n_centers: int, update: Update | None = None) -> list[int]:
    """Choose candidates one at a time until `n_centers` are chosen, none is left, or `update` says stop.

    Returns
    -------
    list of int
        The chosen candidates in order (also in `state.order`).
    """
    while len(state.order) < n_centers and state.available.any():
        if not state.append(rule(state)):
            continue
        if update is not None and update(state):
            break
    return state.order


def largest_residual(state: SelectionState) -> int:
    """The candidate where the residual is largest, over several targets by its Euclidean length (Andelic
    2007, algorithm 1).
    """
    residual = state.residual()
    size = np.abs(residual[:, 0]) if residual.shape[1] == 1 else np.einsum("ij,ij->i", residual, residual)
    return int(np.argmax(np.where(state.available, size, -1.0)))


def error_reduction(state: SelectionState) -> int:
    """The candidate whose column lowers the (regularised) squared error most: orthogonal least squares
    proper.
    """
    return int(np.argmax(np.where(state.available, state.error_reduction(), -1.0)))


RULES: dict[str, Rule] = {"largest_residual": largest_residual, "error_reduction": error_reduction}
