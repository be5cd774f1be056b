"""Speed of one-vs-one scoring with shared centers in frames per second, compared with separate machines and its parts.

`python -m benchmarks.pairwise_scoring` prints a table and, last, one JSON object {"ours", "pairs", "parts"}: frames per
second, medians of interleaved repetitions, S = 147 states, m = 1911 centers in total (13 per state), d = 39 features,
float32, one core. "pairs" is `PairwiseClassifier`, a loop over the same 10731 machines, each with the centers of its
two states, on fewer frames. "parts" is the time of the product with the centers, the exponential, the products per
state and the coupling, each measured separately on blocks of the same size.
"""

import json
import os
import statistics
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from discriminants import GaussianOutputModel, NPDClassifier, OneVsOneKernelClassifier, PairwiseClassifier  # noqa: E402
from discriminants.kernels import GaussianKernel  # noqa: E402
from discriminants.kernels.exponential import exp_in_place  # noqa: E402
from discriminants.multiclass.gaussian_coupling import GaussianPairs, coupled  # noqa: E402
from discriminants.multiclass.pair_expansion import BLOCK_ROWS  # noqa: E402

STATES, POOL, FEATURES = 147, 13, 39
FRAMES, FEW_FRAMES, REPETITIONS = 8192, 256, 7
SIGMA = 8.0


def main() -> None:
    """Measure, check that both ways agree, and print."""
    random = np.random.default_rng(0)
    X = random.standard_normal((FRAMES, FEATURES), dtype=np.float32)
    machine = _machine(random)
    pairs = _one_by_one(machine)
    few = X[:FEW_FRAMES]
    with threadpool_limits(1):
        difference = float(np.abs(machine.predict_proba(few) - pairs.predict_proba(few)).max())
        if difference > 1e-3:
            raise AssertionError(f"the two methods differ by {difference:.2e} in a posterior")
        seconds: dict[str, list[float]] = {"ours": [], "pairs": [], "parts": []}
        for repetition in range(REPETITIONS):
            seconds["ours"].append(_timed(lambda: machine.predict_log_proba(X)) / FRAMES)
            seconds["parts"].append(_parts(machine, X) / FRAMES)
            if repetition % 3 == 0:
                seconds["pairs"].append(_timed(lambda: pairs.predict_log_proba(few)) / FEW_FRAMES)
    rates = {name: round(1 / statistics.median(values)) for name, values in seconds.items()}
    print(f"S = {STATES}, m = {STATES * POOL}, d = {FEATURES}, float32, one core, frames per second")
    for name, rate in rates.items():
        print(f"{name:8} {rate:9,d}   ours / {name} = {rates['ours'] / rate:.2f}")
    print(json.dumps(rates))


def _machine(random: np.random.Generator) -> OneVsOneKernelClassifier:
    """Return a machine with random parameters; they do not affect the scoring time."""
    n_pairs = STATES * (STATES - 1) // 2
    machine = OneVsOneKernelClassifier()
    machine.classes_, machine.n_features_in_ = np.arange(STATES), FEATURES
    machine.kernel_ = GaussianKernel(SIGMA)
    machine.basis_centers_ = random.standard_normal((STATES * POOL, FEATURES), dtype=np.float32)
    machine.pool_sizes_ = np.full(STATES, POOL)
    machine.dual_coef_ = random.standard_normal((STATES * POOL, STATES))
    machine.intercept_ = random.standard_normal(n_pairs)
    machine.means_ = np.array([[-0.5], [0.5]]) + 0.1 * random.standard_normal((2, n_pairs))
    machine.variances_ = random.uniform(0.5, 1.0, (2, n_pairs))
    machine.class_log_prior_ = np.log(np.full(STATES, 1.0 / STATES))
    return machine


def _one_by_one(machine: OneVsOneKernelClassifier) -> PairwiseClassifier:
    """Return the same pairs as separate classifiers."""
    pairs = PairwiseClassifier(NPDClassifier(), "coupling")
    pairs.classes_, pairs.n_features_in_, pairs.pair_samples_ = machine.classes_, FEATURES, None
    pairs.estimators_ = []
    for number, (i, j) in enumerate(combinations(range(STATES), 2)):
        own, other = (slice(k * POOL, (k + 1) * POOL) for k in (i, j))
        alone: Any = NPDClassifier()
        alone.classes_, alone.n_features_in_, alone.kernel_ = np.arange(2), FEATURES, machine.kernel_
        alone.basis_centers_ = np.concatenate([machine.basis_centers_[own], machine.basis_centers_[other]])
        weights = np.concatenate([machine.dual_coef_[own, j], machine.dual_coef_[other, i]])[:, None]
        length = np.linalg.norm(weights)
        alone.dual_coef_ = weights.astype(np.float32)
        alone.intercept_ = machine.intercept_[[number]].astype(np.float32)
        # The densities are those of outputs with unit-length weights; row 0 is the second class.
        model = GaussianOutputModel()
        model.n_classes_ = 2
        model.means_ = machine.means_[::-1, [number]] / length
        model.variances_ = machine.variances_[::-1, [number]] / length**2
        model.log_priors_ = np.log(np.full((2, 1), 0.5))
        alone.posterior_ = model
        pairs.estimators_.append(alone)
    return pairs


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _parts(machine: OneVsOneKernelClassifier, X: np.ndarray) -> float:
    """Return seconds for all frames of products, exponential and coupling, each in its own loop over blocks."""
    n_centers = STATES * POOL
    right = np.ascontiguousarray(machine.basis_centers_.T)
    weights = np.ascontiguousarray(
        machine.dual_coef_.reshape(STATES, POOL, STATES).transpose(0, 2, 1), dtype=np.float32
    )
    pairs = GaussianPairs.of(machine.means_, machine.variances_, machine.class_log_prior_).astype(np.float32)
    K = np.empty((BLOCK_ROWS, n_centers), dtype=np.float32)
    exponents = -4.0 * np.random.default_rng(1).random((BLOCK_ROWS, n_centers), dtype=np.float32)
    by_state = exponents.reshape(BLOCK_ROWS, STATES, POOL).transpose(1, 2, 0)
    outputs = np.empty((STATES, STATES, BLOCK_ROWS), dtype=np.float32)
    starts = range(0, FRAMES, BLOCK_ROWS)
    total = _timed(lambda: [np.matmul(X[start : start + BLOCK_ROWS], right, out=K) for start in starts])
    for _ in starts:
        np.copyto(K, exponents)
        total += _timed(lambda: exp_in_place(K))
    total += _timed(lambda: [np.matmul(weights, by_state, out=outputs) for _ in starts])
    for _ in starts:
        outputs[...] = 0.0
        total += _timed(lambda: coupled(outputs, pairs))
    return total


if __name__ == "__main__":
    main()
