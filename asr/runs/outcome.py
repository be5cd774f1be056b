"""Outcome of a command: each utterance is either done or listed with a reason."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from asr.util.errors import AsrError, CorpusError, Issue, by_utterance, printable
from asr.util.files import atomic_write

FAILED = "failed.tsv"


@dataclass(frozen=True)
class Outcome:
    """Utterances done and left out; `rtf` is in CPU seconds per second of audio."""

    n_done: int
    failures: list[Issue]
    rtf: float = 0.0

    @property
    def n_input(self) -> int:
        """Number of utterances given to the command."""
        return self.n_done + len(self.failures)


@contextmanager
def accounted(
    listed: Sequence[str],
    known: Sequence[Issue],
    directory: Path,
    remove: Callable[[Path], None] = lambda directory: None,
) -> Iterator[None]:
    """Write `directory/failed.tsv` if an error inside the block means that no utterance is left.

    `known` are earlier failures among `listed`. `remove` then removes the results of an earlier run.
    """
    try:
        yield
    except AsrError as error:
        if error.lost:
            failures = {one.utterance: one for one in (*known, *error.lost)}
            account(listed, (), list(failures.values()), directory)
            remove(directory)
        raise


def account(listed: Iterable[str], done: Iterable[str], failures: Sequence[Issue], directory: Path) -> None:
    """Check that done and failed utterances are exactly those listed, and write `directory/failed.tsv`.

    Each line has an utterance, a reason code and a sentence, separated by tabs, after a line of column names.

    Raises
    ------
    RuntimeError
        If an utterance is in neither or in both, which is a bug.
    """
    reached = sorted([*done, *(problem.utterance for problem in failures)])
    if reached != sorted(listed):
        odd = sorted(set(listed).symmetric_difference(reached)) or [
            name for name, following in pairwise(reached) if name == following
        ]
        raise RuntimeError(f"{directory}: {len(odd)} utterances are not accounted for once, {odd[0]!r} for one")
    rows = ["\t".join((printable(one.utterance), one.code, one.message)) for one in by_utterance(failures)]
    with atomic_write(directory / FAILED) as temporary:
        temporary.write_text("".join(f"{row}\n" for row in ("utterance\tcode\treason", *rows)), encoding="utf-8")


def require_some(path: Path, usable: Sequence[object], problems: Sequence[Issue]) -> None:
    """Raise CorpusError with the first reason if nothing is usable."""
    if usable:
        return
    if not problems:
        raise CorpusError(f"{path}: has no utterances")
    which = "none of the utterances can be used; the first" if len(problems) > 1 else "its utterance cannot be used"
    raise CorpusError(f"{path}: {which}: {problems[0].utterance}: {problems[0].message}", lost=problems)
