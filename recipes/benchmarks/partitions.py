"""Table 5.3: thirteen two-class sets with fixed partitions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discriminants.sparse.npd import NPDClassifier
from discriminants.sparse.ols import OLSClassifier
from discriminants.sparse.orols import OROLSClassifier
from recipes.benchmarks.datasets import two_class_problem
from recipes.benchmarks.forward import ols_search, orols_search, penalised_npd_search
from recipes.benchmarks.peers import kfd_search, svc_search
from recipes.benchmarks.problem import Problem
from recipes.benchmarks.study import Study, Table, widths


@dataclass(frozen=True)
class _Grids:
    """Candidate settings; widths in multiples of the root of the summed variance."""

    multiples: tuple[float, ...]
    epsilons: tuple[float, ...]
    norm_penalties: tuple[float, ...]
    max_centers: int
    max_npd_centers: int
    costs: tuple[float, ...]
    regularizations: tuple[float, ...]
    n_partitions: int | None = None


FULL = _Grids(
    multiples=tuple(2.0 ** (k / 2) for k in range(-4, 5)),
    epsilons=(0.0, 0.1, 0.5, 2.0),
    norm_penalties=(0.0, 0.001, 0.01, 0.1, *(10.0 ** (k / 2) for k in range(-1, 4))),
    max_centers=300,
    max_npd_centers=400,
    costs=tuple(10.0 ** (k / 2) for k in range(-2, 7)),
    regularizations=tuple(10.0 ** (k / 2) for k in range(-6, 5)),
)
QUICK = _Grids(
    multiples=(0.5, 1.0, 2.0),
    epsilons=(0.0, 1.0),
    norm_penalties=(0.0, 1.0),
    max_centers=40,
    max_npd_centers=40,
    costs=(1.0, 10.0),
    regularizations=(0.1, 1.0),
    n_partitions=3,
)

BY_OUTPUT: dict[str, Any] = {"decide_by": "output"}  # the source's threshold
OPTIONS: dict[str, Any] = {"rule": "error_reduction", "n_candidates": 3000, **BY_OUTPUT}
NPD_SHARES = (0.25, 0.5)  # centers of NPD as fractions of the number of training samples
SMALL, REPEATS = 250, 4  # up to SMALL training samples the folds are drawn REPEATS times


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with its searches."""
    grids = QUICK if quick else FULL
    problem = two_class_problem(path)
    if grids.n_partitions is not None:
        problem = Problem(problem.X, problem.y, problem.partitions[: grids.n_partitions])
    sigmas = widths(problem, grids.multiples)
    n_train = problem.partitions[0].train.shape[0]
    max_centers = min(grids.max_centers, n_train)
    npd_sizes = sorted({min(grids.max_npd_centers, round(share * n_train)) for share in NPD_SHARES})
    searches = (
        orols_search(OROLSClassifier, sigmas, grids.epsilons, max_centers, **OPTIONS),
        penalised_npd_search(NPDClassifier, sigmas, grids.norm_penalties, npd_sizes, **OPTIONS),
        ols_search(OLSClassifier, sigmas, max_centers, **BY_OUTPUT),
        svc_search(sigmas, grids.costs),
        kfd_search(sigmas, grids.regularizations, **BY_OUTPUT),
    )
    return Study(problem, searches, repeats=REPEATS if n_train <= SMALL and not quick else 1)


TABLE = Table(
    number="5.3",
    title="Thirteen two-class benchmarks",
    unit="test error %",
    value=lambda losses: 100.0 * np.asarray(losses),
    data=(
        "banana",
        "breast-cancer",
        "diabetis",
        "flare-solar",
        "german",
        "heart",
        "image",
        "ringnorm",
        "splice",
        "thyroid",
        "titanic",
        "twonorm",
        "waveform",
    ),
    file="ida/{}.npz",
    methods=("orols", "npd", "ols", "svm", "kfd"),
    notes=(
        (
            "Mean test error and standard deviation over the partitions of each set (100; 20 for image and splice), "
            "data unchanged. In brackets: kernel evaluations per prediction, in % of the training samples; the "
            "source prints 100 minus this."
        ),
        (
            "Settings: the least total error of five-fold cross-validation on the first five training partitions, as "
            f"in the source. Sets with at most {SMALL} training samples use {REPEATS} random divisions into folds. "
            "OROLS: width, epsilon and number of centers (source: only the width). OLS: width and number of centers. "
            "SVM: width and C. KFD: width and regularization. NPD: width, a penalty on the norm of the expansion "
            "instead of the source's epsilon, and a quarter or half of the training samples as centers, at "
            f"most {FULL.max_npd_centers}, or all distinct samples if they are fewer."
        ),
        "Most partitions are new; only some of the original ones are still available.",
    ),
    study=open_study,
)
