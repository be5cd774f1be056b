"""Choice of settings by five-fold cross-validation on training parts."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from discriminants.center_selection.forward.learner import path_losses
from discriminants.kernels import make_kernel
from discriminants.multiclass.labels import one_vs_rest_targets
from discriminants.multiclass.one_vs_rest import winners
from recipes.benchmarks.parallel import in_parallel
from recipes.benchmarks.problem import Problem, summed_loss

FOLDS = 5
SEED = 0  # seed of the folds, subsets and random candidates


@dataclass(frozen=True)
class Search:
    """A method with its candidate settings.

    Attributes
    ----------
    method : str
    estimator : estimator
        Unfitted estimator; a setting sets its parameters.
    grid : tuple of dict
        Settings; ties are resolved in favor of the first. None if the estimator is a scikit-learn search, which chooses
        on each training part separately, or has no settings.
    sizes : tuple of int, optional
        Candidate numbers of centers of a forward learner; one selection of the largest size evaluates them all.
    n_samples : int, optional
        Size of the (stratified) subset of each training part used for the choice.
    final : mapping
        Parameters of the final fit that differ from those of the search.
    like : str, optional
        Method whose chosen setting is reused; this one is then not searched.
    by : {"loss", "smoothed_loss", "squared_outputs"}
        Criterion of the best setting. "loss" is the loss of the table. "smoothed_loss" averages it with that of
        neighboring settings in the grid, because a good setting between worse ones was lucky on the held-out samples.
        "squared_outputs" is the squared error of `decision_function` from +-1, one output per class. It separates
        settings with equally few held-out errors.
    """

    method: str
    estimator: Any
    grid: tuple[dict[str, float | str], ...] = ()
    sizes: tuple[int, ...] | None = None
    n_samples: int | None = None
    final: Mapping[str, Any] = field(default_factory=dict)
    like: str | None = None
    by: Literal["loss", "smoothed_loss", "squared_outputs"] = "loss"

    def __post_init__(self) -> None:
        if self.sizes is not None and self.by != "loss":
            raise ValueError("if sizes are chosen too, the loss decides")

    def chosen(self, parameters: Mapping[str, Any]) -> Any:
        """Return an unfitted estimator with the chosen parameters."""
        return clone(self.estimator).set_params(**self.final, **parameters)


@dataclass(frozen=True)
class Choice:
    """The best setting of a search.

    Attributes
    ----------
    parameters : dict
        Chosen parameters, including `n_centers` if the size was chosen.
    loss : float or None
        Held-out loss per sample: error rate, or mean squared error. None if nothing was chosen.
    seconds : float
        Time of all settings and folds, summed over the processes.
    """

    parameters: dict[str, float | str]
    loss: float | None
    seconds: float


def grid(**axes: Sequence[float] | Sequence[str]) -> tuple[dict[str, float | str], ...]:
    """Return all combinations of values: grid(sigma=(1, 2), epsilon=(0,)) has two settings."""
    combinations: list[tuple[float | str, ...]] = list(product(*axes.values()))
    return tuple(dict(zip(axes, values, strict=True)) for values in combinations)


def choose(
    searches: Sequence[Search],
    problem: Problem,
    partitions: Sequence[int],
    *,
    repeats: int = 1,
    jobs: int,
    description: str,
) -> dict[str, Choice]:
    """Choose the best setting of every method by the total held-out loss over five folds of each training part.

    Parameters
    ----------
    partitions : sequence of int
        Partitions whose training parts are used together.
    repeats : int
        Number of repeated draws of the folds.

    Returns
    -------
    dict
        method -> Choice, for methods with candidate settings.
    """
    searches = [search for search in searches if search.grid]
    if not searches:
        return {}
    pieces, owners = [], []
    searched = [search for search in searches if search.like is None]
    for search in searched:
        folds = [
            fold
            for p in partitions
            for repeat in range(repeats)
            for fold in _folds(problem, problem.partitions[p].train, search.n_samples, SEED + repeat)
        ]
        for setting, parameters in enumerate(search.grid):
            estimator = clone(search.estimator).set_params(**parameters)
            for fold in folds:
                pieces.append((estimator, problem.X, problem.y, *fold, search.sizes, search.by))
                owners.append((search.method, setting, fold[1].shape[0]))
    found = in_parallel(_held_out, pieces, jobs=jobs, description=description)
    totals = {search.method: _Total(search) for search in searched}
    for (method, setting, n_held_out), (losses, deciding, seconds) in zip(owners, found, strict=True):
        totals[method].add(setting, losses, deciding, n_held_out, seconds)
    best = {method: total.best() for method, total in totals.items()}
    return {search.method: best[search.like or search.method] for search in searches}


class _Total:
    """Losses of all settings (rows) and sizes (columns) and the selection criterion, summed over the folds."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._losses = np.zeros((len(search.grid), len(search.sizes or (0,))))
        self._deciding = np.zeros_like(self._losses)
        self._held_out = 0
        self._seconds = 0.0

    def add(self, setting: int, losses: np.ndarray, deciding: np.ndarray, n_held_out: int, seconds: float) -> None:
        self._losses[setting] += losses
        self._deciding[setting] += deciding
        self._held_out += n_held_out if setting == 0 else 0
        self._seconds += seconds

    def best(self) -> Choice:
        deciding = self._deciding
        if self._search.by == "smoothed_loss":
            deciding = smoothed(deciding[:, 0], self._search.grid)[:, None]
        setting, size = np.unravel_index(int(np.argmin(deciding)), deciding.shape)
        parameters: dict[str, float | str] = dict(self._search.grid[setting])
        if self._search.sizes is not None:
            parameters["n_centers"] = self._search.sizes[size]
        return Choice(parameters, float(self._losses[setting, size]) / self._held_out, self._seconds)


def smoothed(losses: np.ndarray, settings: Sequence[Mapping[str, float | str]]) -> np.ndarray:
    """Average each loss with its neighbors in the grid, which have weight 1/2 along each axis.

    Parameters
    ----------
    losses : ndarray of shape (n_settings,)
    settings : sequence of dict
        All combinations of the values of some parameters, as `grid` orders them.

    Returns
    -------
    ndarray of shape (n_settings,)
    """
    axes = [list(dict.fromkeys(setting[name] for setting in settings)) for name in settings[0]]
    shape = tuple(len(values) for values in axes)
    totals, weights = losses.reshape(shape), np.ones(shape)
    for axis in range(len(shape)):
        totals, weights = (_with_neighbours(values, axis) for values in (totals, weights))
    averages: np.ndarray = totals / weights
    return averages.ravel()


def _with_neighbours(values: np.ndarray, axis: int) -> np.ndarray:
    """Return each value plus half of its neighbors."""
    moved = np.moveaxis(values, axis, 0)
    sums = moved.copy()
    sums[1:] += 0.5 * moved[:-1]
    sums[:-1] += 0.5 * moved[1:]
    return np.moveaxis(sums, 0, axis)


def _folds(problem: Problem, rows: np.ndarray, n_samples: int | None, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and held-out rows of five folds of a training part."""
    strata = problem.y[rows] if problem.is_classification else None
    if n_samples is not None and n_samples < rows.shape[0]:
        subset, _ = train_test_split(np.arange(rows.shape[0]), train_size=n_samples, random_state=SEED, stratify=strata)
        rows = rows[np.sort(subset)]
    kind = StratifiedKFold if problem.is_classification else KFold
    split = kind(FOLDS, shuffle=True, random_state=seed).split(rows, problem.y[rows])
    return [(rows[train], rows[held_out]) for train, held_out in split]


def _held_out(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    held_out: np.ndarray,
    sizes: Sequence[int] | None,
    by: str,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return summed losses on a held-out part, one per size (or one), the selection criterion, and the time in
    seconds.
    """
    started = time.perf_counter()
    if sizes is None:
        estimator.fit(X[train], y[train])
        losses = np.array([summed_loss(estimator, y[held_out], estimator.predict(X[held_out]))])
        deciding = losses
        if by == "squared_outputs":
            outputs = estimator.decision_function(X[held_out])
            targets = one_vs_rest_targets(y[held_out], int(y.max()) + 1)
            deciding = np.array([((outputs.reshape(targets.shape) - targets) ** 2).sum()])
    else:
        deciding = losses = _losses_by_size(estimator, X, y, train, held_out, sizes)
    return losses, deciding, time.perf_counter() - started


def _losses_by_size(
    learner: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, held_out: np.ndarray, sizes: Sequence[int]
) -> np.ndarray:
    """Compute the summed loss of the models of every size, from one forward selection."""
    learner.set_params(n_centers=sizes[-1])
    kernel = make_kernel(learner.kernel, learner.sigma).resolved(X[train])
    classifies = is_classifier(learner)
    targets = one_vs_rest_targets(y, int(y.max()) + 1) if classifies else y[:, None]
    random = np.random.RandomState(SEED)
    _, _, paths = learner.selection_paths(X[train], targets[train], kernel=kernel, random=random)
    if not any(path.n_centers for path in paths):
        return np.full(len(sizes), np.inf)

    def loss(outputs: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        if classifies:
            return (winners(wanted) != winners(outputs)).astype(np.float64)
        squares: np.ndarray = ((outputs - wanted) ** 2).sum(axis=1)
        return squares

    return path_losses(paths, X[held_out], targets[held_out], list(sizes), loss)
