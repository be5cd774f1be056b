"""Accuracy and size of least-squares support vector machines before and after pruning (Suykens et al. 2002, table 3.5).

    python -m benchmarks.pruning --data-dir ../shared/data/ml/lssvm [--sets hea acr gcr iri bal] [--draws 10]

Every draw uses random two thirds of a set for training, standardized. The width is found by a shrinking grid, five-fold
cross-validation and one refinement, the penalty by leave-one-out. For three or more classes, each pair is pruned
separately, with the width of `LSSVMClassifier(coding="one-vs-one")`. Accuracies on the last third are in per cent, mean
and standard deviation over the draws. Sample counts are summed over the pairs.
"""

import argparse
import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from discriminants import (  # noqa: E402
    LSSVMClassifier,
    PairwiseClassifier,
    PrunedLSSVMClassifier,
    ShrinkingGridSearchCV,
)

MADE_HERE = ("iri", "bal")
LEVELS = (0.05, 0.01)
PENALTIES = np.logspace(-3, 2, 11)


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Load samples and labels; the irises are scikit-learn's, "bal" is all 625 balances of two weights on two arms."""
    if name == "iri":
        X, y = load_iris(return_X_y=True)
        return X, y
    if name == "bal":
        X = np.array(list(product(range(1, 6), repeat=4)), dtype=float)
        return X, np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(int)
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return file["x"].astype(float), file["y"]


def measured(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Return accuracy and number of samples of the full machine, then of the pruned one for every level."""
    order = np.random.default_rng(seed).permutation(y.shape[0])
    train, test = np.split(order, [2 * y.shape[0] // 3])
    scaler = StandardScaler().fit(X[train])
    own, others = scaler.transform(X[train]), scaler.transform(X[test])
    widths = np.sqrt(X.shape[1]) * np.array([4.0, 2.0, 1.0, 0.5])
    full = LSSVMClassifier(coding="one-vs-one", decoding="hamming", regularization=PENALTIES)
    search = ShrinkingGridSearchCV(full, {"sigma": widths.tolist()}, n_refinements=1, cv=5).fit(own, y[train])
    settings = {"sigma": search.best_params_["sigma"], "regularization": search.best_estimator_.regularization_}
    machine = PairwiseClassifier(LSSVMClassifier(**settings)).fit(own, y[train])
    found = [100 * machine.score(others, y[test]), _n_samples(machine)]
    for level in LEVELS:
        pruned = PairwiseClassifier(PrunedLSSVMClassifier(**settings, significance=level)).fit(own, y[train])
        found += [100 * pruned.score(others, y[test]), _n_samples(pruned)]
    return found


def _n_samples(machine: PairwiseClassifier) -> float:
    return float(sum(pair.basis_centers_.shape[0] for pair in machine.estimators_))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=Path(), help="folder of the sets that are files")
    parser.add_argument("--sets", nargs="+", default=["hea", "acr", "gcr", *MADE_HERE])
    parser.add_argument("--draws", type=int, default=10, help="of every set (default: 10)")
    found = parser.parse_args(arguments)
    ways = ("all", *(f"{100 * level:g} %" for level in LEVELS))
    print("set  " + "".join(f"{way:>14} samples" for way in ways))
    for name in found.sets:
        X, y = load(found.data_dir, name)
        rows = np.array([measured(X, y, seed) for seed in range(found.draws)])
        means, deviations = rows.mean(axis=0), rows.std(axis=0)
        cells = [f"{means[i]:8.1f}({deviations[i]:4.1f}) {means[i + 1]:7.0f}" for i in range(0, rows.shape[1], 2)]
        print(f"{name:5}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
