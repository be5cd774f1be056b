"""One fit in a separate process."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from discriminants import SparseKernelLogisticClassifier, save_arrays
from discriminants.parallel.cluster import ClusterWorkers
from discriminants.parallel.workers import Workers, workers_for
from discriminants.serialization.persistence import estimator_to_arrays


def fit(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fit, save the model, and return the time and the quality on held-out frames.

    Parameters
    ----------
    arguments : dict
        "frames", "states", "held_out" (paths), "model" (where to save it), "n_centers", "n_candidates", "passes",
        "jobs" and, for a fit on a cluster, "cluster".
    """
    X, y = np.load(arguments["frames"], mmap_mode="r"), np.load(arguments["states"])
    workers: Workers = workers_for(arguments["jobs"], arguments.get("cluster"))
    learner = SparseKernelLogisticClassifier(
        arguments["n_centers"],
        n_candidates=arguments["n_candidates"],
        selection_samples=X.shape[0],
        max_iter=arguments["passes"],
        random_state=0,
    )
    message: list[float] = []
    start = time.perf_counter()
    learner.fit(X, y, workers=workers, progress=lambda *report: message.append(time.perf_counter()))
    seconds = time.perf_counter() - start
    passes = (message[-1] - message[0]) * len(message) / max(1, len(message) - 1)
    if isinstance(workers, ClusterWorkers):
        workers.close()
    save_arrays(Path(arguments["model"]), *estimator_to_arrays(learner))
    return {
        "n_frames": X.shape[0],
        "n_candidates": arguments["n_candidates"],
        "n_centers": learner.basis_centers_.shape[0],
        "seconds": seconds,
        "selection_seconds": seconds - passes,
        "weights_seconds": passes,
        **quality(learner, *arguments["held_out"]),
    }


def peer(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fit scikit-learn's Nystroem features of as many random centers and one-vs-rest logistic regression by stochastic
    descent, with the same number of passes, in chunks that limit memory.
    """
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier

    X, y = np.load(arguments["frames"], mmap_mode="r"), np.load(arguments["states"])
    m, chunk = arguments["n_centers"], 8192
    start = time.perf_counter()
    random = np.random.RandomState(0)
    some = np.asarray(X[np.sort(random.permutation(X.shape[0])[: 20 * m])])
    width = float(np.sqrt(some.var(axis=0).sum()))
    features = Nystroem(gamma=0.5 / width**2, n_components=m, random_state=0).fit(some)
    learner = SGDClassifier(loss="log_loss", alpha=1e-7, average=True, random_state=0, n_jobs=arguments["jobs"])
    classes = np.unique(y)
    for _ in range(arguments["passes"]):
        order = random.permutation(X.shape[0])
        for first in range(0, X.shape[0], chunk):
            rows = np.sort(order[first : first + chunk])
            learner.partial_fit(features.transform(X[rows]), y[rows], classes=classes)
    seconds = time.perf_counter() - start

    class Both:
        classes_ = classes

        def predict_log_proba(self, X: np.ndarray) -> np.ndarray:
            proba: np.ndarray = learner.predict_proba(features.transform(X))
            return np.log(np.maximum(proba, 1e-12))

    return {"n_frames": X.shape[0], "n_centers": m, "seconds": seconds, **quality(Both(), *arguments["held_out"])}


def quality(learner: Any, frames: str, states: str) -> dict[str, float]:
    """Compute accuracy and cross-entropy (natural log, per frame) on held-out frames."""
    X, y = np.load(frames), np.load(states)
    known = np.isin(y, learner.classes_)
    log_proba = learner.predict_log_proba(X[known])
    codes = np.searchsorted(learner.classes_, y[known])
    return {
        "accuracy": float((log_proba.argmax(axis=1) == codes).mean()),
        "cross_entropy": -float(log_proba[np.arange(codes.shape[0]), codes].mean()),
    }


TASKS = {"fit": fit, "peer": peer}


def main(task: str, arguments: str) -> None:
    """Run a task and print its result as one JSON line."""
    print(json.dumps(TASKS[task](json.loads(arguments))))
