"""Workers: blocks of work done in this process or in several, with the same results in the same order."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from discriminants.util.blas_threads import on_one_thread, one_blas_thread

Result = TypeVar("Result")


class Workers(Protocol):
    """Computes functions of many items, one item a task.

    Results come in the order of the items and every task has one BLAS thread, so whatever is made of them does
    not depend on which workers there are, nor on how many.
    """

    @property
    def n_workers(self) -> int:
        """How many tasks are computed at the same time."""
        ...

    def share(self, value: Any) -> Any:
        """A handle for a large constant, which `map` turns back into the value; it travels to a worker once."""
        ...

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """function(item, *shared) for every item, in order, a few items ahead of what has been taken.

        The function is that of a module, or a `functools.partial` of one, so that other processes find it; shared
        values are handles from `share`, or plain values.
        """
        ...


@contextmanager
def interrupts_undisguised() -> Iterator[None]:
    """An interrupt that comes while compiled code runs leaves it as a SystemError; here it is made one again."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


class SerialWorkers:
    """The calling process."""

    n_workers = 1

    def share(self, value: Any) -> Any:
        """The value itself."""
        return value

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """See `Workers.map`."""
        for item in items:
            with one_blas_thread(), interrupts_undisguised():
                result = function(item, *shared)
            yield result


class LocalWorkers:
    """`jobs` processes of this machine, kept from one `map` to the next."""

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise ValueError(f"jobs = {jobs}, but there must be at least one worker")
        self.n_workers = jobs

    def share(self, value: Any) -> Any:
        """The value itself: joblib maps large arrays instead of copying them."""
        return value

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """See `Workers.map`."""
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self.n_workers, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
        yield from parallel(delayed(on_one_thread)(function, item, *shared) for item in items)


def workers_for(jobs: int = 1, cluster: str | None = None) -> Workers:
    """The workers that a command line asks for: those of a scheduler's address, else `jobs` local processes."""
    if cluster is not None:
        from discriminants.parallel.cluster import ClusterWorkers

        return ClusterWorkers(cluster)
    return SerialWorkers() if jobs == 1 else LocalWorkers(jobs)
