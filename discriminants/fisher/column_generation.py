"""Sparse kernel expansions by linear and quadratic programs over few columns at a time (Mika 2002, section 3.5.6)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discriminants.kernels import Kernel
from discriminants.linear_systems.kernel_values import check_values, kernel_matrix
from discriminants.util.sampling import distinct_rows

_WHOLE = 3000  # maximum number of candidates whose columns are evaluated once and kept
_SAMPLE = 59  # random columns tested in a round: one of the worst 5 % is among them with probability 0.95
_MAX_ADDED = 0.5  # columns added in a round, as a fraction of the columns held
_IDLE = 5  # rounds after which a column without weight is dropped
_TOLERANCE = 1e-3  # relative amount by which a column must exceed the limit
_MAX_ROUNDS = 1000


class ActiveSet(NamedTuple):
    """Solution over some columns."""

    alpha: np.ndarray  # (n,)
    bias: float
    # (n_samples,): beta, multipliers of the constraints that tie outputs and slacks to the targets. The solution is
    # optimal over all columns if |k_j'beta| <= C for each of them.
    multipliers: np.ndarray


class Expansion(NamedTuple):
    """Columns with a weight, their weights, the bias, and the number of restricted problems solved."""

    columns: np.ndarray
    alpha: np.ndarray
    bias: float
    n_rounds: int


Solve = Callable[[np.ndarray, np.ndarray], ActiveSet]


class Columns:
    """Kernel columns of candidates, stored if they fit into memory and otherwise evaluated again.

    If equal rows of X give equal columns, each distinct row is a candidate. A kernel with several columns per point
    gives a candidate for each. Raises ValueError if kernel values are not finite, too large to be squared, or the same
    for all samples.
    """

    def __init__(self, kernel: Kernel, X: np.ndarray) -> None:
        rows = np.arange(X.shape[0])
        if kernel.centers_are_points:
            rows = distinct_rows(X)[0]
        self.kernel, which = kernel.at(rows).over(X[rows])
        self.points = rows[which]
        self._X = X
        some = np.unique(np.linspace(0, self.points.shape[0] - 1, _SAMPLE).astype(np.intp))
        self._K = self._block(np.arange(self.points.shape[0])) if self.points.shape[0] <= _WHOLE else None
        check_values(self.at(some) if self._K is None else self._K)

    @property
    def n_candidates(self) -> int:
        """Number of columns."""
        return int(self.points.shape[0])

    @property
    def whole(self) -> bool:
        """True if all columns are kept."""
        return self._K is not None

    def at(self, candidates: np.ndarray) -> np.ndarray:
        """Return columns of shape (n_samples, n), float64."""
        return self._block(candidates) if self._K is None else self._K[:, candidates]

    def products(self, vector: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Return k_j'vector for the given candidates, shape (n,)."""
        if self._K is not None:
            return (vector @ self._K)[candidates]
        found = np.empty(candidates.shape[0])
        start = 0
        for part in np.array_split(candidates, max(1, candidates.shape[0] * self._X.shape[0] >> 22)):
            found[start : start + part.shape[0]] = vector @ self._block(part)
            start += part.shape[0]
        return found

    def _block(self, candidates: np.ndarray) -> np.ndarray:
        return kernel_matrix(self.kernel.at(candidates), self._X, self._X[self.points[candidates]])


def generate_columns(
    columns: Columns,
    targets: np.ndarray,
    limit: float,
    solve: Solve,
    start: np.ndarray,
    *,
    first: np.ndarray | None = None,
) -> Expansion:
    """Solve over a few columns; add columns that violate the limit and drop unused ones until no column violates it.

    If all columns are kept, each round tests all of them. Otherwise a round tests 59 random columns. If two rounds in a
    row found no violation, it tests all (Mika 2002: "as a last resort"). `limit` is C, `start` (n_samples,) has the
    multipliers without any column, and `first` has the initial columns. Raises ValueError if the iteration does not
    end.
    """
    random = np.random.default_rng(0)  # fixed seed: equal samples give identical results
    held = np.empty(0, dtype=np.intp) if first is None else np.asarray(first, dtype=np.intp)
    idle = np.zeros(held.shape[0], dtype=np.intp)
    dropped = np.zeros(columns.n_candidates, dtype=bool)  # at least once
    found = ActiveSet(np.empty(0), 0.0, start) if not held.size else solve(columns.at(held), targets)
    clean, rounds = 0, int(held.size > 0)
    while rounds < _MAX_ROUNDS:
        every = columns.whole or clean >= 2
        candidates = np.setdiff1d(np.arange(columns.n_candidates), held)
        if not every and candidates.shape[0] > _SAMPLE:
            candidates = np.sort(random.choice(candidates, _SAMPLE, replace=False))
        excess = np.abs(columns.products(found.multipliers, candidates)) - limit * (1.0 + _TOLERANCE)
        wanted = candidates[excess > 0]
        if not wanted.size:
            if every or candidates.shape[0] == columns.n_candidates - held.shape[0]:
                bias = found.bias if held.size else _bias_alone(solve, columns, targets)
                used = found.alpha != 0
                return Expansion(held[used], found.alpha[used], bias, rounds)
            clean += 1
            continue
        clean = 0
        most = max(10, int(_MAX_ADDED * held.shape[0]))
        if wanted.shape[0] > most:
            wanted = wanted[np.argsort(-excess[excess > 0], kind="stable")[:most]]
        # With several optimal multipliers the same columns could leave and return forever, so each leaves at most once.
        kept = (idle < _IDLE) | dropped[held]
        dropped[held[~kept]] = True
        held = np.concatenate([held[kept], wanted])
        idle = np.concatenate([idle[kept], np.zeros(wanted.shape[0], dtype=np.intp)])
        found = solve(columns.at(held), targets)
        idle = np.where(found.alpha != 0, 0, idle + 1)
        rounds += 1
    raise ValueError(f"column generation did not converge in {_MAX_ROUNDS} rounds. Use a larger regularization")


def merged(found: Sequence[Expansion]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all columns of several outputs, at least one (m,), and their weights (m, n_outputs) and biases."""
    union = np.unique(np.concatenate([expansion.columns for expansion in found]))
    if not union.size:  # the penalty excludes all columns: the bias alone
        union = np.array([0])
    weights = np.zeros((union.shape[0], len(found)))
    for s, expansion in enumerate(found):
        weights[np.searchsorted(union, expansion.columns), s] = expansion.alpha
    return union, weights, np.array([expansion.bias for expansion in found])


def _bias_alone(solve: Solve, columns: Columns, targets: np.ndarray) -> float:
    """Return the bias for the case that no column has a weight."""
    return solve(columns.at(np.array([0])), targets).bias
