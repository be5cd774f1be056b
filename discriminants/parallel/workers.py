"""Workers that run tasks in this process or in several, with the same results in the same order."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from discriminants.util.blas_threads import on_one_thread, one_blas_thread

Result = TypeVar("Result")


class Workers(Protocol):
    """Interface: computes a function of many items, one item per task.

    Results come in the order of the items and every task has one BLAS thread, so they do not depend on the type or
    number of workers.
    """

    @property
    def n_workers(self) -> int:
        """Number of tasks that run at the same time."""
        ...

    def share(self, value: Any) -> Any:
        """Return a handle for a large constant, which `map` turns back into the value; it is sent to a worker once."""
        ...

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Yield function(item, *shared) for every item, in order, computed a few items ahead.

        The function is a module-level function, or a `functools.partial` of one, so that other processes can import it.
        Shared values are handles from `share`, or plain values.
        """
        ...


@contextmanager
def interrupts_undisguised() -> Iterator[None]:
    """Turn the SystemError of an interrupt during compiled code back into an interrupt."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


class SerialWorkers:
    """Worker that runs in the calling process."""

    n_workers = 1

    def share(self, value: Any) -> Any:
        """Return the value itself."""
        return value

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Map as in `Workers.map`."""
        for item in items:
            with one_blas_thread(), interrupts_undisguised():
                result = function(item, *shared)
            yield result


class LocalWorkers:
    """`jobs` processes of this machine, kept between calls of `map`."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got jobs = {jobs}")
        self.n_workers = jobs

    def share(self, value: Any) -> Any:
        """Return the value itself: joblib maps large arrays instead of copying them."""
        return value

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Map as in `Workers.map`."""
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self.n_workers, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
        yield from parallel(delayed(on_one_thread)(function, item, *shared) for item in items)


def workers_for(jobs: int = 1, cluster: str | None = None) -> Workers:
    """Return the workers for a command line: those of a scheduler's address, else `jobs` local processes."""
    if cluster is not None:
        from discriminants.parallel.cluster import ClusterWorkers

        return ClusterWorkers(cluster)
    return SerialWorkers() if jobs == 1 else LocalWorkers(jobs)
