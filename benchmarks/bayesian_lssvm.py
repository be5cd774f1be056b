"""Tests of Bayesian least-squares machines: coverage of error bars, probabilities, and input selection.

    python -m benchmarks.bayesian_lssvm [--only coverage noise inputs times probabilities] [--runs 100]
        [--sizes 500 1000] [--data-dir ../shared/data/ml] [--sets heart ripley] [--partitions 10] [--choose]

coverage: over runs of 100 samples of sin(x)/x on (-10, 10) with noise of standard deviation 0.1, the share of 1000 new
noisy targets within 1.96 deviations of `BayesianLSSVMRegressor`. It must be within 2 points of 95 %.

noise: over runs of 150 samples of the same function, with noise whose deviation grows from 0.03 on the left to 0.33 on
the right. Measured are the share of 1000 new targets within 1.96 deviations on either side and the distance from the
noise-free curve. The methods are `HeteroscedasticLSSVMRegressor`, `BayesianLSSVMRegressor`, and the latter with known
variances.

inputs: over runs of 100 samples of the same function and of two half moons, each with four additional inputs of normal
noise: how often `select_inputs` keeps exactly the relevant inputs.

times: seconds of a fit, error against noise-free targets and coverage on 2000 new samples of `make_friedman1` with
noise of deviation 1. The peers are `LSSVMRegressor` with a choice of 11 penalties and, up to 1000 samples,
scikit-learn's `GaussianProcessRegressor`.

probabilities (with --data-dir): log-loss on test samples of two-class sets, of `BayesianLSSVMClassifier` with both
posteriors and of scikit-learn's `CalibratedClassifierCV` (sigmoid, five folds) over an `SVC`. C and gamma of the `SVC`
have the least error in five-fold cross-validation on each training part, five values each. The sets in the folder ida
have their partitions and ripley has one; the other sets use random two thirds for training. Features are standardized
by each training part. No choice uses test samples: with --choose a third of each training part is held out instead of
the test part. The default posterior was chosen that way, on three partitions.
"""

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.datasets import make_friedman1, make_moons  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from discriminants import (  # noqa: E402
    BayesianLSSVMClassifier,
    BayesianLSSVMRegressor,
    HeteroscedasticLSSVMRegressor,
    LSSVMRegressor,
)

PARTS = ("coverage", "noise", "inputs", "times", "probabilities")
N_TRAIN, N_TEST, NOISE, N_IRRELEVANT = 100, 1000, 0.1, 4
N_GROWING, QUIET, LOUDER = 150, 0.03, 0.3
N_FRIEDMAN, MAX_OF_PEER = 2000, 1000
QUANTILE = 1.959964
COSTS = tuple(10.0**k for k in range(-1, 4))
GAMMAS = tuple(4.0**k for k in range(-3, 2))  # divided by the number of features
METHODS = ("leave-one-out", "moderated", "SVM")
IDA = (
    "banana breast-cancer diabetis flare-solar german heart image ringnorm splice thyroid titanic twonorm waveform"
).split()
LSSVM = "acr gcr hea pid snr wbc".split()
FILES = (
    {name: f"ida/{name}.npz" for name in IDA} | {name: f"lssvm/{name}.npz" for name in LSSVM} | {"ripley": "ripley.npz"}
)

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts (default: all)")
    parser.add_argument("--runs", type=int, default=100, help="of coverage, noise and inputs (default: 100)")
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 1000], help="samples of times")
    parser.add_argument("--data-dir", type=Path, help="folder of the benchmark sets")
    parser.add_argument("--sets", nargs="+", choices=FILES, default=list(FILES), help="default: all")
    parser.add_argument("--partitions", type=int, default=10, help="of each set, at most (default: 10)")
    parser.add_argument("--choose", action="store_true", help="on thirds held out of the training parts")
    found = parser.parse_args(arguments)
    if "coverage" in found.only:
        print_coverage(found.runs)
    if "noise" in found.only:
        print_growing_noise(found.runs)
    if "inputs" in found.only:
        print_inputs(found.runs)
    if "times" in found.only:
        print_times(found.sizes)
    if "probabilities" in found.only:
        if found.data_dir is None:
            print("probabilities need --data-dir")
        else:
            print_log_losses(found.data_dir, found.sets, found.partitions, choose=found.choose)


def sinc(n_samples: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 1) and noisy targets (n,)."""
    x = random.uniform(-10, 10, n_samples)
    return x[:, None], np.sinc(x / np.pi) + NOISE * random.normal(size=n_samples)


def print_coverage(n_runs: int) -> None:
    """Print the share of new targets within 1.96 deviations."""
    covered, noises = [], []
    for run in range(n_runs):
        random = np.random.default_rng(run)
        model = BayesianLSSVMRegressor().fit(*sinc(N_TRAIN, random))
        X, y = sinc(N_TEST, random)
        means, deviations = model.predict(X, return_std=True)
        covered.append(np.mean(np.abs(y - means) < QUANTILE * deviations))
        noises.append(np.sqrt(model.noise_variance_[0]))
    print(
        f"sinc: {100 * np.mean(covered):.2f} % of new targets within 1.96 deviations, over {n_runs} runs (single "
        f"runs {100 * np.min(covered):.1f} to {100 * np.max(covered):.1f}); noise {np.mean(noises):.4f} (true "
        f"value {NOISE})",
        flush=True,
    )


def print_growing_noise(n_runs: int) -> None:
    """Print shares of new targets within 1.96 deviations for low and high noise, and errors."""
    found: dict[str, list[list[float]]] = {}
    for run in range(n_runs):
        random = np.random.default_rng(run)
        X, X_new = random.uniform(-10, 10, (N_GROWING, 1)), random.uniform(-10, 10, (N_TEST, 1))
        deviation, deviation_new = (QUIET + LOUDER / (1 + np.exp(-x[:, 0])) for x in (X, X_new))
        truth = np.sinc(X_new[:, 0] / np.pi)
        y = np.sinc(X[:, 0] / np.pi) + deviation * random.normal(size=N_GROWING)
        targets = truth + deviation_new * random.normal(size=N_TEST)
        learnt = HeteroscedasticLSSVMRegressor().fit(X, y).predict(X_new, return_std=True)
        alike = BayesianLSSVMRegressor().fit(X, y).predict(X_new, return_std=True)
        message = BayesianLSSVMRegressor().fit(X, y, noise_variance=deviation**2)
        known = message.predict(X_new, return_std=True, noise_variance=deviation_new**2)
        left = X_new[:, 0] < 0
        for name, (means, bars) in (("learned", learnt), ("one for all", alike), ("known", known)):
            inside = np.abs(targets - means) < QUANTILE * bars
            off = np.sqrt(np.mean((means - truth) ** 2))
            found.setdefault(name, []).append([100 * inside[left].mean(), 100 * inside[~left].mean(), off])
    for name, rows in found.items():
        quiet, loud, off = np.mean(rows, axis=0)
        print(
            f"increasing noise, variance {name}: {quiet:.1f} % of new targets within 1.96 deviations where x < "
            f"0, {loud:.1f} % where x > 0; error {off:.4f}, over {n_runs} runs",
            flush=True,
        )


def print_inputs(n_runs: int) -> None:
    """Print how often exactly the noise inputs are removed."""
    for name in ("sinc", "moons"):
        exact, irrelevant, needed = 0, 0, 0
        for run in range(n_runs):
            random = np.random.default_rng(run)
            model: Any = BayesianLSSVMRegressor(kernel="ard_gaussian", select_inputs=True)
            if name == "sinc":
                X, y = sinc(N_TRAIN, random)
            else:
                X, y = make_moons(N_TRAIN, noise=0.2, random_state=run)
                model = BayesianLSSVMClassifier(kernel="ard_gaussian", select_inputs=True)
            model.fit(np.hstack([X, random.normal(size=(N_TRAIN, N_IRRELEVANT))]), y)
            kept = np.isfinite(model.sigma_)
            matters = np.arange(kept.shape[0]) < X.shape[1]
            exact += np.array_equal(kept, matters)
            irrelevant, needed = irrelevant + kept[~matters].sum(), needed + kept[matters].sum()
        print(
            f"{name}: exactly the relevant inputs in {exact} of {n_runs} runs; {irrelevant} "
            f"of {N_IRRELEVANT * n_runs} noise inputs kept, {matters.sum() * n_runs - needed} "
            f"of {matters.sum() * n_runs} relevant inputs removed",
            flush=True,
        )


def print_times(sizes: Sequence[int]) -> None:
    """Print a table of regressors on samples with five relevant and five irrelevant inputs."""
    by_input = ConstantKernel(10.0) * RBF(np.ones(10)) + WhiteKernel(1.0)
    regressors = {
        "LSSVM, 11 penalties": LSSVMRegressor(sigma=1.0, regularization=np.logspace(-3, 2, 11)),
        "Bayesian LSSVM": BayesianLSSVMRegressor(),
        "one width per input": BayesianLSSVMRegressor(kernel="ard_gaussian"),
        "inputs selected": BayesianLSSVMRegressor(kernel="ard_gaussian", select_inputs=True),
        "GaussianProcessRegressor": GaussianProcessRegressor(by_input, normalize_y=True),
    }
    X_test, truth = make_friedman1(N_FRIEDMAN, random_state=9)
    target = truth + np.random.default_rng(0).normal(size=N_FRIEDMAN)
    print(f"{'samples':>7} {'':24} {'seconds':>8} {'error':>7} {'covered %':>9}")
    for size in sizes:
        X, y = make_friedman1(size, noise=1.0, random_state=0)
        for name, regressor in regressors.items():
            if size > MAX_OF_PEER and isinstance(regressor, GaussianProcessRegressor):
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():  # warnings of the peer: widths of noise inputs reach their bounds
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = clone(regressor).fit(X, y)
            seconds = time.perf_counter() - start
            error = np.sqrt(np.mean((model.predict(X_test) - truth) ** 2))
            covered = ""
            if not isinstance(model, LSSVMRegressor):
                means, deviations = model.predict(X_test, return_std=True)
                covered = f"{100 * np.mean(np.abs(target - means) < QUANTILE * deviations):.1f}"
            print(f"{size:7d} {name:24} {seconds:8.2f} {error:7.3f} {covered:>9}", flush=True)


def print_log_losses(folder: Path, names: Sequence[str], n_partitions: int, *, choose: bool = False) -> None:
    """Print mean log-losses and errors, and the number of sets on which each posterior is better than the SVM."""
    print(f"{'set':14} {'samples':>7} " + " ".join(f"{method:>22}" for method in METHODS))
    print(" " * 22 + " ".join(f"{'log-loss  error %    s':>22}" for _ in METHODS))
    wins, losses = dict.fromkeys(METHODS[:2], 0), []
    for name in names:
        splits = _splits(folder / FILES[name], n_partitions)
        if choose:
            splits = [_without_test(X, y, seed) for seed, (X, y, _, _) in enumerate(splits)]
        found = np.mean([[_measured(method, *split) for method in METHODS] for split in splits], axis=0)
        losses.append(found[:, 0])
        cells = [f"{loss:8.4f} {error:8.2f} {seconds:4.1f}" for loss, error, seconds in found]
        print(f"{name:14} {splits[0][0].shape[0]:7d} " + " ".join(f"{cell:>22}" for cell in cells), flush=True)
        for number, method in enumerate(wins):
            wins[method] += found[number, 0] < found[-1, 0]
    means = np.mean(losses, axis=0)
    print("mean log-loss: " + ", ".join(f"{method} {mean:.4f}" for method, mean in zip(METHODS, means, strict=True)))
    for method, count in wins.items():
        print(f"{method}: lower log-loss than the calibrated SVM on {count} of {len(names)} sets")


def _splits(path: Path, n_partitions: int) -> list[Split]:
    """Return X, y, X_test, y_test of each partition."""
    arrays = np.load(path)
    if "x_train" in arrays:
        return [(arrays["x_train"], arrays["y_train"], arrays["x_test"], arrays["y_test"])]
    x, y = arrays["x"].astype(np.float64), arrays["y"]
    if "train" in arrays:
        rows = list(zip(arrays["train"], arrays["test"], strict=True))
    else:
        permutations = [np.random.default_rng(seed).permutation(y.shape[0]) for seed in range(n_partitions)]
        rows = [(p[: 2 * y.shape[0] // 3], p[2 * y.shape[0] // 3 :]) for p in permutations]
    return [(x[train], y[train], x[test], y[test]) for train, test in rows[:n_partitions]]


def _without_test(X: np.ndarray, y: np.ndarray, seed: int) -> Split:
    """Use a third of the training samples instead of the test samples."""
    held_out, rest = np.split(np.random.default_rng(seed).permutation(y.shape[0]), [y.shape[0] // 3])
    return X[rest], y[rest], X[held_out], y[held_out]


def _measured(method: str, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> tuple[float, ...]:
    """Return log-loss, error in per cent, and training time in seconds, choices included."""
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    start = time.perf_counter()
    model: Any
    if method == "SVM":
        grid = {"C": COSTS, "gamma": [gamma / X.shape[1] for gamma in GAMMAS]}
        model = CalibratedClassifierCV(GridSearchCV(SVC(), grid, cv=5).fit(X, y).best_estimator_, cv=5)
    else:
        model = BayesianLSSVMClassifier(posterior=method.replace("-", "_"))
    model.fit(X, y)
    seconds = time.perf_counter() - start
    proba = model.predict_proba(X_test)
    error = np.mean(model.classes_[proba.argmax(axis=1)] != y_test)
    return float(log_loss(y_test, proba, labels=model.classes_)), 100.0 * float(error), seconds


if __name__ == "__main__":
    main()
