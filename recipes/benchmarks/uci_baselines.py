"""Table uci-baselines: classical classifiers on UCI sets (Suykens et al. 2002, tables 3.3 and 3.4)."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from recipes.benchmarks.lssvm_uci import FILES, SIZES, open_problem
from recipes.benchmarks.model_choice import SEED, Search
from recipes.benchmarks.study import Study, Table

_SHRINKAGE = 1e-3  # of the class covariances of QDA; some are singular

CLASSIFIERS: dict[str, Any] = {
    "lda": LinearDiscriminantAnalysis(),
    "qda": QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=_SHRINKAGE, tol=1e-9),
    "logit": LogisticRegression(C=1e4, max_iter=1000),
    "tree": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=SEED),
    "ib1": KNeighborsClassifier(1),
    "ib10": KNeighborsClassifier(10),
    "nb": GaussianNB(),
    "majority": DummyClassifier(),
}


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with the classifiers, which have no settings to choose."""
    searches = tuple(
        Search(method, Pipeline([("scale", StandardScaler()), (method, classifier)]))
        for method, classifier in CLASSIFIERS.items()
    )
    return Study(open_problem(path, name, quick), searches)


TABLE = Table(
    number="uci-baselines",
    title="Classical classifiers on thirteen UCI sets (Suykens et al. 2002)",
    unit="test accuracy %",
    value=lambda losses: 100.0 - 100.0 * np.asarray(losses),
    data=tuple(SIZES),
    file=FILES,
    methods=tuple(CLASSIFIERS),
    notes=(
        (
            "Draws and scaling are those of table lssvm-uci. The classifiers are scikit-learn's, without a search: "
            f"QDA with shrinkage {_SHRINKAGE}, logistic regression with C = 10^4, and naive Bayes with normal "
            "densities. The tree splits by entropy down to leaves of two samples; the source's is C4.5, which prunes."
        ),
        "The source's oneR and its naive Bayes with kernel densities have no counterpart in scikit-learn.",
    ),
    study=open_study,
)
