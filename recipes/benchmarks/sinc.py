"""Table 5.4: sin(x)/x from 50 noisy points."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discriminants.center_selection.forward.model_size import sizes_up_to
from discriminants.sparse.npd import NPDRegressor
from discriminants.sparse.orols import OROLSRegressor
from discriminants.sparse.rvm import RVMRegressor
from recipes.benchmarks.forward import penalised_npd_search, penalised_orols_search
from recipes.benchmarks.peers import rvm_search, svr_search
from recipes.benchmarks.problem import Partition, Problem
from recipes.benchmarks.study import Study, Table, widths

N_TRAIN, N_TEST = 50, 1000
NOISE = 0.1
N_RUNS = 100


@dataclass(frozen=True)
class _Grids:
    """Candidate settings; widths in multiples of the standard deviation of x, C and epsilon in that of y."""

    multiples: tuple[float, ...]
    norm_penalties: tuple[float, ...]
    max_centers: int
    costs: tuple[float, ...]
    tubes: tuple[float, ...]
    n_runs: int


FULL = _Grids(
    multiples=tuple(2.0 ** (k / 4) for k in range(-9, 1)),
    norm_penalties=(0.0, 0.001, 0.003, 0.01, 0.03, 0.1),
    max_centers=40,
    costs=(0.3, 1.0, 3.0, 10.0, 100.0),
    tubes=(0.05, 0.1, 0.2, 0.3, 0.5),
    n_runs=N_RUNS,
)
QUICK = _Grids(
    multiples=(0.18, 0.25, 0.35, 0.5),
    norm_penalties=(0.0, 0.03),
    max_centers=20,
    costs=(1.0, 10.0),
    tubes=(0.1, 0.3),
    n_runs=4,
)

REESTIMATIONS = ("gcv", "evidence")
OPTIONS: dict[str, Any] = {"rule": "error_reduction", "n_candidates": 3000}


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the runs with their searches; no file is read."""
    grids = QUICK if quick else FULL
    problem = sinc_problem(grids.n_runs)
    sigmas = widths(problem, grids.multiples)
    spread = float(problem.y[problem.partitions[0].train].std())
    searches = (
        penalised_orols_search(
            OROLSRegressor,
            sigmas,
            grids.norm_penalties,
            grids.max_centers,
            reestimations=REESTIMATIONS,
            **OPTIONS,
        ),
        penalised_npd_search(NPDRegressor, sigmas, grids.norm_penalties, sizes_up_to(grids.max_centers), **OPTIONS),
        svr_search(sigmas, grids.costs, grids.tubes, spread),
        rvm_search(RVMRegressor, sigmas),
    )
    return Study(problem, searches, n_choice=grids.n_runs)


def sinc_problem(n_runs: int) -> Problem:
    """Draw runs of N_TRAIN noisy and N_TEST noise-free points, x uniform on (-10, 10), run r from `default_rng(r)`."""
    n = N_TRAIN + N_TEST
    x = np.empty(n_runs * n)
    y = np.empty_like(x)
    partitions = []
    for run in range(n_runs):
        random = np.random.default_rng(run)
        rows = np.arange(run * n, (run + 1) * n)
        train, test = rows[:N_TRAIN], rows[N_TRAIN:]
        x[rows] = random.uniform(-10.0, 10.0, n)
        y[rows] = np.sinc(x[rows] / np.pi)
        y[train] += random.normal(0.0, NOISE, N_TRAIN)
        partitions.append(Partition(train, test))
    return Problem(x[:, None], y, tuple(partitions))


TABLE = Table(
    number="5.4",
    title="sin(x)/x with noise",
    unit="RMSE",
    value=np.sqrt,
    data=("sinc",),
    file=None,
    methods=("orols", "npd", "svm", "rvm"),
    notes=(
        (
            f"{N_TRAIN} training points with Gaussian noise of standard deviation {NOISE}, {N_TEST} test points "
            "without noise, both uniform on (-10, 10). Mean root mean square error and standard deviation "
            f"over {N_RUNS} runs; the seed of run r is r. In brackets: kernel evaluations per prediction, in % of the "
            "training points."
        ),
        (
            "Settings: five-fold cross-validation on the training points, with the squared errors summed over all "
            "runs, because fifty points are too few to choose on. OROLS and NPD: width, a penalty on the norm of the "
            "expansion and the number of centers. OROLS: also the choice of lambda by generalized cross-validation "
            "or by the evidence. RVM: width; its source is table 3 of Andelic et al., IJCAI 2007."
        ),
    ),
    study=open_study,
)
