"""Tasks of a child process, which return numbers for JSON."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learners.datasets import clusters, load
from benchmarks.learners.memory_use import current_bytes, peak_bytes
from benchmarks.learners.methods import Method
from benchmarks.learners.settings import SETTINGS
from discriminants import KFDClassifier, KRLSClassifier, OROLSClassifier, SparseGreedyKFDClassifier
from discriminants.center_selection.forward.forward_selection import forward_selection
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_schmidt_state import GramSchmidtState
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.rules import error_reduction
from discriminants.kernels import GaussianKernel

_WARM_UP = 300  # samples of the warm-up fit, which loads compiled code


def learner(data_dir: str, data: str, method: str, sizes: list[int] | None) -> dict[str, Any]:
    """Fit and predict with one method on one set; seconds, bytes in addition to those before the fit, test error in
    %.
    """
    split = load(Path(data_dir), data)
    if sizes:
        split = split.part(sizes[0], sizes[1])
    model = Method(method, SETTINGS[data][method], small=sizes is not None)
    X, X_test = model.inputs(split.X), model.inputs(split.X_test)
    few = np.linspace(0, X.shape[0] - 1, _WARM_UP).astype(int)
    Method(method, SETTINGS[data][method], small=True).fit(X[few], split.y[few]).predict(X_test[:_WARM_UP])
    before = current_bytes()
    fit_seconds = timed(lambda: model.fit(X, split.y))
    seconds: list[float] = []
    predicted = np.empty(0)
    while len(seconds) < 5 and sum(seconds) < 2.0:
        start = time.perf_counter()
        predicted = model.predict(X_test)
        seconds.append(time.perf_counter() - start)
    return {
        "fit_seconds": fit_seconds,
        "predict_seconds": statistics.median(seconds),
        "memory": max(0, peak_bytes() - before),
        "error": 100.0 * float((predicted != split.y_test).mean()),
        "evaluations": model.evaluations(),
    }


def selection(n_samples: int, n_candidates: int, n_centers: int) -> dict[str, Any]:
    """Select the same centers by products of columns and by modified Gram-Schmidt over the columns."""
    X, codes = clusters(n_samples, 40, 10, seed=1)
    X = X.astype(np.float64)
    targets = np.where(codes[:, None] == np.arange(10), 1.0, -1.0)
    kernel = GaussianKernel("scale").resolved(X)
    points = np.sort(np.random.default_rng(2).choice(n_samples, n_candidates, replace=False))
    orders: dict[str, list[int]] = {}

    def by_products(n_centers: int) -> None:
        state = GramState(accumulate_gram(kernel, X, targets, X[points]), n_centers)
        orders["gram"] = forward_selection(state, error_reduction, n_centers)

    def by_columns(n_centers: int) -> None:
        state = GramSchmidtState(KernelMatrix(kernel, X, points), targets, n_centers)
        orders["columns"] = forward_selection(state, error_reduction, n_centers)

    by_products(2)
    gram_seconds = timed(lambda: by_products(n_centers))
    columns_seconds = timed(lambda: by_columns(n_centers))
    return {
        "gram_seconds": gram_seconds,
        "columns_seconds": columns_seconds,
        "same": orders["gram"] == orders["columns"],
        "n_centers": len(orders["gram"]),
    }


def orols_memory(n_samples: int, n_candidates: int, n_centers: int) -> dict[str, Any]:
    """Measure the whole process's peak while fitting with a shared dictionary, ten classes, 40 features, float32."""
    X, y = clusters(n_samples, 40, 10, seed=3)
    model = OROLSClassifier(n_centers, n_candidates=n_candidates, tol=0.0, criterion=None, random_state=0)
    seconds = timed(lambda: model.fit(X, y))
    return {"seconds": seconds, "peak": peak_bytes(), "n_centers": int(model.n_centers_[0])}


def krls_memory(n_samples: int, chunk: int, max_centers: int) -> dict[str, Any]:
    """Measure the whole process's peak while fitting to a stream in chunks, ten classes, 40 features."""
    model = KRLSClassifier(nu=0.1, max_centers=max_centers, sigma=4.0)
    seconds = 0.0
    for start in range(0, n_samples, chunk):
        X, y = clusters(min(chunk, n_samples - start), 40, 10, seed=10 + start // chunk)
        begin = time.perf_counter()
        model.partial_fit(X, y, classes=np.arange(10))
        seconds += time.perf_counter() - begin
    return {"seconds": seconds, "peak": peak_bytes(), "n_centers": int(model.basis_centers_.shape[0])}


def kfd_path(n_samples: int, n_penalties: int) -> dict[str, Any]:
    """Fit the dense discriminant with given mu and with the defaults, which choose mu and use leave-one-out posteriors,
    and compute leave-one-out outputs for many penalties; 40 features.
    """
    X, y = clusters(n_samples, 40, 2, seed=4)
    X = X.astype(np.float64)
    penalties = np.logspace(-4, 2, n_penalties)
    found: dict[str, Any] = {}
    for penalty in ("identity", "kernel"):
        model = KFDClassifier(regularization=0.1, penalty=penalty, calibrate_on="training")
        model.fit(X[:_WARM_UP], y[:_WARM_UP])
        found[f"{penalty}_fit"] = min(timed(lambda model=model: model.fit(X, y)) for _ in range(3))  # type: ignore[misc]
        usual = KFDClassifier(penalty=penalty)
        found[f"{penalty}_default"] = min(timed(lambda model=usual: model.fit(X, y)) for _ in range(3))  # type: ignore[misc]
        found[f"{penalty}_path"] = timed(lambda model=model: model.leave_one_out_errors(X, y, penalties))  # type: ignore[misc]
    return found


def descent_memory(n_samples: int) -> dict[str, Any]:
    """Measure the whole process's peak while fitting a discriminant by coordinate descent, ten classes, 40 features."""
    X, y = clusters(n_samples, 40, 10, seed=5)
    model = KFDClassifier(sigma=4.0, regularization=1.0, penalty="kernel", solver="coordinate_descent")
    seconds = timed(lambda: model.fit(X, y))
    return {"seconds": seconds, "peak": peak_bytes(), "n_centers": int(model.basis_centers_.shape[0])}


def greedy(n_samples: int, n_candidates: int, n_centers: int) -> dict[str, Any]:
    """Fit sparse greedy KFD and OROLS with equal numbers of centers and candidates, ten classes, 40 features."""
    X, y = clusters(n_samples, 40, 10, seed=6)
    common: dict[str, Any] = {"n_candidates": n_candidates, "tol": 0.0, "random_state": 0}
    found: dict[str, Any] = {}
    for name, model in (
        ("orols", OROLSClassifier(n_centers, max_condition=1e12, criterion=None, **common)),
        # Posteriors from training outputs, as in OROLS; the default is leave-one-out.
        ("greedy", SparseGreedyKFDClassifier(n_centers, regularization=0.03, calibrate_on="training", **common)),
    ):
        model.set_params(n_centers=10).fit(X[:_WARM_UP], y[:_WARM_UP])
        model.set_params(n_centers=n_centers)
        found[f"{name}_seconds"] = min(timed(lambda model=model: model.fit(X, y)) for _ in range(2))  # type: ignore[misc]
        found[f"{name}_centers"] = int(model.n_centers_[0])
    return found


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task for task in (learner, selection, orols_memory, krls_memory, kfd_path, descent_memory, greedy)
}
