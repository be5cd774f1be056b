"""Table lssvm-uci: least-squares support vector machines on UCI sets (Suykens et al. 2002, tables 3.3 and 3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from asr.util.errors import CorpusError
from discriminants.lssvm.lssvm import LSSVMClassifier
from discriminants.lssvm.shrinking_grid import ShrinkingGridSearchCV
from recipes.benchmarks.datasets import random_partitions
from recipes.benchmarks.model_choice import SEED, Search
from recipes.benchmarks.problem import Problem
from recipes.benchmarks.study import Study, Table
from recipes.benchmarks.uci_sets import READERS, two_classes

# Numbers of training and test samples in the source.
SIZES = {
    "acr": (460, 230),
    "gcr": (666, 334),
    "hea": (180, 90),
    "pid": (512, 256),
    "snr": (138, 70),
    "ttt": (638, 320),
    "wbc": (455, 228),
    "bal": (416, 209),
    "iri": (100, 50),
    "led": (2000, 1000),
    "win": (118, 60),
    "usp": (6000, 3298),
    "adu": (33000, 12222),
}
MADE_HERE = ("ttt", "bal", "iri", "led", "win")
N_DRAWS = 10
LARGE, CHOICE_SAMPLES, LARGE_FOLDS = 1000, 1000, 5
ITERATED = 10_000  # with more training samples the kernel matrix is not stored
_CACHE_MB = 500


@dataclass(frozen=True)
class _Grids:
    """The first grid; widths in multiples of the root of the number of features, which have unit deviation."""

    multiples: tuple[float, ...]
    regularizations: tuple[float, ...]
    costs: tuple[float, ...]
    refinements: int
    folds: int
    n_draws: int = N_DRAWS
    most: int | None = None


# Smoother settings first: ties are resolved in favor of the first.
FULL = _Grids(
    multiples=(4.0, 2.0, 1.0, 0.5, 0.25),
    regularizations=(100.0, 10.0, 1.0, 0.1, 0.01, 0.001),
    costs=(0.1, 1.0, 10.0, 100.0),
    refinements=3,
    folds=10,
)
QUICK = _Grids(
    multiples=(1.0, 0.5), regularizations=(1.0, 0.1), costs=(1.0, 10.0), refinements=0, folds=2, n_draws=2, most=60
)


class PartFolds:
    """Stratified folds of a stratified part of the samples, or of all samples if there are not more."""

    def __init__(self, n_splits: int, n_samples: int) -> None:
        self.n_splits = n_splits
        self.n_samples = n_samples

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds, for scikit-learn."""
        return self.n_splits

    def split(self, X: Any, y: np.ndarray, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield training and held-out rows."""
        rows = np.arange(len(y))
        if self.n_samples < len(y):
            rows, _ = train_test_split(rows, train_size=self.n_samples, random_state=SEED, stratify=y)
            rows = np.sort(rows)
        for train, held_out in StratifiedKFold(self.n_splits, shuffle=True, random_state=SEED).split(rows, y[rows]):
            yield rows[train], rows[held_out]


def open_problem(path: Path, name: str, quick: bool) -> Problem:
    """Return the data set with random draws of the source's sizes."""
    grids = QUICK if quick else FULL
    n_train, n_test = SIZES[name]
    X, y = READERS.get(name, two_classes)(path)
    if grids.most is not None:
        n_train, n_test = min(n_train, grids.most), min(n_test, grids.most)
    if X.shape[0] < n_train + n_test:
        raise CorpusError(f"{path}: {X.shape[0]} samples. Expected {n_train} + {n_test}")
    n_draws = 1 if n_train > ITERATED else grids.n_draws
    return Problem(X, y, random_partitions(X.shape[0], n_train, n_test, n_draws))


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with its searches."""
    grids = QUICK if quick else FULL
    problem = open_problem(path, name, quick)
    X, n_train = problem.X, problem.partitions[0].train.shape[0]
    folds = PartFolds(grids.folds if n_train <= LARGE else LARGE_FOLDS, CHOICE_SAMPLES)
    widths = [float(np.sqrt(X.shape[1])) * multiple for multiple in grids.multiples]

    def search(method: str, estimator: Any, **first_grid: list[float]) -> Search:
        steps = Pipeline([("scale", StandardScaler()), (method, estimator)])
        named = {f"{method}__{parameter}": values for parameter, values in first_grid.items()}
        return Search(method, ShrinkingGridSearchCV(steps, named, n_refinements=grids.refinements, cv=folds))

    outputs: dict[str, Any] = {
        "posterior": "gaussian",
        "decide_by": "output",
    }  # the class of the least error, as in the source
    lssvm = LSSVMClassifier(coding="one-vs-one", **outputs)
    if n_train > ITERATED:
        lssvm = LSSVMClassifier(solver="conjugate_gradient", tol=1e-3, **outputs)
    searches = (
        search("lssvm", lssvm, sigma=widths, regularization=list(grids.regularizations)),
        search("svm", SVC(cache_size=_CACHE_MB), gamma=[0.5 / w**2 for w in widths], C=list(grids.costs)),
    )
    return Study(problem, searches)


FILES = {name: f"lssvm/{name}.npz" for name in SIZES if name not in MADE_HERE} | {"usp": "usps.npz"}

TABLE = Table(
    number="lssvm-uci",
    title="Least-squares support vector machines on thirteen UCI sets (Suykens et al. 2002)",
    unit="test accuracy %",
    value=lambda losses: 100.0 - 100.0 * np.asarray(losses),
    data=tuple(SIZES),
    file=FILES,
    methods=("lssvm", "svm"),
    notes=(
        (
            f"Mean and standard deviation of the accuracy over {N_DRAWS} random draws (adu: one), with as many "
            "training and test samples as in the source. Features have zero mean and unit deviation over the "
            "training part. In brackets: kernel evaluations per prediction, in % of the training samples. Gaussian "
            "kernels; more than two classes one against one, with squared-error decoding in the LS-SVM."
        ),
        (
            f"Width and penalty: {FULL.folds}-fold cross-validation of the error rate in each draw, only on the "
            f"training part. The grid of 5 widths and 6 penalties (SVM: 4) is refined {FULL.refinements} times. "
            f"Above {LARGE} training samples: {LARGE_FOLDS} folds of {CHOICE_SAMPLES} of them. All pairs of classes "
            "share one setting; the source chooses one per pair and has a larger first grid. The settings shown are "
            "medians over the draws."
        ),
        (
            "Of the source's sets, bld, ion, cmc, ims, thy and veh are not available, and wav has another task than "
            "its name says. gcr has 24 numeric features (source: 20). adu has 104, with one indicator for each value "
            "of a category (source: 14). led comes from its generator."
        ),
    ),
    study=open_study,
)
