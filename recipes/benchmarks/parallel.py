"""Independent tasks on a few processes, each on one thread."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from asr.runs.progress import Progress

T = TypeVar("T")


def in_parallel(
    function: Callable[..., T], pieces: Sequence[tuple[Any, ...]], *, jobs: int, description: str
) -> list[T]:
    """Compute function(*piece) of every piece, in order, with a progress bar.

    Each piece uses one thread, so sums have one order and results do not depend on `jobs`.
    """
    work = (delayed(function)(*piece) for piece in pieces)
    results: list[T] = []
    # The first limit is for worker processes, the second for this one, which does the work if jobs is 1.
    with (
        parallel_config("loky", inner_max_num_threads=1),
        threadpool_limits(1),
        Progress(len(pieces), description) as bar,
    ):
        for result in Parallel(n_jobs=jobs, return_as="generator", max_nbytes="256K")(work):
            results.append(result)
            bar.advance()
    return results
