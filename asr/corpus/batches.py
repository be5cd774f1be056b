"""Reading of many utterances in batches."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from asr.corpus.data_directory import Utterance
from asr.util.errors import Issue, attempt
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import Workers

Result = TypeVar("Result")

_BATCH = 32  # utterances per task of a worker


def attempt_all(
    function: Callable[..., Result],
    utterances: Sequence[Utterance],
    *constants: object,
    workers: Workers,
    progress: Callable[[int], None] = lambda n_done: None,
) -> list[Result | Issue]:
    """Return `function(utterance, *constants)`, or its issue, for each utterance, in order.

    Threads suffice, because reading releases the GIL. `progress` is called with the number of utterances finished.
    """
    batches = [utterances[first : first + _BATCH] for first in range(0, len(utterances), _BATCH)]
    results: list[Result | Issue] = []
    for batch in in_threads(workers).map(partial(_attempt_batch, function), batches, constants):
        results += batch
        progress(len(results))
    return results


def _attempt_batch(function: Callable[..., Any], batch: Sequence[Utterance], constants: tuple[object, ...]) -> Any:
    return [attempt(function, utterance, *constants) for utterance in batch]
