"""Progress of long work: a bar with the remaining time on a terminal, and a line in the detailed log at the end."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

logger = logging.getLogger(__name__)

_PATIENCE = 2.0  # seconds before a bar is shown
_NARROWEST = 10  # minimum columns of a bar
_FIGURES = 20  # columns for the slash, the remaining time and spaces


class Progress:
    """A count of pieces of work done, of a total if known; enter it in a `with` block and call `advance`.

    The bar appears on standard error once the work has taken two seconds; only on a terminal, and not if the
    environment variable `CI` is set.

    >>> with Progress(3, "counting") as counter:
    ...     counter.advance(3)
    """

    def __init__(self, total: int | None, description: str):
        self.total, self.description, self.done = total, description, 0
        self._bar: RichProgress | None = None
        self._started = time.monotonic()
        self._visible = False

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        self._visible = _on_terminal()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        seconds = time.monotonic() - self._started
        stopped, of_all = ("", "") if kind is None else ("stopped after ", f" of {self.total}")
        logger.debug("%s: %s%d%s in %.1f s", self.description, stopped, self.done, of_all, seconds)

    def advance(self, n: int = 1) -> None:
        """Count `n` more pieces as done."""
        self.done += n
        if self._bar is None:
            if not self._visible or time.monotonic() - self._started < _PATIENCE:
                return
            self._bar = _start_bar(self.description, self.total)
        self._bar.update(self._bar.task_ids[0], completed=self.done)


@contextmanager
def counted(total: int, description: str) -> Iterator[Callable[[int], None]]:
    """Follow work that reports how many pieces are finished altogether, through the yielded function.

    >>> with counted(3, "counting") as finished:
    ...     finished(3)
    """
    with Progress(total, description) as bar:
        yield lambda done: bar.advance(done - bar.done)


def _on_terminal() -> bool:
    if os.environ.get("CI"):
        return False
    try:
        return os.isatty(2)
    except OSError:
        return False


def _start_bar(description: str, total: int | None) -> "RichProgress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    # A long description is shortened to keep the numbers visible.
    room = max(_NARROWEST, console.width - _FIGURES - 2 * len(str(total or "")))
    shown = description if len(description) < room - _NARROWEST else f"{description[: max(1, room - _NARROWEST - 1)]}…"
    bar_width = max(_NARROWEST, min(40, room - len(shown)))
    columns = (TextColumn("{task.description}"), BarColumn(bar_width), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, TextColumn("left"), console=console, transient=True)
    bar.add_task(shown, total=total)
    bar.start()
    return bar
