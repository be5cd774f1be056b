"""How a command tells which utterances it had to leave out."""

from collections import Counter
from pathlib import Path

import typer

from asr.errors import printable
from asr.runs.outcome import FAILED, Outcome

_SHOWN = 20


def report_failures(outcome: Outcome, directory: Path) -> None:
    """Tell on standard error how many utterances were left out and why; nothing is printed when there is none.

    All of them are in `failed.tsv` of the directory; here the first few are listed.
    """
    failures = sorted(outcome.failures)
    if not failures:
        return
    counts = ", ".join(f"{n} {code}" for code, n in Counter(problem.code for problem in failures).most_common())
    place = printable(str(directory / FAILED))
    typer.echo(f"asr: {outcome.n_done} of {outcome.n_input} utterances done; not done: {counts}; see {place}", err=True)
    typer.echo(f"asr: {len(failures)} {'utterance' if len(failures) == 1 else 'utterances'} left out:", err=True)
    for problem in failures[:_SHOWN]:
        typer.echo(f"  {printable(problem.utterance_id)}: {problem.reason}", err=True)
    if len(failures) > _SHOWN:
        typer.echo(f"  and {len(failures) - _SHOWN} more", err=True)
