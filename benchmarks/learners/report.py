"""Tables and the final lines with requirements and results."""

from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.learners.settings import LABELS, OURS

Row = dict[str, Any]


@dataclass(frozen=True)
class Requirement:
    """A measured number and its limit."""

    text: str
    value: float
    limit: float
    at_least: bool
    unit: str = ""

    @property
    def reached(self) -> bool:
        """Whether the number satisfies the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def line(self) -> str:
        """Return one line for the end of the run."""
        side = "at least" if self.at_least else "at most"
        word = "PASS" if self.reached else "FAIL"
        return f"{word}  {self.text}: {_short(self.value)}{self.unit}, required {side} {_short(self.limit)}{self.unit}"


def learner_table(name: str, rows: dict[str, Row], threads: int) -> Table:
    """Return the table of all methods on one set; the ratios are SVC's time divided by the method's."""
    table = Table(title=f"{name}: {threads} BLAS thread{'s' if threads > 1 else ''} (SVC's own code uses one)")
    table.add_column("method", no_wrap=True)
    for column in ("test error %", "kernels / sample", "fit s", "SVC / fit", "predict s", "SVC / predict", "memory MB"):
        table.add_column(column, justify="right")
    svc = rows.get("svc")
    for method, row in rows.items():
        ratios = ["", ""]
        if svc is not None:
            ratios = [f"{svc[key] / row[key]:.2f}" for key in ("fit_seconds", "predict_seconds")]
        table.add_row(
            LABELS[method],
            f"{row['error']:.2f}",
            f"{row['evaluations']:,}",
            f"{row['fit_seconds']:.2f}",
            ratios[0],
            f"{row['predict_seconds']:.3f}",
            ratios[1],
            f"{row['memory'] / 1e6:,.0f}",
            style="bold" if method in OURS else None,
        )
    return table


def learner_requirements(name: str, rows: dict[str, Row]) -> list[Requirement]:
    """Return the requirements on OROLS compared with SVC."""
    if name not in ("letter", "usps") or not {"orols", "svc"} <= rows.keys():
        return []
    ours, svc = rows["orols"], rows["svc"]
    found = [
        Requirement(f"{name}, test errors of OROLS and SVC", ours["error"], svc["error"], False, " %"),
        Requirement(
            f"{name}, OROLS predicts faster than SVC", svc["predict_seconds"] / ours["predict_seconds"], 10, True, "x"
        ),
    ]
    if name == "letter":
        ratio = svc["fit_seconds"] / ours["fit_seconds"]
        found.append(Requirement(f"{name}, OROLS fits as fast as SVC", ratio, 1, True, "x"))
    return found


def selection_table(sizes: dict[str, int], row: Row, threads: int) -> Table:
    """Return the table of the Gram form and modified Gram-Schmidt."""
    table = Table(
        title=f"Selection: N = {sizes['n_samples']:,}, P = {sizes['n_candidates']:,}, m = {row['n_centers']:,}, "
        f"d = 40, 10 targets, {threads} BLAS threads"
    )
    table.add_column("form")
    table.add_column("seconds", justify="right")
    table.add_column("Gram-Schmidt / form", justify="right")
    for label, key in (("products of columns (kernel, K'K, selection)", "gram"), ("modified Gram-Schmidt", "columns")):
        table.add_row(label, f"{row[f'{key}_seconds']:.2f}", f"{row['columns_seconds'] / row[f'{key}_seconds']:.1f}")
    table.caption = "the same centers in the same order" if row["same"] else "the centers DIFFER"
    return table


def fisher_table(
    path: dict[str, int], greedy: dict[str, int], descent: dict[str, int], rows: dict[str, Row], threads: int
) -> Table:
    """Return the table of the dense discriminant and its path, the greedy one and OROLS, and the one by descent."""
    table = Table(title=f"Kernel Fisher discriminants, {threads} BLAS threads")
    table.add_column("task")
    table.add_column("seconds", justify="right")
    times = rows["kfd_path"]
    for penalty in ("identity", "kernel"):
        for text, key in (
            ("one fit, mu given, calibrated on the training samples", "fit"),
            ("one fit by the defaults", "default"),
            (f"leave-one-out errors under {path['n_penalties']} penalties", "path"),
        ):
            table.add_row(
                f"KFD, N = {path['n_samples']:,}, penalty {penalty}: {text}", f"{times[f'{penalty}_{key}']:.2f}"
            )
    for label, key in (("OROLS", "orols"), ("sparse greedy KFD", "greedy")):
        sizes = f"N = {greedy['n_samples']:,}, P = {greedy['n_candidates']:,}, m = {rows['greedy'][f'{key}_centers']:,}"
        table.add_row(f"{label}, {sizes}", f"{rows['greedy'][f'{key}_seconds']:.2f}")
    found = rows["descent_memory"]
    table.add_row(
        f"KFD by descent, N = {descent['n_samples']:,}, one figure: peak {found['peak'] / 1e6:,.0f} MB",
        f"{found['seconds']:.1f}",
    )
    return table


def memory_table(rows: dict[str, Row]) -> Table:
    """Return peak memory of whole processes, interpreter and libraries included."""
    table = Table(title="Peak memory of the whole process")
    table.add_column("task")
    for column in ("centers", "seconds", "peak MB", "limit MB"):
        table.add_column(column, justify="right")
    table.add_column("")
    for label, row in rows.items():
        word = "PASS" if row["peak"] <= row["limit"] else "FAIL"
        cells = (f"{row['seconds']:.1f}", f"{row['peak'] / 1e6:,.0f}", f"{row['limit'] / 1e6:,.0f}")
        table.add_row(label, f"{row['n_centers']:,}", *cells, word)
    return table


def print_requirements(console: Console, requirements: list[Requirement], *, quick: bool) -> None:
    """Print the last lines of a run."""
    console.print(
        "\nQuick run with small sizes. These figures are not results." if quick else "\nRequired and reached:"
    )
    for requirement in requirements:
        console.print(
            requirement.line(), style="green" if requirement.reached else "red", highlight=False, soft_wrap=True
        )


def _short(number: float) -> str:
    """Format with three digits, or all digits before the point."""
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"
