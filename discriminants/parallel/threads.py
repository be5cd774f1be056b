"""Thread workers: matrix products release the GIL, so no data are copied."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from discriminants.parallel.workers import LocalWorkers, SerialWorkers, Workers
from discriminants.util.blas_threads import blas_threads_allowed, one_blas_thread

Result = TypeVar("Result")


class ThreadWorkers(SerialWorkers):
    """Threads of this process, each with one BLAS thread.

    Parameters
    ----------
    n_workers : int
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Map as in `Workers.map`; if `items` raises an error, the results of earlier items come first."""
        flying: deque[Future[Result]] = deque()
        given, error = iter(items), None
        with one_blas_thread(), ThreadPoolExecutor(self.n_workers) as pool:
            try:
                while True:
                    try:
                        item = next(given)
                    except StopIteration:
                        break
                    except Exception as raised:
                        error = raised
                        break
                    flying.append(pool.submit(function, item, *shared))
                    if len(flying) > self.n_workers:
                        yield flying.popleft().result()
                while flying:
                    yield flying.popleft().result()
                if error is not None:
                    raise error
            finally:
                for future in flying:
                    future.cancel()


def in_threads(workers: Workers) -> Workers:
    """Return as many threads for workers that are local processes, else the workers themselves.

    Matrix products and compiled loops release the GIL, so threads use all cores, start at once and copy no data.
    Processes would take 50 % more time for data transfer.
    """
    return ThreadWorkers(workers.n_workers) if isinstance(workers, LocalWorkers) else workers


def workers_of_this_process() -> Workers:
    """Return as many threads as BLAS may use now."""
    allowed = blas_threads_allowed()
    return SerialWorkers() if allowed == 1 else ThreadWorkers(allowed)
