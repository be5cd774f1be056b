"""A table of the source, and the measurement of a data set: choose settings, then run every partition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from discriminants.kernels import resolve_sigma
from recipes.benchmarks.model_choice import FOLDS, SEED, Choice, Search, choose
from recipes.benchmarks.parallel import in_parallel
from recipes.benchmarks.problem import OwnChoice, Problem, Trial, plain_name, run_trial


@dataclass(frozen=True)
class Study:
    """One data set with the methods to compare on it.

    Attributes
    ----------
    problem : Problem
    searches : tuple of Search
    n_choice : int
        Number of training parts, from the first, that choose the settings together.
    repeats : int
        Number of draws of the folds.
    """

    problem: Problem
    searches: tuple[Search, ...]
    n_choice: int = 5
    repeats: int = 1

    def only(self, methods: Sequence[str]) -> Self:
        """Return the study of these methods, and of those whose settings they reuse."""
        wanted = {*methods, *(search.like for search in self.searches if search.method in methods)}
        return replace(self, searches=tuple(search for search in self.searches if search.method in wanted))


@dataclass(frozen=True)
class Table:
    """One table of the source.

    Attributes
    ----------
    number : str
    title : str
    unit : str
        Heading of the values.
    value : callable
        Function of the losses of the trials (error rate or mean squared error) that returns the values shown.
    data : tuple of str
    file : str, dict or None
        Path of a data set below the data directory, with {} for its name; or paths of the data sets that are not
        generated.
    methods : tuple of str
        Columns.
    notes : tuple of str
        Choices that the source does not specify, and the meaning of the figures.
    study : callable
        study(path of the data set, its name, quick) -> Study.
    """

    number: str
    title: str
    unit: str
    value: Callable[[np.ndarray], np.ndarray]
    data: tuple[str, ...]
    file: str | Mapping[str, str] | None
    methods: tuple[str, ...]
    notes: tuple[str, ...]
    study: Callable[[Path, str, bool], Study]

    def path(self, folder: Path, name: str) -> Path | None:
        """Return the file of a data set, None if it is generated."""
        file = self.file if isinstance(self.file, str | None) else self.file.get(name)
        return None if file is None else folder / file.format(name)


@dataclass(frozen=True)
class Outcome:
    """Results of one method on one data set.

    Attributes
    ----------
    values : ndarray of shape (n_partitions,)
        Values in the unit of the table.
    trials : list of Trial
    choice : Choice
    search : Search
    """

    values: np.ndarray
    trials: list[Trial]
    choice: Choice
    search: Search


def widths(problem: Problem, multiples: Sequence[float]) -> list[float]:
    """Return widths in multiples of the root of the summed feature variances over the first training part."""
    unit = resolve_sigma("scale", problem.X[problem.partitions[0].train])
    return [float(unit * multiple) for multiple in multiples]


def run_study(table: Table, name: str, study: Study, *, jobs: int) -> dict[str, Outcome]:
    """Choose the settings of every method, then fit and test it on every partition.

    Returns
    -------
    dict
        method -> Outcome.
    """
    problem, searches = study.problem, study.searches
    n_partitions = len(problem.partitions)
    title = f"table {table.number} {name}"
    deciding = range(min(study.n_choice, n_partitions))
    chosen = choose(
        searches, problem, deciding, repeats=study.repeats, jobs=jobs, description=f"{title}: cross-validation"
    )
    pieces = [
        (search.chosen(chosen[search.method].parameters if search.grid else {}), problem.X, problem.y, partition)
        for search in searches
        for partition in problem.partitions
    ]
    trials = in_parallel(run_trial, pieces, jobs=jobs, description=f"{title}: partitions")
    outcomes = {}
    for number, search in enumerate(searches):
        own = trials[number * n_partitions : (number + 1) * n_partitions]
        values = table.value(np.array([trial.loss for trial in own]))
        choice = chosen[search.method] if search.grid else _typical([trial.choice for trial in own if trial.choice])
        outcomes[search.method] = Outcome(values, own, choice, search)
    return outcomes


def _typical(choices: Sequence[OwnChoice]) -> Choice:
    """Summarize choices on separate training parts: the median of every setting, the mean of the losses."""
    if not choices:  # a method without settings
        return Choice({}, None, 0.0)
    parameters: dict[str, float | str] = {
        name: float(np.median([choice.parameters[name] for choice in choices])) for name in choices[0].parameters
    }
    loss = float(np.mean([choice.loss for choice in choices]))
    return Choice(parameters, loss, sum(choice.seconds for choice in choices))


def study_settings(table: Table, study: Study, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the settings.json entry of a data set: grids, chosen settings, and the value of every partition."""
    problem = study.problem
    return {
        "partitions": len(problem.partitions),
        "training_samples": int(problem.partitions[0].train.shape[0]),
        "test_samples": int(problem.partitions[0].test.shape[0]),
        "sigma_unit": widths(problem, [1.0])[0],
        "folds": FOLDS,
        "fold_seed": SEED,
        "fold_draws": study.repeats,
        "chosen_on_partitions": min(study.n_choice, len(problem.partitions)),
        "methods": {method: _method_settings(table, outcome) for method, outcome in outcomes.items()},
    }


def _method_settings(table: Table, outcome: Outcome) -> dict[str, Any]:
    search = outcome.search
    return {
        **_searched(search),
        "final": dict(search.final),
        "sizes": None if search.sizes is None else list(search.sizes),
        "choice_samples": search.n_samples,
        "chosen": outcome.choice.parameters,
        "cv_value": None if outcome.choice.loss is None else float(table.value(np.array([outcome.choice.loss]))[0]),
        "choice_seconds": outcome.choice.seconds,
        "values": outcome.values.tolist(),
        "kernels": [trial.kernels for trial in outcome.trials],
        "fit_seconds": [trial.fit_seconds for trial in outcome.trials],
        "predict_seconds": [trial.predict_seconds for trial in outcome.trials],
        "chosen_by_partition": [dict(trial.choice.parameters) for trial in outcome.trials if trial.choice],
    }


def _searched(search: Search) -> dict[str, Any]:
    """Return the grid of a search, and the fixed parameters."""
    estimator = search.estimator
    if search.grid:
        grid = {name: sorted({setting[name] for setting in search.grid}) for name in search.grid[0]}
        all_fixed = estimator.get_params()
    else:
        grid = {plain_name(name): sorted(values) for name, values in getattr(estimator, "param_grid", {}).items()}
        all_fixed = getattr(estimator, "estimator", estimator).get_params()
    plain = {plain_name(key): value for key, value in all_fixed.items() if isinstance(value, int | float | str | None)}
    return {"fixed": {key: value for key, value in plain.items() if key not in grid}, "grid": grid}
