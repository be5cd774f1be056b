"""Speed of the discriminant evaluation in frames per second, compared with scikit-learn and with its separate parts.

`python -m benchmarks.acoustic_scoring` prints a table and, last, one JSON object {"ours", "sklearn", "parts"}: frames
per second, medians of seven interleaved repetitions, m = 2000 centers, S = 150 outputs, d = 39 features, float32, one
core. "parts" is the time of the first matrix product, the exponential and the second matrix product, each measured
separately on blocks of the same size.
"""

import json
import os
import statistics
import time
from collections.abc import Callable

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from sklearn.metrics.pairwise import rbf_kernel  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from discriminants.kernels import GaussianKernel  # noqa: E402
from discriminants.kernels.exponential import exp_in_place  # noqa: E402

CENTERS, OUTPUTS, FEATURES = 2000, 150, 39
FRAMES, BLOCK, REPETITIONS = 16_384, 256, 7
SIGMA = 8.0


def main() -> None:
    """Measure, check that both ways agree, and print."""
    random = np.random.default_rng(0)
    X = random.standard_normal((FRAMES, FEATURES), dtype=np.float32)
    centers = random.standard_normal((CENTERS, FEATURES), dtype=np.float32)
    weights = random.standard_normal((CENTERS, OUTPUTS), dtype=np.float32)
    bias = random.standard_normal(OUTPUTS, dtype=np.float32)
    kernel = GaussianKernel(SIGMA)

    def ours() -> np.ndarray:
        return kernel.evaluate(X, centers, weights, bias, BLOCK)

    def scikit_learn() -> np.ndarray:
        return rbf_kernel(X, centers, gamma=0.5 / SIGMA**2) @ weights + bias

    with threadpool_limits(1):
        difference = float(np.abs(ours() - scikit_learn()).max() / np.abs(scikit_learn()).max())
        if difference > 1e-4:
            raise AssertionError(f"the two evaluations differ by {difference:.2e} of the largest output")
        seconds: dict[str, list[float]] = {"ours": [], "sklearn": [], "parts": []}
        for _ in range(REPETITIONS):
            seconds["ours"].append(_timed(ours))
            seconds["sklearn"].append(_timed(scikit_learn))
            seconds["parts"].append(_parts(centers, weights))
    rates = {name: round(FRAMES / statistics.median(values)) for name, values in seconds.items()}
    print(f"m = {CENTERS}, S = {OUTPUTS}, d = {FEATURES}, float32, one core, frames per second")
    for name, rate in rates.items():
        print(f"{name:8} {rate:9,d}   ours / {name} = {rates['ours'] / rate:.2f}")
    print(json.dumps(rates))


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _parts(centers: np.ndarray, weights: np.ndarray) -> float:
    """Return seconds for all frames of GEMM, exp and GEMM, each in its own loop over blocks in place."""
    random = np.random.default_rng(1)
    left = random.standard_normal((BLOCK, FEATURES), dtype=np.float32)
    right = np.ascontiguousarray(centers.T)
    K = np.empty((BLOCK, CENTERS), dtype=np.float32)
    exponents = -4.0 * random.random((BLOCK, CENTERS), dtype=np.float32)
    outputs = np.empty((BLOCK, OUTPUTS), dtype=np.float32)
    blocks = range(FRAMES // BLOCK)
    total = _timed(lambda: [np.matmul(left, right, out=K) for _ in blocks])
    for _ in blocks:
        np.copyto(K, exponents)
        total += _timed(lambda: exp_in_place(K))
    total += _timed(lambda: [np.matmul(exponents, weights, out=outputs) for _ in blocks])
    return total


if __name__ == "__main__":
    main()
