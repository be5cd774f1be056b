"""Learners on sparse samples: accuracy, seconds and memory, compared with scikit-learn's linear classifiers.

    python -m benchmarks.sparse_input [--samples 20000] [--features 50000] [--centers 1000]

The samples are generated documents of 20 classes. Words are drawn from a common Zipf distribution, and a part of them
from words of the class. Values are tf-idf, rows have unit length, and about 0.1 % of the entries are nonzero. The
kernel is linear, the centers stay sparse. The targets are at most 60 s and 1 GB for each learner with 20,000 documents
of 50,000 words.

Each method runs in a separate process; its peak memory is printed, data included. The last columns are processor time
and errors divided by those of `LogisticRegression`.
"""

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.learners.memory_use import peak_bytes
from discriminants import FixedSizeLSSVMClassifier, SparseKernelLogisticClassifier

N_CLASSES, N_TEST = 20, 5000
WORDS, ZIPF, CLASS_WORDS, OF_CLASS = 64, 1.05, 2000, 0.07  # words of a document, exponent, words of a class, their part
PEERS = ("LogisticRegression", "LinearSVC")
METHODS = (*PEERS, "FixedSizeLSSVM, k-means", "FixedSizeLSSVM, random", "SparseKernelLogistic")


class Figures(NamedTuple):
    """Figures of one method."""

    density: float
    seconds: float
    cpu_seconds: float
    peak: int  # bytes
    accuracy: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000, help="training documents (default: 20,000)")
    parser.add_argument("--features", type=int, default=50_000, help="words (default: 50,000)")
    parser.add_argument("--centers", type=int, default=1000, help="default: 1000")
    found = parser.parse_args(arguments)
    titles = f"{'seconds':>8} {'CPU s':>7} {'peak MB':>8} {'time ratio':>10} {'error ratio':>11}"
    peer = None
    for method in METHODS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            own = process.submit(measured, method, found.samples, found.features, found.centers).result()
        if peer is None:
            peer = own
            print(f"{found.samples} documents of {found.features} words, {100 * peer.density:.3f} % nonzero")
            print(f"{'method':22} {'accuracy %':>10} {titles}")
        figures = f"{100 * own.accuracy:10.2f} {own.seconds:8.2f} {own.cpu_seconds:7.2f} {own.peak / 1e6:8.0f}"
        ratios = f"{own.cpu_seconds / peer.cpu_seconds:10.2f} {(1 - own.accuracy) / (1 - peer.accuracy):11.2f}"
        print(f"{method:22} {figures} {ratios}", flush=True)


def documents(n_samples: int, n_features: int, seed: int) -> tuple[csr_array, np.ndarray]:
    """Return tf-idf of generated documents, and their classes."""
    random = np.random.default_rng(0)  # the words of the classes are the same for every seed
    zipf = np.arange(1, n_features + 1) ** -ZIPF
    n_words = min(CLASS_WORDS, n_features)
    of_class = np.array([random.choice(n_features, n_words, replace=False) for _ in range(N_CLASSES)])
    common, own = np.cumsum(zipf) / zipf.sum(), np.cumsum(zipf[:n_words]) / zipf[:n_words].sum()
    random = np.random.default_rng(seed)
    y = random.integers(N_CLASSES, size=n_samples)
    rows = np.repeat(np.arange(n_samples), random.poisson(WORDS, n_samples))
    draws = random.uniform(size=rows.shape[0])
    words = np.searchsorted(common, draws)
    special = random.uniform(size=rows.shape[0]) < OF_CLASS
    words[special] = of_class[y[rows[special]], np.searchsorted(own, draws[special])]
    places = rows.astype(np.int32), words.astype(np.int32)  # scikit-learn needs 32 bits
    return csr_array((np.ones(rows.shape[0]), places), (n_samples, n_features)), y


def measured(method: str, n_samples: int, n_features: int, n_centers: int) -> Figures:
    """Fit one method and measure it on further documents."""
    weighing = TfidfTransformer(sublinear_tf=True)
    X, y = documents(n_samples, n_features, seed=1)
    X = csr_array(weighing.fit_transform(X))
    start, cpu_start = time.perf_counter(), time.process_time()
    model = _model(method, n_centers).fit(X, y)
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - cpu_start, peak_bytes()
    X_test, y_test = documents(N_TEST, n_features, seed=2)
    accuracy = float(model.score(csr_array(weighing.transform(X_test)), y_test))
    return Figures(X.nnz / np.prod(X.shape), seconds, cpu, peak, accuracy)


def _model(method: str, n_centers: int) -> Any:
    match method:
        case "LogisticRegression":
            return LogisticRegression(C=10.0, max_iter=1000)
        case "LinearSVC":
            return LinearSVC()
        case "FixedSizeLSSVM, k-means" | "FixedSizeLSSVM, random":
            chooser = method.rpartition(" ")[2]
            return FixedSizeLSSVMClassifier(n_centers, kernel="linear", chooser=chooser, random_state=0)
        case _:
            return SparseKernelLogisticClassifier(n_centers, kernel="linear", random_state=0)


if __name__ == "__main__":
    main()
