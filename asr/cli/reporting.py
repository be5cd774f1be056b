"""Reports of utterances left out by a command."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer

from asr.runs.outcome import FAILED, Outcome
from asr.util.errors import Issue, by_utterance, printable

_SHOWN = 20


def report_failures(outcome: Outcome, directory: Path, *, shown: int = _SHOWN) -> None:
    """Print the number of utterances left out and the first reasons to standard error, if there are any.

    `failed.tsv` in the directory lists all of them.
    """
    report_left_out(outcome.n_done, outcome.failures, f"; see {printable(str(directory / FAILED))}", shown=shown)


def report_left_out(n_done: int, problems: Sequence[Issue], where: str = "", *, shown: int = _SHOWN) -> None:
    """Report utterances of a command without a list; `where` ends the first line."""
    failures = by_utterance(problems)
    if not failures:
        return
    n_input = n_done + len(failures)
    counts = ", ".join(f"{n} {code}" for code, n in Counter(problem.code for problem in failures).most_common())
    typer.echo(f"asr: {n_done} of {n_input} utterances done; left out: {counts}{where}", err=True)
    if not shown:
        return
    typer.echo(f"asr: {len(failures)} {'utterance' if len(failures) == 1 else 'utterances'} left out:", err=True)
    for problem in failures[:shown]:
        typer.echo(f"  {printable(problem.utterance)}: {problem.message}", err=True)
    if len(failures) > shown:
        typer.echo(f"  and {len(failures) - shown} more", err=True)
