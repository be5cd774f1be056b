"""Fixed-size least-squares machines on many samples: errors, seconds and memory.

    python -m benchmarks.fixed_size --data-dir DIR [--only a9a shuttle sinc clusters] [--centers 500]
        [--samples 1000000]

a9a, shuttle: test error of `FixedSizeLSSVMClassifier` and seconds of choosing, fitting and predicting. The peer is
scikit-learn's `Nystroem` with as many components of the same kernel and `RidgeClassifier`. With 500 centers the targets
are at most 60 s, 15.7 % on a9a and 0.3 % on shuttle.

sinc: 20,000 points of sin(x)/x with noise of deviation 0.1 and ten centers by entropy (Suykens et al. 2002, figure
6.6), compared with `Nystroem` and `Ridge`: root mean square distance from the noise-free curve.

clusters: one million samples of 40 features in ten classes, in at most 1 GB. The peer is skipped, because it would
store all features (4 GB).

Each part runs in a separate process; its peak memory is printed, data included. Widths are those of
`benchmarks.learners.settings` for `orols_atoms`, the source's for sinc.
"""

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.linear_model import Ridge, RidgeClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from benchmarks.learners.datasets import Split, clusters, load  # noqa: E402
from benchmarks.learners.memory_use import peak_bytes  # noqa: E402
from benchmarks.learners.settings import SETTINGS  # noqa: E402
from discriminants import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor  # noqa: E402

SETS = ("a9a", "shuttle")
PARTS = (*SETS, "sinc", "clusters")
CHOOSERS = {"a9a": "k-means", "shuttle": "greedy"}
RIDGE = 1e-3  # of the peer
N_SINC, SINC_CENTERS, SINC_WIDTH, NOISE = 20_000, 10, 1.5**0.5, 0.1
N_FEATURES, N_CLASSES, N_NEW = 40, 10, 20_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the benchmark sets, for a9a and shuttle")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts (default: all)")
    parser.add_argument("--centers", type=int, default=500, help="but for sinc (default: 500)")
    parser.add_argument("--samples", type=int, default=1_000_000, help="of clusters (default: a million)")
    found = parser.parse_args(arguments)
    if found.data_dir is None and set(found.only) & set(SETS):
        parser.error("a9a and shuttle need --data-dir DIR. Use --only for the other parts")
    print(f"{'part':9} {'samples':>9} {'centers':>7} {'method':14} {'error':>8} {'seconds':>8} {'peak MB':>8}")
    for part in found.only:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            for line in process.submit(measured, part, found.data_dir, found.centers, found.samples).result():
                print(line, flush=True)


def measured(part: str, data_dir: Path | None, n_centers: int, n_samples: int) -> list[str]:
    """Return the output lines of one part."""
    if part == "clusters":
        return _clusters(n_samples, n_centers)
    if part == "sinc":
        return _sinc()
    assert data_dir is not None
    sigma = float(SETTINGS[part]["orols_atoms"]["sigma"])
    own = FixedSizeLSSVMClassifier(
        n_centers, sigma=sigma, chooser=CHOOSERS[part], posterior="gaussian", decide_by="output", random_state=0
    )  # the largest output decides, as with the peer
    return _beside_peer(part, load(data_dir, part), own, RidgeClassifier(alpha=RIDGE))


def _sinc() -> list[str]:
    random = np.random.default_rng(0)
    x = random.uniform(-10, 10, N_SINC)
    y = np.sinc(x / np.pi) + NOISE * random.normal(size=N_SINC)
    new = np.linspace(-10, 10, 1000)
    own = FixedSizeLSSVMRegressor(SINC_CENTERS, sigma=SINC_WIDTH, chooser="entropy", random_state=0)
    return _beside_peer("sinc", Split(x[:, None], y, new[:, None], np.sinc(new / np.pi)), own, Ridge(alpha=RIDGE))


def _beside_peer(part: str, split: Split, own: Any, linear: Any) -> list[str]:
    """Measure our machine first, so that the peak memory is its own; then scikit-learn's."""
    peer = make_pipeline(Nystroem(gamma=0.5 / own.sigma**2, n_components=own.n_centers, random_state=0), linear)
    lines = []
    for method, model in (("fixed-size", own), ("Nystroem", peer)):
        start = time.perf_counter()
        predicted = model.fit(split.X, split.y).predict(split.X_test)
        seconds = time.perf_counter() - start
        if part == "sinc":
            error = f"{np.sqrt(np.mean((predicted - split.y_test) ** 2)):.4f}"
        else:
            error = f"{100 * np.mean(predicted != split.y_test):.2f} %"
        lines.append(_line(part, split.X.shape[0], own.n_centers, method, error, seconds))
    return lines


def _clusters(n_samples: int, n_centers: int) -> list[str]:
    X, y = clusters(n_samples, N_FEATURES, N_CLASSES, seed=1)
    start = time.perf_counter()
    model = FixedSizeLSSVMClassifier(n_centers, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    X_new, y_new = clusters(N_NEW, N_FEATURES, N_CLASSES, seed=2)
    error = f"{100 * (1 - model.score(X_new, y_new)):.2f} %"
    return [_line("clusters", n_samples, n_centers, "fixed-size", error, seconds)]


def _line(part: str, n_samples: int, n_centers: int, method: str, error: str, seconds: float) -> str:
    peak = peak_bytes() / 1e6
    return f"{part:9} {n_samples:9d} {n_centers:7d} {method:14} {error:>8} {seconds:8.2f} {peak:8.0f}"


if __name__ == "__main__":
    main()
