"""Settings by five-fold cross-validation on training parts."""

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
from discriminants.multiclass.one_vs_rest import one_vs_rest_targets, winners
from recipes.benchmarks.parallel import in_parallel
from recipes.benchmarks.problem import Problem, summed_loss

FOLDS = 5
SEED = 0  # of the folds, the subsets and the candidates drawn


@dataclass(frozen=True)
class Search:
    """A method with the settings to choose among.

    Attributes
    ----------
    method : str
    estimator : estimator
        Unfitted; a setting sets its parameters.
    grid : tuple of dict
        Settings. Of equally good ones the first is taken. None where the estimator is a search of scikit-learn's kind,
        which chooses on each training part by itself.
    sizes : tuple of int, optional
        Numbers of centres to choose among too, for a forward learner: one selection of the largest size
        shows them all.
    n_samples : int, optional
        Choose on a (stratified) subset of so many samples of each training part.
    final : mapping
        Parameters for the fit with the chosen setting, where they differ from those of the choice.
    like : str, optional
        The method whose choice serves for this one, which then is not searched.
    by : {"loss", "smoothed_loss", "squared_outputs"}
        What makes a setting the best: the loss that the table is about; the same, averaged with that of the settings
        beside it in the grid, since a setting that is good between worse ones was lucky on the samples held out; or
        the squared error of `decision_function` from +-1, one output a class, which tells settings apart that err on
        equally few of the samples held out.
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
            raise ValueError("where sizes are chosen too, the loss decides")

    def chosen(self, parameters: Mapping[str, Any]) -> Any:
        """An unfitted estimator with the chosen parameters."""
        return clone(self.estimator).set_params(**self.final, **parameters)


@dataclass(frozen=True)
class Choice:
    """The best setting of a search.

    Attributes
    ----------
    parameters : dict
        With `n_centers` where the size was chosen too.
    loss : float
        Held-out loss per sample: share of wrong classes, or mean squared error.
    seconds : float
        Spent on all settings and folds, summed over the processes.
    """

    parameters: dict[str, float | str]
    loss: float
    seconds: float


def grid(**axes: Sequence[float] | Sequence[str]) -> tuple[dict[str, float | str], ...]:
    """All combinations of values: grid(sigma=(1, 2), epsilon=(0,)) has two settings."""
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
    """The best setting of every method by the total held-out loss over five folds of each training part.

    Parameters
    ----------
    partitions : sequence of int
        Those whose training parts decide together.
    repeats : int
        Times that the folds are drawn anew.

    Returns
    -------
    dict
        method -> Choice, of those with settings to choose among.
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
    """Losses of all settings (rows) and sizes (columns), and what decides among them, summed over the folds."""

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
    """Each loss averaged with those beside it in the grid, which count half along each axis.

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
    """Each value plus half of those before and after it."""
    moved = np.moveaxis(values, axis, 0)
    sums = moved.copy()
    sums[1:] += 0.5 * moved[:-1]
    sums[:-1] += 0.5 * moved[1:]
    return np.moveaxis(sums, 0, axis)


def _folds(problem: Problem, rows: np.ndarray, n_samples: int | None, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and held-out rows of five folds of a training part."""
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
    """Summed losses on a held-out part, one for each size (or one), what decides, and the seconds it took."""
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
    """Summed loss of the models of every size, from one forward selection."""
    learner.set_params(n_centers=sizes[-1])
    kernel = make_kernel(learner.kernel, learner.sigma).resolved(X[train])
    classifies = is_classifier(learner)
    targets = one_vs_rest_targets(y, int(y.max()) + 1) if classifies else y[:, None]
    random = np.random.RandomState(SEED)
    _, _, paths = learner.selection_paths(X[train], targets[train], kernel=kernel, random=random)
    if not any(path.n_centers for path in paths):
        return np.full(len(sizes), np.inf)

    def loss(outputs: np.ndarray, wanted: np.ndarray) -> float:
        if classifies:
            return summed_loss(learner, winners(wanted), winners(outputs))
        return summed_loss(learner, wanted, outputs)

    return path_losses(paths, X[held_out], targets[held_out], list(sizes), loss)
