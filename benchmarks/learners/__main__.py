"""Fit time, prediction time, memory and test error of the sparse learners, compared with scikit-learn's.

    python -m benchmarks.learners [--data-dir DIR] [--only letter usps selection fisher] [--quick]

Each learner runs in a separate process. Memory is the peak of that process minus its memory before the fit. Times of
several threads are wall-clock times. The sets letter, usps, a9a and shuttle need --data-dir; `selection` (products of
columns against modified Gram-Schmidt over stored columns), `memory` and `fisher` (the path of the kernel Fisher
discriminant over its penalty, its greedy form, its descent) generate their data. `--choose` runs the cross-validation
that chose the settings.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.learners import report
from benchmarks.learners.child import run_child
from benchmarks.learners.settings import LABELS, SETTINGS

PARTS = (*SETTINGS, "selection", "memory", "fisher")
_SELECTION = {"n_samples": 20_000, "n_candidates": 2000, "n_centers": 1000}
_SELECTION_QUICK = {"n_samples": 1500, "n_candidates": 200, "n_centers": 60}
_OROLS = {"n_samples": 200_000, "n_candidates": 4000, "n_centers": 1000}
_OROLS_QUICK = {"n_samples": 4000, "n_candidates": 300, "n_centers": 100}
_KRLS = {"n_samples": 1_000_000, "chunk": 20_000, "max_centers": 300}
_KRLS_QUICK = {"n_samples": 4000, "chunk": 1000, "max_centers": 100}
_OROLS_LIMIT, _KRLS_LIMIT, _DESCENT_LIMIT = 2.5e9, 600e6, 400e6
_PATH, _PATH_QUICK = {"n_samples": 3000, "n_penalties": 30}, {"n_samples": 300, "n_penalties": 5}
_GREEDY = {"n_samples": 20_000, "n_candidates": 2000, "n_centers": 1000}
_GREEDY_QUICK = {"n_samples": 1500, "n_candidates": 200, "n_centers": 60}
_DESCENT, _DESCENT_QUICK = {"n_samples": 20_000}, {"n_samples": 1500}
_MAX_FITS = 3  # time limit of the penalty path, in fits
_WIDTH = 112  # width of tables in a file or a pipe
_QUICK_SIZES = [1500, 500]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the selected parts and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the benchmark sets")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts (default: all)")
    parser.add_argument("--methods", nargs="+", choices=LABELS, default=list(LABELS), help="learners (default: all)")
    parser.add_argument("--threads", type=int, default=len(_cores()), help="BLAS threads (default: all cores)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the command")
    parser.add_argument("--choose", action="store_true", help="choose the settings by cross-validation instead")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    found = parser.parse_args(arguments)
    if found.child:
        from benchmarks.learners.tasks import TASKS

        print(json.dumps(TASKS[found.child[0]](**json.loads(found.child[1]))))
        return
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    wanted = _possible(console, found.only, found.data_dir)
    if found.choose:
        from benchmarks.learners.choice import choose

        for name in wanted:
            if name in SETTINGS:
                choose(found.data_dir, name, found.methods, console, quick=found.quick)
        return
    console.print(f"{len(_cores())} cores, {found.threads} BLAS threads")
    print_run(console, wanted, found)


def print_run(console: Console, wanted: Sequence[str], found: argparse.Namespace) -> None:
    """Run each part, print its table, and at the end the requirements."""
    requirements: list[report.Requirement] = []
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        for name in wanted:
            if name == "selection":
                requirements += _selection(progress, found)
            elif name == "memory":
                requirements += _memory(progress, found)
            elif name == "fisher":
                requirements += _fisher(progress, found)
            else:
                requirements += _learners(progress, name, found)
    if requirements:
        report.print_requirements(console, requirements, quick=found.quick)


def _learners(progress: Progress, name: str, found: argparse.Namespace) -> list[report.Requirement]:
    methods = [method for method in LABELS if method in found.methods]
    task = progress.add_task(name, total=len(methods))
    rows: dict[str, dict[str, Any]] = {}
    for method in methods:
        progress.update(task, description=f"{name}: {LABELS[method]}")
        question = {"data_dir": str(found.data_dir), "data": name, "method": method}
        sizes = _QUICK_SIZES if found.quick else None
        try:
            rows[method] = run_child("learner", {**question, "sizes": sizes}, found.threads)
        except RuntimeError as error:  # a failed part must not stop the others
            progress.console.print(f"left out: {error}", markup=False)
        progress.advance(task)
    progress.remove_task(task)
    progress.console.print(report.learner_table(name, rows, found.threads))
    return report.learner_requirements(name, rows)


def _selection(progress: Progress, found: argparse.Namespace) -> list[report.Requirement]:
    sizes = _SELECTION_QUICK if found.quick else _SELECTION
    task = progress.add_task("selection", total=1)
    row = run_child("selection", sizes, found.threads)
    progress.remove_task(task)
    progress.console.print(report.selection_table(sizes, row, found.threads))
    ratio = row["columns_seconds"] / row["gram_seconds"] if row["same"] else 0.0
    text = "selection from products faster than modified Gram-Schmidt, the same centers"
    return [report.Requirement(text, ratio, 20, True, "x")]


def _memory(progress: Progress, found: argparse.Namespace) -> list[report.Requirement]:
    orols, krls = (_OROLS_QUICK, _KRLS_QUICK) if found.quick else (_OROLS, _KRLS)
    tasks: dict[str, tuple[str, dict[str, int], float]] = {
        f"OROLS, P = {orols['n_candidates']:,}, {orols['n_samples']:,} x 40 float32, ten classes": (
            "orols_memory",
            orols,
            _OROLS_LIMIT,
        ),
        f"KRLS, stream of {krls['n_samples']:,} x 40 float32, ten classes": ("krls_memory", krls, _KRLS_LIMIT),
    }
    rows, requirements = {}, []
    task = progress.add_task("memory", total=len(tasks))
    for label, (name, sizes, limit) in tasks.items():
        progress.update(task, description=f"memory: {label}")
        rows[label] = {**run_child(name, sizes, found.threads), "limit": limit}
        requirements.append(
            report.Requirement(f"peak of {label}", rows[label]["peak"] / 1e6, limit / 1e6, False, " MB")
        )
        progress.advance(task)
    progress.remove_task(task)
    progress.console.print(report.memory_table(rows))
    return requirements


def _fisher(progress: Progress, found: argparse.Namespace) -> list[report.Requirement]:
    path, greedy, descent = (_PATH_QUICK, _GREEDY_QUICK, _DESCENT_QUICK) if found.quick else (_PATH, _GREEDY, _DESCENT)
    task = progress.add_task("fisher", total=3)
    rows = {}
    for name, sizes in (("kfd_path", path), ("greedy", greedy), ("descent_memory", descent)):
        progress.update(task, description=f"fisher: {name}")
        rows[name] = run_child(name, sizes, found.threads)
        progress.advance(task)
    progress.remove_task(task)
    progress.console.print(report.fisher_table(path, greedy, descent, rows, found.threads))
    return [
        *(
            report.Requirement(
                f"path of KFD over {path['n_penalties']} penalties in fits {text}, penalty {penalty}",
                rows["kfd_path"][f"{penalty}_path"] / rows["kfd_path"][f"{penalty}_{key}"],
                _MAX_FITS,
                False,
                "x",
            )
            for text, key in (("by the defaults", "default"), ("with mu given", "fit"))
            for penalty in ("identity", "kernel")
        ),
        report.Requirement(
            "sparse greedy KFD as fast as OROLS with the same number of centers",
            rows["greedy"]["orols_seconds"] / rows["greedy"]["greedy_seconds"],
            1,
            True,
            "x",
        ),
        report.Requirement(
            f"peak of KFD by descent, {descent['n_samples']:,} samples",
            rows["descent_memory"]["peak"] / 1e6,
            _DESCENT_LIMIT / 1e6,
            False,
            " MB",
        ),
    ]


def _possible(console: Console, only: Sequence[str], folder: Path | None) -> list[str]:
    """Return the parts with available data."""
    if folder is not None and folder.is_dir():
        return list(only)
    skipped = [name for name in only if name in SETTINGS]
    if skipped:
        why = "no --data-dir" if folder is None else f"--data-dir {folder} is not a folder"
        console.print(f"Skipped, {why}: {', '.join(skipped)}")
    return [name for name in only if name not in SETTINGS]


def _cores() -> list[int]:
    """Return the cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


if __name__ == "__main__":
    main()
