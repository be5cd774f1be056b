"""The benchmark recipe: its data sets and its results."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from recipes.benchmarks.__main__ import TABLES, check_kept
from recipes.benchmarks.datasets import multi_class_problem, regression_problem, two_class_problem
from recipes.benchmarks.problem import Problem
from recipes.benchmarks.results import ResultFiles
from recipes.benchmarks.tables import markdown, print_sheets, sheets
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields
from tests.fuzz.mutators.json_mutators import spoil_json, written
from tests.fuzz.mutators.npz_mutators import npz_bytes, spoil_npz
from tests.fuzz.mutators.text_mutators import spoil_text
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader

NPZ = (spoil_npz, spoil_npz, spoil_npz, spoil_bytes, spoil_fields)
_random = np.random.default_rng(8)
_CODES, _X = np.arange(40) % 2, _random.normal(size=(40, 3))
_ROWS = np.array([np.random.default_rng(seed).permutation(40) for seed in (0, 1)], np.int16)
_PIXELS = np.round(20 * (_X - _X.min())).astype(np.uint8)

TWO_CLASS = npz_bytes({"x": _X, "y": (2 * _CODES - 1).astype(np.int8), "train": _ROWS[:, :15], "test": _ROWS[:, 15:]})
MULTI_CLASS = npz_bytes(
    {"x_train": _PIXELS[:25], "y_train": _CODES[:25] + 1, "x_test": _PIXELS[25:], "y_test": _CODES[25:] + 1}
)
REGRESSION = npz_bytes({"x": np.column_stack([_X, _CODES]), "y": np.sin(_X[:, 0])})


def _check(problem: Problem) -> None:
    for part in problem.partitions:
        samples = problem.X[part.train]
        if not (np.isfinite(samples).all() and np.isfinite(problem.X[part.test]).all() and len(problem.y[part.train])):
            raise Unsound("samples that are not finite, or none at all")


reader("benchmark-two-class", {"banana.npz": TWO_CLASS}, NPZ)(lambda path: _check(two_class_problem(path)))
reader("benchmark-multi-class", {"usps.npz": MULTI_CLASS}, NPZ)(lambda path: _check(multi_class_problem(path)))
reader("benchmark-regression", {"boston.npz": REGRESSION}, NPZ)(
    lambda path: _check(regression_problem(path, 25, 10, 2))
)


def _results() -> Seeds:
    row = {
        "table": "5.4", "data": "sinc", "value": 0.01, "sd": 0.001, "sparsity": 5.0, "seed_value": 0.03,
        "fit_seconds": 0.1, "predict_seconds": 0.01,
    }  # fmt: skip
    methods = ("orols", "npd", "svm")
    chosen = {
        method: {"chosen": {"sigma": 1.0}, "cv_value": 0.01, "choice_seconds": 0.5, "values": [0.01, 0.02]}
        for method in methods
    }
    settings = {"methods": chosen, "training_samples": 50, "test_samples": 100}
    return {
        "results.json": written([{**row, "method": method} for method in methods]),
        "settings.json": written({"quick": True, "tables": {"5.4": {"sinc": settings}}}),
    }


@reader("benchmark-results", _results(), (spoil_json, spoil_json, spoil_text, spoil_bytes), tree=True, writes=True)
def _result_files(folder: Path) -> None:
    files = ResultFiles(folder, quick=True)
    check_kept(files, folder)
    files.sort(TABLES)
    shown = sheets(TABLES, files.rows, files.settings)
    markdown(shown, quick=True)
    with redirect_stdout(io.StringIO()):
        print_sheets(shown)
