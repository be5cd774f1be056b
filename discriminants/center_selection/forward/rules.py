"""Rules for the next basis center."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from discriminants.center_selection.forward.forward_selection import Rule, SelectionState

# The best of 59 random candidates lies among the best 5 % of all with probability 1 - 0.95^59 > 0.95 (Smola
# and Schoelkopf 2000).
_SAMPLE = 59


def largest_residual(state: SelectionState) -> int:
    """Return the candidate with the largest residual, by its length over targets (Andelic 2007, algorithm 1)."""
    residual = state.residual()
    size = np.abs(residual[:, 0]) if residual.shape[1] == 1 else np.einsum("ij,ij->i", residual, residual)
    return _best(state, size)


def error_reduction(state: SelectionState) -> int:
    """Return the candidate whose column lowers the (regularized) squared error most: orthogonal least squares."""
    return _best(state, state.error_reduction())


def matching_pursuit(state: SelectionState) -> int:
    """Return the candidate whose normalized column correlates most with the residual (Mallat and Zhang 1993)."""
    return _best(state, state.matching())


def best_of_59(random: np.random.RandomState) -> Rule:
    """Return the rule that picks the best of 59 random candidates by error reduction (Smola and Schoelkopf 2000)."""

    def rule(state: SelectionState) -> int:
        candidates = np.flatnonzero(state.available)
        if candidates.shape[0] > _SAMPLE:
            candidates = np.sort(random.choice(candidates, _SAMPLE, replace=False))
        return int(candidates[np.argmax(state.error_reduction(candidates))])

    return rule


RULES: dict[str, Callable[[np.random.RandomState], Rule]] = {
    "largest_residual": lambda random: largest_residual,
    "error_reduction": lambda random: error_reduction,
    "matching_pursuit": lambda random: matching_pursuit,
    "best_of_59": best_of_59,
}


def make_rule(rule: Any, random: np.random.RandomState) -> Rule:
    """Return a rule by name, or a callable rule with its result checked."""
    if isinstance(rule, str):
        return RULES[rule](random)

    def checked(state: SelectionState) -> int:
        answer = rule(state)
        if not isinstance(answer, Integral) or isinstance(answer, bool):
            raise ValueError(f"the rule {rule!r} returned {answer!r}. Expected the number of a candidate")
        candidate = int(answer)
        if not (0 <= candidate < state.available.shape[0] and state.available[candidate]):
            raise ValueError(f"the rule {rule!r} returned candidate {candidate}. Expected an available candidate")
        return candidate

    return checked


def _best(state: SelectionState, merit: np.ndarray) -> int:
    return int(np.argmax(np.where(state.available, merit, -1.0)))
