"""Table 5.2: five multi-class sets of characters and images."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from discriminants.sparse.krls import KRLSClassifier
from discriminants.sparse.npd import NPDClassifier
from discriminants.sparse.orols import OROLSClassifier
from recipes.benchmarks.datasets import multi_class_problem
from recipes.benchmarks.forward import krls_search, npd_search, orols_search
from recipes.benchmarks.peers import kfd_search, svc_search
from recipes.benchmarks.problem import Partition, Problem
from recipes.benchmarks.study import Study, Table, widths


@dataclass(frozen=True)
class _Grids:
    """Candidate settings; widths in multiples of the root of the summed variance."""

    multiples: tuple[float, ...]
    epsilons: dict[str, tuple[float, ...]]
    max_centers: dict[str, int]
    choice_candidates: dict[str, int]
    final_candidates: int
    svm_multiples: tuple[float, ...]
    costs: tuple[float, ...]
    svm_samples: int
    krls_samples: int
    regularizations: tuple[float, ...]
    n_train: int | None = None


FULL = _Grids(
    multiples=tuple(2.0 ** (k / 2) for k in range(-2, 2)),
    epsilons=dict.fromkeys(("usps", "letter"), (0.0,))
    | dict.fromkeys(("optdigits", "pendigits", "satimage"), (0.0, 0.1)),
    max_centers={"usps": 1800, "letter": 4000, "optdigits": 900, "pendigits": 750, "satimage": 700},
    choice_candidates={"usps": 2000, "letter": 3500, "optdigits": 1500, "pendigits": 1500, "satimage": 1500},
    final_candidates=12000,
    svm_multiples=tuple(2.0 ** (k / 2) for k in range(-3, 1)),
    costs=(1.0, 10.0, 100.0),
    svm_samples=3000,
    krls_samples=2000,
    regularizations=(0.01, 0.1, 1.0),
)
QUICK = replace(
    FULL,
    multiples=(0.5, 1.0),
    epsilons=dict.fromkeys(FULL.epsilons, (0.0,)),
    max_centers=dict.fromkeys(FULL.max_centers, 150),
    choice_candidates=dict.fromkeys(FULL.max_centers, 500),
    svm_multiples=(0.5, 1.0),
    costs=(10.0,),
    regularizations=(0.1,),
    n_train=1500,
)

RULE = "error_reduction"


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with its searches."""
    grids = QUICK if quick else FULL
    problem = multi_class_problem(path)
    if grids.n_train is not None:
        problem = with_fewer(problem, grids.n_train)
    sigmas = widths(problem, grids.multiples)
    options: dict[str, Any] = {
        "rule": RULE,
        "dictionary": "shared",
        "n_candidates": grids.choice_candidates[name],
        "posterior": "gaussian",
        "decide_by": "output",  # as in the source
    }
    final = {"n_candidates": grids.final_candidates}
    most = grids.max_centers[name]
    orols = orols_search(OROLSClassifier, sigmas, grids.epsilons[name], most, **options)
    npd = npd_search(NPDClassifier, sigmas, grids.epsilons[name], most, **options)
    searches = (
        replace(orols, final=final),
        replace(npd, final=final),
        krls_search(KRLSClassifier, sigmas, most, grids.krls_samples, posterior="gaussian", decide_by="output"),
        svc_search(widths(problem, grids.svm_multiples), grids.costs, grids.svm_samples),
        kfd_search(sigmas, grids.regularizations),
    )
    return Study(problem, searches)


def with_fewer(problem: Problem, n_train: int) -> Problem:
    """Return the first partition with a stratified part of its training samples."""
    train, test = problem.partitions[0]
    if n_train < train.shape[0]:
        train, _ = train_test_split(train, train_size=n_train, random_state=0, stratify=problem.y[train])
    return Problem(problem.X, problem.y, (Partition(np.sort(train), test),))


TABLE = Table(
    number="5.2",
    title="Five multi-class benchmarks",
    unit="test error %",
    value=lambda losses: 100.0 * np.asarray(losses),
    data=("usps", "letter", "optdigits", "pendigits", "satimage"),
    file="{}.npz",
    methods=("orols", "npd", "krls", "svm", "kfd"),
    notes=(
        (
            "Test error on the given test set. In brackets: kernel evaluations per prediction, in % of the training "
            "samples. One against the rest, with one dictionary for all classes and the error-reduction criterion. "
            "The SVM is scikit-learn's, one against one; each support vector counts once. The source gives the "
            "average over its one-against-rest machines, which have different centers."
        ),
        (
            "One linear map, fixed on the training data and the same for all features, maps their smallest value to "
            "-1 and their largest to 1. The scaling of the source is not known."
        ),
        (
            "Settings: five-fold cross-validation on the training set. Width, epsilon and number of centers of OROLS "
            f"and NPD with {FULL.choice_candidates['optdigits']} candidates (usps {FULL.choice_candidates['usps']}, "
            f"letter {FULL.choice_candidates['letter']}, both without epsilon), and up to {FULL.final_candidates} "
            f"candidates in the fit; the SVM on a stratified subset of at most {FULL.svm_samples} samples; KRLS and "
            f"KFD on {FULL.krls_samples}. In the source, only the width of OROLS is chosen."
        ),
        "Times are for one fit and one pass over the test set on one thread, while other processes run.",
    ),
    study=open_study,
)
