"""How a command tells which utterances it had to leave out."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer

from asr.corpus.data_directory import Problem
from asr.runs.outcome import FAILED, Outcome
from asr.util.errors import printable

_SHOWN = 20


def report_failures(outcome: Outcome, directory: Path) -> None:
    """Tell on standard error how many utterances were left out and why; nothing is printed when there is none.

    All of them are in `failed.tsv` of the directory; here the first few are listed.
    """
    tell_left_out(outcome.n_done, outcome.failures, f"; see {printable(str(directory / FAILED))}")


def tell_left_out(n_done: int, problems: Sequence[Problem], where: str = "") -> None:
    """The same of a command that writes no list; `where` closes the first line."""
    failures = sorted(problems)
    if not failures:
        return
    n_input = n_done + len(failures)
    counts = ", ".join(f"{n} {code}" for code, n in Counter(problem.code for problem in failures).most_common())
    typer.echo(f"asr: {n_done} of {n_input} utterances done; not done: {counts}{where}", err=True)
    typer.echo(f"asr: {len(failures)} {'utterance' if len(failures) == 1 else 'utterances'} left out:", err=True)
    for problem in failures[:_SHOWN]:
        typer.echo(f"  {printable(problem.utterance_id)}: {problem.reason}", err=True)
    if len(failures) > _SHOWN:
        typer.echo(f"  and {len(failures) - _SHOWN} more", err=True)
