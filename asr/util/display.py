"""Tables in HTML and axes of plots, as notebooks show results."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Cell = str | int | float | None


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], notes: Iterable[str] = ()) -> str:
    """Return a table with a title above it and notes below it; all text is escaped.

    Floats have two digits. None is an empty cell. Numbers are aligned to the right.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def _cell(value: Cell) -> str:
    if isinstance(value, int | float):
        text = f"{value:.2f}" if isinstance(value, float) else str(value)
        return f'<td style="text-align: right">{text}</td>'
    return f'<td style="text-align: left">{escape(value or "")}</td>'


def new_axes(width: float, height: float) -> "Axes":
    """Return axes in a new pyplot figure of this size in inches; notebooks show it at the end of the cell."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return axes
