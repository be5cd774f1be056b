"""Results of a recipe: `results.json` and the table on the terminal."""

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from asr.scoring.wer import ScoreReport
from asr.util.errors import RunError
from asr.util.files import atomic_write

if TYPE_CHECKING:
    from rich.console import Console

Kind = Literal["gmm", "discriminant", "other"]
Unit = Literal["mono", "tri", "word"]

ResultRow = TypedDict(
    "ResultRow",
    {
        "system": str,
        "kind": Kind,
        "unit": Unit,
        "primary": bool,
        "grammar": str,
        "split": str,
        "wer": float,
        "ser": float,
        "words": int,
        "errors": int,
        "sub": int,
        "del": int,
        "ins": int,
        "decode_rtf": float,
        "train_seconds": float,
        "frame_accuracy": float | None,
    },
)
"""One system with one grammar on one split: rates and accuracy in %, RTF in CPU seconds per second of audio."""

COLUMNS = tuple(ResultRow.__annotations__)


class Published(NamedTuple):
    """Error rate (%) of another system on the same test, copied from its source."""

    system: str
    wer: float
    source: str


def result_row(
    report: ScoreReport,
    *,
    system: str,
    kind: Kind,
    unit: Unit,
    primary: bool,
    grammar: str,
    split: str,
    decode_rtf: float,
    train_seconds: float,
    frame_accuracy: float | None = None,
) -> ResultRow:
    """Return the row of a scored system; see `ResultRow` for the units."""
    return {
        "system": system,
        "kind": kind,
        "unit": unit,
        "primary": primary,
        "grammar": grammar,
        "split": split,
        "wer": report.wer,
        "ser": report.ser,
        "words": report.words,
        "errors": report.errors,
        "sub": report.substitutions,
        "del": report.deletions,
        "ins": report.insertions,
        "decode_rtf": decode_rtf,
        "train_seconds": train_seconds,
        "frame_accuracy": frame_accuracy,
    }


def write_results(path: Path | str, rows: Sequence[ResultRow]) -> None:
    """Write the rows as a JSON list, atomically.

    Raises
    ------
    RunError
        If a row has missing or additional keys or a non-finite number, two rows have the same system, grammar and
        split, or the primary rows are not one discriminant per unit and split, the same with each grammar.
    """
    _check(rows)
    ordered = [{key: row[key] for key in COLUMNS} for row in rows]  # type: ignore[literal-required]
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(ordered, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _check(rows: Sequence[ResultRow]) -> None:
    places: set[tuple[str, ...]] = set()
    primary: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for row in rows:
        name = "result row " + " / ".join(str(row.get(key)) for key in ("system", "unit", "grammar", "split"))
        if row.keys() != set(COLUMNS):
            odd = ", ".join(sorted(row.keys() ^ set(COLUMNS)))
            raise RunError(f"{name}: keys missing or unknown: {odd}. Expected {', '.join(COLUMNS)}")
        for key, value in row.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise RunError(f"{name}: {key} is {value}. Expected a finite number")
        place = (row["system"], row["unit"], row["grammar"], row["split"])
        if place in places:
            raise RunError(f"{name}: duplicate row. Expected one row per system, grammar, split and unit")
        places.add(place)
        if not row["primary"]:
            continue
        if row["kind"] != "discriminant":
            raise RunError(f"{name}: primary system of kind {row['kind']!r}. Expected 'discriminant'")
        chosen = primary[row["split"], row["unit"]]
        others = {row["system"], *chosen.values()}
        if len(others) > 1 or row["grammar"] in chosen:
            raise RunError(
                f"{name}: several primary systems of one split and unit ({', '.join(sorted(others))}). Expected "
                "one, the same for each grammar"
            )
        chosen[row["grammar"]] = row["system"]


def print_table(rows: Sequence[ResultRow]) -> None:
    """Print the rows on standard output, with a star for primary ones."""
    from rich.table import Table

    table = Table()
    for name in ("system", "kind", "unit", "grammar", "split"):
        table.add_column(name, no_wrap=True)
    for name in ("WER %", "SER %", "words", "errors", "sub", "del", "ins", "RTF", "train s", "frames %"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        accuracy = row["frame_accuracy"]
        table.add_row(
            row["system"] + (" *" if row["primary"] else ""),
            *(row["kind"], row["unit"], row["grammar"], row["split"]),
            *(f"{row['wer']:.2f}", f"{row['ser']:.2f}"),
            *map(str, (row["words"], row["errors"], row["sub"], row["del"], row["ins"])),
            *(f"{row['decode_rtf']:.4f}", f"{row['train_seconds']:.1f}"),
            "" if accuracy is None else f"{accuracy:.1f}",
            style="bold" if row["primary"] else None,
        )
    console = _console()
    console.print(table)
    if any(row["primary"] for row in rows):
        console.print("* primary: chosen on held-out speakers before the test set was decoded")


def print_published(rows: Sequence[Published]) -> None:
    """Print published error rates of other systems on standard output, the highest first."""
    from rich.table import Table

    table = Table(title="Published, not measured here", title_justify="left")
    for name in ("system", "WER %", "source"):
        table.add_column(name, no_wrap=True, justify="right" if name == "WER %" else "left")
    for row in sorted(rows, key=lambda row: -row.wer):
        table.add_row(row.system, f"{row.wer:.2f}", row.source)
    _console().print(table)


def _console() -> "Console":
    """Return a console on standard output; in a file or pipe, which has no width, it does not cut rows."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=200)
