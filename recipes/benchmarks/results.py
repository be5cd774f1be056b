"""Results and settings of a work directory; new measurements replace earlier ones."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, get_type_hints

import numpy as np

from asr.util.errors import RunError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text
from discriminants.util.paths import exists
from recipes.benchmarks.published import PUBLISHED
from recipes.benchmarks.study import Outcome, Table


class Row(TypedDict):
    """One method on one data set.

    `value` and `sd` are in the unit of the table (% error, % correct, RMSE, MSE), `sd` over the partitions. `sparsity`
    is the number of kernel evaluations for one prediction in % of the training samples. `seed_value` is the source's
    figure. Times in seconds are means over the partitions, of one fit and of predicting one whole test set.
    """

    table: str
    data: str
    method: str
    value: float
    sd: float | None
    sparsity: float
    seed_value: float | None
    fit_seconds: float
    predict_seconds: float


Settings = dict[str, dict[str, dict[str, Any]]]  # table -> data -> result of `study_settings`


def make_row(table: str, data: str, method: str, outcome: Outcome) -> Row:
    """Average the outcome over the partitions."""
    printed = PUBLISHED.get((table, data, method))
    trials, values = outcome.trials, outcome.values
    return {
        "table": table,
        "data": data,
        "method": method,
        "value": float(values.mean()),
        "sd": float(values.std(ddof=1)) if values.shape[0] > 1 else None,
        "sparsity": float(np.mean([100.0 * trial.kernels / trial.n_train for trial in trials])),
        "seed_value": None if printed is None else printed.value,
        "fit_seconds": float(np.mean([trial.fit_seconds for trial in trials])),
        "predict_seconds": float(np.mean([trial.predict_seconds for trial in trials])),
    }


class ResultFiles:
    """The results of a work directory, on disk and in memory.

    Raises
    ------
    RunError
        If the directory contains files of another format, or if quick and full results would be mixed.
    """

    def __init__(self, work_dir: Path, *, quick: bool) -> None:
        self._work_dir = work_dir
        self._quick = quick
        self.rows: list[Row] = _read(work_dir / "results.json", [])
        kept = _read(work_dir / "settings.json", {"quick": quick, "tables": {}})
        if not isinstance(self.rows, list) or not all(_is_row(row) for row in self.rows):
            raise RunError(
                f"{work_dir / 'results.json'}: not a results file of this recipe. Use another work directory"
            )
        if not isinstance(kept, dict) or kept.keys() != {"quick", "tables"}:
            raise RunError(
                f"{work_dir / 'settings.json'}: not a settings file of this recipe. Use another work directory"
            )
        if kept["quick"] is not quick:
            there = "--quick" if kept["quick"] else "a full run"
            raise RunError(f"{work_dir} has results of {there}. Use another work directory")
        tables = kept["tables"]
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise RunError(
                f"{work_dir / 'settings.json'}: not a settings file of this recipe. Use another work directory"
            )
        self.settings: Settings = tables
        for row in self.rows:
            if row["data"] not in self.settings.get(row["table"], {}):
                raise RunError(
                    f"{work_dir / 'settings.json'}: {row['data']} of table {row['table']} is missing, but "
                    "results.json has it. Use another work directory"
                )

    def put(self, table: Table, data: str, outcomes: Mapping[str, Outcome], settings: dict[str, Any]) -> None:
        """Replace the results of these methods on one data set in one table, and write both files."""
        replaced = {(table.number, data, method) for method in outcomes}
        kept = [row for row in self.rows if (row["table"], row["data"], row["method"]) not in replaced]
        self.rows = kept + [make_row(table.number, data, method, outcome) for method, outcome in outcomes.items()]
        # Settings first, so that every row has its settings.
        of_table = self.settings.setdefault(table.number, {})
        methods = of_table.get(data, {}).get("methods", {}) | settings["methods"]
        of_table[data] = settings | {"methods": methods}
        self._write("settings.json", {"quick": self._quick, "tables": self.settings})
        self._write("results.json", self.rows)

    def sort(self, tables: Mapping[str, Table]) -> None:
        """Sort the rows in the order of the source, and write them."""

        def place(row: Row) -> tuple[str, int, int]:
            table = tables[row["table"]]
            return row["table"], table.data.index(row["data"]), table.methods.index(row["method"])

        self.rows.sort(key=place)
        self._write("results.json", self.rows)

    def _write(self, name: str, content: Any) -> None:
        with atomic_write(self._work_dir / name) as temporary:
            temporary.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _read(path: Path, default: Any) -> Any:
    if not exists(path):
        return default
    try:
        return json.loads(read_text(path, RunError), parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is not JSON ({error}). Use another work directory") from error


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or row.keys() != set(Row.__annotations__):
        return False
    return all(_suits(kind, row[name]) for name, kind in get_type_hints(Row).items())


def _suits(kind: Any, value: Any) -> bool:
    if kind is str:
        return isinstance(value, str)
    if value is None:
        return kind is not float
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
