"""Learners with default settings, compared with scikit-learn's SVC with default settings.

    python -m benchmarks.default_settings [--data-dir DIR] [--draws 8] [--learners NPD OROLS ...]

On standardized features: four sets of scikit-learn with random parts for every draw (four fifths for training; 300 and
900 samples of the digits). With `--data-dir`, also the two-class sets of the IDA benchmark in that folder, with their
first partitions. Prints three tables, each with its mean over the sets: error on the other samples in per cent, their
cross-entropy (natural log; SVC has no posteriors), and seconds of a fit on one BLAS thread.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from discriminants import (  # noqa: E402
    BayesianLSSVMClassifier,
    FixedSizeLSSVMClassifier,
    KFDClassifier,
    KRLSClassifier,
    LSSVMClassifier,
    NPDClassifier,
    OROLSClassifier,
    SparseGreedyKFDClassifier,
    SparseKernelLogisticClassifier,
)

Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # training samples and labels, test samples and labels

PEER = "SVC"
LEARNERS: dict[str, Callable[[], Any]] = {
    PEER: SVC,
    "NPD": lambda: NPDClassifier(random_state=0),
    "OROLS": lambda: OROLSClassifier(random_state=0),
    "SparseKernelLogistic": lambda: SparseKernelLogisticClassifier(random_state=0),
    "FixedSizeLSSVM": lambda: FixedSizeLSSVMClassifier(random_state=0),
    "KRLS": KRLSClassifier,
    "LSSVM": LSSVMClassifier,
    "BayesianLSSVM": BayesianLSSVMClassifier,
    "KFD": KFDClassifier,
    "SparseGreedyKFD": lambda: SparseGreedyKFDClassifier(random_state=0),
}
LOADED: dict[str, tuple[Callable[..., Any], float | int]] = {
    "iris": (load_iris, 0.8),
    "wine": (load_wine, 0.8),
    "cancer": (load_breast_cancer, 0.8),
    "digits 300": (load_digits, 300),
    "digits 900": (load_digits, 900),
}
MAX_SAMPLES = 700  # largest partition of the IDA benchmark: the test is on small samples


def drawn(name: str, n_draws: int) -> Iterator[Part]:
    """Draw parts of a set of scikit-learn."""
    load, share = LOADED[name]
    X, y = load(return_X_y=True)
    for seed in range(n_draws):
        X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=share, stratify=y, random_state=seed)
        yield X_train, y_train, X_test, y_test


def partitioned(path: Path, n_draws: int) -> Iterator[Part]:
    """Return the first partitions of a small set of the IDA benchmark."""
    with np.load(path, allow_pickle=False) as file:
        X, y, train, test = (file[name] for name in ("x", "y", "train", "test"))
    if train.shape[1] <= MAX_SAMPLES:
        for own, others in zip(train[:n_draws], test[:n_draws], strict=True):
            yield X[own], y[own], X[others], y[others]


def measured(learner: Callable[[], Any], parts: Sequence[Part]) -> tuple[float, float, float]:
    """Return means over the parts: error in per cent, cross-entropy (NaN without posteriors) and seconds of a fit."""
    found = []
    for X, y, X_test, y_test in parts:
        model = make_pipeline(StandardScaler(), learner())
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
        error = 100.0 * float(np.mean(model.predict(X_test) != y_test))
        entropy = log_loss(y_test, model.predict_proba(X_test)) if hasattr(model, "predict_proba") else np.nan
        found.append((error, entropy, seconds))
    error, entropy, seconds = np.mean(found, axis=0)
    return float(error), float(entropy), float(seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the sets of the IDA benchmark")
    parser.add_argument("--draws", type=int, default=8, help="of every set (default: 8)")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS), metavar="NAME")
    found = parser.parse_args(arguments)
    if found.draws < 1:
        parser.error(f"--draws is {found.draws}. Expected at least 1")
    chosen = [PEER, *(name for name in found.learners if name != PEER)]
    sets = {name: list(drawn(name, found.draws)) for name in LOADED}
    if found.data_dir is not None:
        files = sorted(found.data_dir.glob("*.npz"))
        if not files:
            parser.error(f"--data-dir {found.data_dir} has no .npz files")
        sets |= {path.stem: parts for path in files if (parts := list(partitioned(path, found.draws)))}
    values = np.array([[measured(LEARNERS[learner], parts) for parts in sets.values()] for learner in chosen])
    values = np.concatenate([values.mean(axis=1, keepdims=True), values], axis=1)
    for number, (title, form) in enumerate((("error %", ".2f"), ("cross-entropy", ".3f"), ("seconds per fit", ".3f"))):
        print("".join([f"{title:22}", f"{'mean':>11}", *(f"{name[:10]:>11}" for name in sets)]))
        for learner, row in zip(chosen, values[:, :, number], strict=True):
            print(f"{learner:22}" + "".join(f"{'' if np.isnan(value) else format(value, form):>11}" for value in row))
        print()


if __name__ == "__main__":
    main()
