"""Test error of a linear model on the features of selected centers, compared with random centers.

    python -m benchmarks.nystroem --data-dir DIR [--sets letter usps] [--sizes 100 300]
        [--choosers greedy k-means]

Features of the same kernel and width come from `GreedyNystroem` with each chooser and from scikit-learn's `Nystroem`,
with the error averaged over three seeds. `RidgeClassifier` with the same penalty classifies them. Seconds include
choosing the centers, transforming and fitting, averaged over the seeds. The last line counts the cases in which the
first chooser has the smaller error.

Widths are those of `benchmarks.learners.settings` for `orols_atoms`, whose docstring describes their choice.
"""

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.linear_model import RidgeClassifier  # noqa: E402

from benchmarks.learners.datasets import NAMES, Split, load  # noqa: E402
from benchmarks.learners.settings import SETTINGS  # noqa: E402
from discriminants import GreedyNystroem  # noqa: E402
from discriminants.center_selection.choice import CHOOSERS  # noqa: E402

SIZES = (100, 300, 1000)
SEEDS = (0, 1, 2)
RIDGE = 1e-3


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a table and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the benchmark sets")
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=NAMES, help="default: all")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="numbers of components")
    parser.add_argument("--choosers", nargs="+", choices=CHOOSERS, default=["greedy", "k-means"])
    found = parser.parse_args(arguments)
    print(f"{'set':8} {'components':>10} {'centers':16} {'error %':>8} {'seconds':>8}")
    wins = cells = 0
    for name in found.sets:
        split, sigma = load(found.data_dir, name), float(SETTINGS[name]["orols_atoms"]["sigma"])
        for size in found.sizes:
            errors = []
            for chooser in found.choosers:
                features = GreedyNystroem(size, sigma=sigma, chooser=chooser, random_state=0)
                errors.append(_report(name, size, chooser, [_measured(features, split)]))
            drawn = [Nystroem(gamma=0.5 / sigma**2, n_components=size, random_state=seed) for seed in SEEDS]
            at_random = _report(name, size, "at random", [_measured(features, split) for features in drawn])
            wins, cells = wins + (errors[0] < at_random), cells + 1
    print(f"{found.choosers[0]} has the smaller error in {wins} of {cells}")


def _measured(features: Any, split: Split) -> tuple[float, float]:
    """Return test error in per cent, and seconds."""
    start = time.perf_counter()
    Z = features.fit(split.X, split.y).transform(split.X)
    model = RidgeClassifier(alpha=RIDGE).fit(Z, split.y)
    seconds = time.perf_counter() - start
    return 100.0 * (1.0 - model.score(features.transform(split.X_test), split.y_test)), seconds


def _report(name: str, size: int, centres: str, runs: list[tuple[float, float]]) -> float:
    error, seconds = np.mean(runs, axis=0)
    print(f"{name:8} {size:10d} {centres:16} {error:8.2f} {seconds:8.2f}", flush=True)
    return float(error)


if __name__ == "__main__":
    main()
