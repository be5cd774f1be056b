"""Choice of the settings by cross-validation on the training samples."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.model_selection import StratifiedKFold

from benchmarks.learners.datasets import load
from benchmarks.learners.methods import Method
from benchmarks.learners.settings import OURS, SETTINGS

_FOLDS = 3
_MAX_SAMPLES = 12_000  # for peers with quadratic time in the number of samples
_GAMMAS: dict[str, tuple[float, ...]] = {
    "letter": (1.0, 2.0, 4.0),
    "usps": (1 / 256, 1 / 128, 1 / 64),
    "a9a": (1 / 128, 1 / 32, 1 / 8),
}
_GAMMAS["shuttle"] = (1 / 32, 1 / 8, 1 / 2, 2.0)
_C = {
    "letter": (4.0, 16.0, 64.0),
    "usps": (4.0, 16.0, 64.0),
    "a9a": (0.25, 1.0, 4.0),
    "shuttle": (64.0, 1024.0, 16384.0),
}
_QUICK_SAMPLES = 300
_ALPHAS = (0.001, 0.01, 0.1, 1.0)


def grid(name: str, method: str) -> list[dict[str, float]]:
    """Return the candidate settings; other parameters keep their values."""
    gammas = _GAMMAS[name]
    if method == "svc":
        return [{"gamma": gamma, "C": C} for gamma, C in product(gammas, _C[name])]
    if method in OURS:
        return [{"sigma": float(1.0 / np.sqrt(2.0 * gamma))} for gamma in gammas]
    if method == "omp":
        return [{"gamma": gamma} for gamma in gammas]
    return [{"gamma": gamma, "alpha": alpha} for gamma, alpha in product(gammas, _ALPHAS)]


def choose(folder: Path, name: str, methods: Sequence[str], console: Console, *, quick: bool = False) -> dict[str, Any]:
    """Print the cross-validated error of every setting, smallest first, and return the best of each method."""
    split = load(folder, name)
    best: dict[str, Any] = {}
    for method in methods:
        most = _QUICK_SAMPLES if quick else _MAX_SAMPLES if method in ("svc", "kernel_ridge") else split.y.shape[0]
        rows = np.arange(split.y.shape[0])
        if rows.shape[0] > 1.5 * most:
            rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
        X, y = split.X[rows], split.y[rows]
        folds = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(X, y))
        found = []
        for setting in track(grid(name, method), f"{name}: {method}", console=console, transient=True):
            wrong = 0
            for train, held_out in folds:
                model = Method(method, {**SETTINGS[name][method], **setting}, small=quick)
                inputs = model.inputs(X)
                wrong += int((model.fit(inputs[train], y[train]).predict(inputs[held_out]) != y[held_out]).sum())
            found.append((100.0 * wrong / y.shape[0], setting))
        found.sort(key=lambda entry: entry[0])
        for error, setting in found:
            console.print(f"{name} {method:12} {error:7.3f} %  {setting}", highlight=False)
        best[method] = found[0][1]
    return best
