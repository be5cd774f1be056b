"""How a command tells which utterances it had to leave out."""

from collections.abc import Sequence
from typing import Protocol

import typer

from asr.errors import printable


class Problem(Protocol):
    """An utterance left out, and why."""

    @property
    def utterance_id(self) -> str:
        """The utterance."""

    @property
    def reason(self) -> str:
        """One sentence."""


def report_problems(problems: Sequence[Problem]) -> None:
    """List on standard error every utterance that was left out; nothing is printed when there is none."""
    if not problems:
        return
    noun = "utterance" if len(problems) == 1 else "utterances"
    typer.echo(f"asr: {len(problems)} {noun} left out:", err=True)
    for problem in problems:
        typer.echo(printable(f"  {problem.utterance_id}: {problem.reason}"), err=True)
