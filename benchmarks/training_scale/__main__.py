"""Selection and logistic fit at the size of a speech corpus: time and memory by frames and centers. Local processes and
a cluster of two workers are compared with scikit-learn.

`python -m benchmarks.training_scale` synthesises frames of 40 features and 144 overlapping states on disk, fits
`SparseKernelLogisticClassifier` on two processes, prints tables and, last, one JSON object. Every fit runs in a
separate process. Memory is the peak of the summed proportional set sizes (Pss) of all its processes, mapped files
included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.training_scale.child import main as child_main  # noqa: E402
from benchmarks.training_scale.cluster import local_cluster  # noqa: E402
from benchmarks.training_scale.frames import write_frames  # noqa: E402
from benchmarks.training_scale.process_tree import ProcessTree  # noqa: E402
from discriminants import estimator_from_arrays, load_arrays  # noqa: E402

STATES, FEATURES, HELD_OUT = 144, 40, 20_000
Row = dict[str, Any]


def main() -> None:
    """Run all measurements and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training_scale", description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--centers", type=int, default=2000)
    parser.add_argument("--candidates", type=int, default=4000)
    parser.add_argument("--passes", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2, help="number of processes on this machine")
    parser.add_argument("--cluster-workers", type=int, default=2, help="number of dask workers; 0 to skip the cluster")
    parser.add_argument("--peer-frames", type=int, default=20_000, help="number of frames of the peer; 0 to skip it")
    parser.add_argument("--largest-only", action="store_true", help="skip the table of frames and centers")
    parser.add_argument("--quick", action="store_true", help="50,000 frames and 500 of 1000 candidates")
    parser.add_argument("--work-dir", type=Path, help="folder for frames and models (default: a temporary folder)")
    options = parser.parse_args()
    if options.quick:
        options.frames, options.centers, options.candidates, options.peer_frames = 50_000, 500, 1000, 10_000
    with tempfile.TemporaryDirectory(prefix="training-scale-", dir=options.work_dir) as folder:
        print(json.dumps(_run(options, Path(folder))))


def _run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    console = Console(width=150)
    held_out = [str(path) for path in write_frames(folder, HELD_OUT, STATES, FEATURES, seed=1)]
    shared = {"held_out": held_out, "passes": options.passes, "jobs": options.jobs}

    def task(n_frames: int, n_centers: int, n_candidates: int, name: str) -> Row:
        frames, states = write_frames(folder, n_frames, STATES, FEATURES, seed=0)
        return shared | {
            "frames": str(frames),
            "states": str(states),
            "n_centers": n_centers,
            "n_candidates": n_candidates,
            "model": str(folder / f"{name}.safetensors"),
        }

    m, P = options.centers, options.candidates
    largest = task(options.frames, m, P, "local")
    rows = [_measured("fit", largest)]
    console.print(_line(rows[-1]))
    result: dict[str, Any] = {"local": rows[0]}
    if options.cluster_workers:
        with local_cluster(options.cluster_workers, folder) as (address, processes):
            there = largest | {"cluster": address, "model": str(folder / "cluster.safetensors")}
            result["cluster"] = _measured("fit", there, processes)
        console.print("on the cluster:", _line(result["cluster"]))
        result |= _differences(folder, held_out[0])
        console.print(
            f"the two models: largest difference of weights {result['weights_difference']:.1e} (largest weight "
            f"{result['largest_weight']:.3g}), of log posteriors {result['log_posterior_difference']:.1e}"
        )
    if not options.largest_only:
        for part in (2, 4, 8):
            rows.append(_measured("fit", task(options.frames // part, m, P, "part")))
            console.print(_line(rows[-1]))
        for part in (2, 4):
            rows.append(_measured("fit", task(options.frames // 4, m // part, P // part, "part")))
            console.print(_line(rows[-1]))
    console.print(_table(rows, options.jobs))
    result["rows"] = rows
    if options.peer_frames:
        few = task(options.peer_frames, m, P, "few")
        result["ours"], result["sklearn"] = _measured("fit", few), _measured("peer", few)
        for name in ("ours", "sklearn"):
            console.print(f"{name:8}", _line(result[name]))
        result["ratio"] = result["sklearn"]["seconds"] / result["ours"]["seconds"]
        console.print(f"sklearn (Nystroem, SGDClassifier) / ours = {result['ratio']:.2f}")
    return result


def _measured(task: str, arguments: Row, more_processes: list[int] | None = None) -> Row:
    """Run a task in a separate process; return its result, memory and CPU time."""
    command = [sys.executable, "-m", "benchmarks.training_scale", "--child", task, json.dumps(arguments)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
        ProcessTree([process.pid, *(more_processes or [])]) as tree,
    ):
        output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{task} {arguments} exited with {process.returncode}")
    answer: Row = json.loads(output.splitlines()[-1])
    memory = {"peak_bytes": tree.peak_bytes, "peak_private_bytes": tree.peak_private_bytes}
    return answer | memory | {"cpu_seconds": tree.cpu_seconds}


def _differences(folder: Path, frames: str) -> dict[str, float]:
    """Return differences between the models of the two ways."""
    one, other = (estimator_from_arrays(*load_arrays(folder / f"{name}.safetensors")) for name in ("local", "cluster"))
    X = np.load(frames)[:5000]
    return {
        "weights_difference": float(np.abs(one.dual_coef_ - other.dual_coef_).max()),
        "largest_weight": float(np.abs(one.dual_coef_).max()),
        "log_posterior_difference": float(np.abs(one.predict_log_proba(X) - other.predict_log_proba(X)).max()),
    }


def _line(row: Row) -> str:
    return (
        f"{row['n_frames']:,} frames, {row['n_centers']} centers: {row['seconds']:.0f} s ({row['cpu_seconds']:.0f} s "
        f"of processors), {row['peak_bytes'] / 1e6:,.0f} MB, accuracy {row['accuracy']:.3f}, cross-entropy "
        f"{row['cross_entropy']:.3f}"
    )


def _table(rows: list[Row], jobs: int) -> Table:
    table = Table(title=f"{STATES} states, {FEATURES} features, float32, {jobs} processes of one BLAS thread")
    columns = ("frames", "candidates", "centers", "selection s", "weights s", "together s", "CPU s", "CPU µs / frame")
    for column in (*columns, "memory MB", "not from files", "accuracy", "cross-entropy"):
        table.add_column(column, justify="right")
    for row in sorted(rows, key=lambda row: (row["n_centers"], row["n_frames"])):
        table.add_row(
            f"{row['n_frames']:,}",
            f"{row['n_candidates']}",
            f"{row['n_centers']}",
            f"{row['selection_seconds']:.1f}",
            f"{row['weights_seconds']:.1f}",
            f"{row['seconds']:.1f}",
            f"{row['cpu_seconds']:.0f}",
            f"{1e6 * row['cpu_seconds'] / row['n_frames']:.0f}",
            f"{row['peak_bytes'] / 1e6:,.0f}",
            f"{row['peak_private_bytes'] / 1e6:,.0f}",
            f"{row['accuracy']:.3f}",
            f"{row['cross_entropy']:.3f}",
        )
    return table


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child_main(*sys.argv[2:])
    else:
        main()
