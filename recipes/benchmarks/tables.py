"""Tables as Markdown and on the terminal, with the source's figures next to ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recipes.benchmarks.paired_test import LEVEL, paired_t_test
from recipes.benchmarks.published import PUBLISHED, Figure
from recipes.benchmarks.results import Row, Settings
from recipes.benchmarks.study import Table

_NAMES = {
    "orols": "OROLS",
    "npd": "NPD",
    "ols": "OLS",
    "qr": "QR",
    "krls": "KRLS",
    "svm": "SVM",
    "kfd": "KFD",
    "skfd": "SKFD",
    "lskfd": "LSKFD",
    "ksod": "KSOD",
    "ksod-obd": "KSOD-OBD",
    "greedy": "greedy KFD",
    "descent": "KFD by descent",
    "invariant": "invariant KFD",
    "lssvm": "LS-SVM",
    "rvm": "RVM",
    "svm-virtual": "SVM, virtual samples",
    "lssvm-f": "LS-SVM F",
    "lssvm-lin": "linear LS-SVM",
    "lssvm-lin-f": "linear LS-SVM F",
    "lssvm-pol": "polynomial LS-SVM",
    "lssvm-pol-f": "polynomial LS-SVM F",
    "svm-lin": "linear SVM",
    "lda": "LDA",
    "qda": "QDA",
    "logit": "logistic",
    "tree": "tree",
    "ib1": "1 neighbor",
    "ib10": "10 neighbors",
    "nb": "naive Bayes",
    "majority": "majority",
    "lssvm-bay": "Bayesian LS-SVM",
    "gp": "GP",
    "gp-bias": "GP, bias",
    "gp-cv": "GP, CV",
    **{f"nystroem-{share}": f"{share} %" for share in (100, 75, 50, 25, 10)},
}
_CHALLENGERS = ("orols", "npd")


@dataclass(frozen=True)
class Sheet:
    """A table for output."""

    title: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """Return heading, table and notes as Markdown."""
        cells = [self.header, ("---",) * len(self.header), *self.lines]
        table = "\n".join("| " + " | ".join(line) + " |" for line in cells)
        return "\n\n".join([f"## {self.title}", table, *self.notes])


def sheets(tables: Mapping[str, Table], rows: Sequence[Row], settings: Settings) -> list[Sheet]:
    """Return the measured tables, each followed by its paired tests (table 5.3) and the chosen settings."""
    shown = []
    for number, table in tables.items():
        found = {(row["data"], row["method"]): row for row in rows if row["table"] == number}
        if not found:
            continue
        shown.append(_values(table, found))
        if number == "5.3" and {method for _, method in found} >= {*_CHALLENGERS, "svm"}:
            shown.append(_paired(table, found, settings[number]))
        shown.append(_settings(table, found, settings[number]))
    return shown


def markdown(shown: Sequence[Sheet], *, quick: bool) -> str:
    """Return all tables as one page."""
    opening = "# Discriminants: the tables of the sources, measured again"
    warning = ["Quick run on small parts of the data. These figures are not results."] if quick else []
    return "\n\n".join([opening, *warning, *(sheet.markdown() for sheet in shown)]) + "\n"


def print_sheets(shown: Sequence[Sheet]) -> None:
    """Print the tables on standard output."""
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console()
    if not console.is_terminal:
        console = Console(width=240)  # files and pipes have no width; avoid cut lines
    for sheet in shown:
        table = RichTable(title=sheet.title, title_justify="left")
        for number, name in enumerate(sheet.header):
            table.add_column(name, justify="right" if number else "left")
        for line in sheet.lines:
            table.add_row(*line)
        console.print(table)


def _values(table: Table, found: Mapping[tuple[str, str], Row]) -> Sheet:
    header = ["data"]
    for method in table.methods:
        header += [_NAMES[method], "source"]
    lines = []
    for data in _measured(table, found):
        line = [data]
        for method in table.methods:
            row = found.get((data, method))
            measured = "" if row is None else _figure(Figure(row["value"], row["sd"], row["sparsity"] or None))
            printed = PUBLISHED.get((table.number, data, method))
            line += [measured, "" if printed is None else _figure(printed)]
        lines.append(tuple(line))
    return Sheet(f"Table {table.number}: {table.title}, {table.unit}", tuple(header), tuple(lines), table.notes)


def _paired(table: Table, found: Mapping[tuple[str, str], Row], settings: Mapping[str, Any]) -> Sheet:
    lines, not_worse = [], [0, 0]
    for data in _measured(table, found):
        better = min(_CHALLENGERS, key=lambda method: found[data, method]["value"])
        kept = settings[data]
        first, second = (kept["methods"][method]["values"] for method in (better, "svm"))
        ratio = kept["test_samples"] / kept["training_samples"]
        tests = paired_t_test(first, second), paired_t_test(first, second, ratio)
        not_worse = [count + (test.verdict != "worse") for count, test in zip(not_worse, tests, strict=True)]
        verdicts = [text for test in tests for text in (f"{test.p:.3g}", test.verdict)]
        lines.append((data, _NAMES[better], f"{tests[0].difference:+.2f}", *verdicts))
    notes = (
        (
            f"Two-sided paired t tests over the partitions, at {100 * LEVEL:.0f} %: the better of OROLS and NPD "
            f"(lower mean) against the SVM of the same run. In the plain test it is not worse on {not_worse[0]} "
            f"of {len(lines)} sets. Training sets of the partitions overlap, so the plain test finds too many "
            f"differences. With the correction for overlap (Nadeau and Bengio 2003) it is not worse on {not_worse[1]}."
        ),
    )
    header = ("data", "better of OROLS, NPD", "difference from SVM", "p", "verdict", "p, corrected", "corrected")
    return Sheet(f"Table {table.number}: against the SVM", header, tuple(lines), notes)


def _settings(table: Table, found: Mapping[tuple[str, str], Row], settings: Mapping[str, Any]) -> Sheet:
    lines = []
    for data in _measured(table, found):
        for method in table.methods:
            if (data, method) not in found:
                continue
            kept, row = settings[data]["methods"][method], found[data, method]
            chosen = ", ".join(
                f"{name} {value}" if isinstance(value, str) else f"{name} {value:.4g}"
                for name, value in kept["chosen"].items()
            )
            lines.append(
                (
                    data,
                    _NAMES[method],
                    chosen,
                    "" if kept["cv_value"] is None else f"{kept['cv_value']:.4g}",
                    f"{kept['choice_seconds']:.1f}",
                    f"{row['fit_seconds']:.3g}",
                    f"{row['predict_seconds']:.3g}",
                )
            )
    header = ("data", "method", "chosen", "in cross-validation", "choice s", "fit s", "predict s")
    return Sheet(f"Table {table.number}: settings and times", header, tuple(lines))


def _measured(table: Table, found: Mapping[tuple[str, str], Row]) -> list[str]:
    return [data for data in table.data if any(key[0] == data for key in found)]


def _figure(figure: Figure) -> str:
    digits = 4 if figure.value < 0.5 else 2
    text = f"{figure.value:.{digits}f}"
    if figure.sd is not None:
        text += f" ± {figure.sd:.{digits}f}"
    return text if figure.kernels is None else f"{text} ({figure.kernels:.3g})"
