"""Table bayes-uci: Bayesian LS-SVM and Gaussian processes (Suykens et al. 2002, table 4.1)."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from discriminants.lssvm.bayesian_lssvm_classifier import BayesianLSSVMClassifier
from discriminants.lssvm.shrinking_grid import ShrinkingGridSearchCV
from recipes.benchmarks.datasets import random_partitions
from recipes.benchmarks.lssvm_uci import FILES, SIZES, PartFolds
from recipes.benchmarks.model_choice import SEED, Search
from recipes.benchmarks.problem import Problem
from recipes.benchmarks.study import Study, Table
from recipes.benchmarks.uci_sets import joined_parts, two_classes

_SIZES = {name: SIZES.get(name) for name in ("gcr", "hea", "pid", "rsy", "snr", "tit", "wbc")} | {
    "rsy": (250, 1000),
    "tit": (1467, 734),
}
_FILES = {name: FILES.get(name, "") for name in _SIZES} | {"rsy": "ripley.npz", "tit": "ida/titanic.npz"}
_N_DRAWS, _FOLDS = 10, 5
_MULTIPLES = (2.0, 1.0, 0.5, 0.25)  # of the root of the number of features: length scales
_VARIANCES = (1.0, 10.0, 100.0)
_QUICK = 60  # samples of a part


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with its methods."""
    X, y = (joined_parts if name == "rsy" else two_classes)(path)
    n_train, n_test = (min(n, _QUICK) if quick else n for n in _SIZES[name] or ())
    problem = Problem(X, y, random_partitions(X.shape[0], n_train, n_test, 2 if quick else _N_DRAWS))
    scale = float(np.sqrt(X.shape[1]))
    kernel = ConstantKernel(1.0) * RBF(scale)

    def process(kernel: Any, **options: Any) -> GaussianProcessClassifier:
        return GaussianProcessClassifier(kernel, random_state=SEED, **options)

    def scaled(name: str, estimator: Any) -> Pipeline:
        return Pipeline([("scale", StandardScaler()), (name, estimator)])

    lengths = [scale * multiple for multiple in (_MULTIPLES[:2] if quick else _MULTIPLES)]
    by_folds = ShrinkingGridSearchCV(
        scaled("gp", process(kernel, optimizer=None)),
        {"gp__kernel__k1__constant_value": list(_VARIANCES), "gp__kernel__k2__length_scale": lengths},
        n_refinements=0,
        cv=PartFolds(2 if quick else _FOLDS, X.shape[0]),
    )
    fixed = {
        "lssvm-bay": BayesianLSSVMClassifier(posterior="moderated"),
        "gp": process(kernel),
        "gp-bias": process(kernel + ConstantKernel(1.0)),
    }
    searches = [Search(method, scaled(method, estimator)) for method, estimator in fixed.items()]
    return Study(problem, (*searches, Search("gp-cv", by_folds)))


TABLE = Table(
    number="bayes-uci",
    title="Bayesian LS-SVM and Gaussian processes on seven two-class sets (Suykens et al. 2002)",
    unit="test accuracy %",
    value=lambda losses: 100.0 - 100.0 * np.asarray(losses),
    data=tuple(_SIZES),
    file=_FILES,
    methods=("lssvm-bay", "gp", "gp-bias", "gp-cv"),
    notes=(
        (
            f"Mean and standard deviation of the accuracy over {_N_DRAWS} random draws of the source's sizes. Features "
            "have zero mean and unit deviation over the training part. The LS-SVM is the source's BayM: penalty and "
            "width by the evidence, moderated outputs."
        ),
        (
            "The Gaussian processes are scikit-learn's classifier (Laplace's approximation); those of the source are "
            "regressions onto +-1. Length scale and variance maximize the evidence, with and without a bias in the "
            f"kernel; GP, CV: {_FOLDS} folds (source: 10) over a grid of {len(_MULTIPLES)} length scales and "
            f"{len(_VARIANCES)} variances."
        ),
        "Of the source's sets, bld, cra and ion are not available.",
    ),
    study=open_study,
)
