"""The workers of a command line: this machine's, or those of a cluster."""

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from asr.util.errors import ConfigError, RunError
from discriminants.parallel.blas_buffers import claim_blas_buffers
from discriminants.parallel.workers import Workers, workers_for

Result = TypeVar("Result")

_PATIENCE = 10.0  # seconds for the scheduler to answer, and as long again for a first worker


@contextmanager
def open_workers(jobs: int, cluster: str | None = None) -> Iterator[Workers]:
    """Yield the workers that a command line asks for: `jobs` of this machine, or those of a cluster.

    Parameters
    ----------
    jobs : int
        At least 1.
    cluster : str, optional
        Address of a dask scheduler, "tcp://host:port".

    Raises
    ------
    ConfigError
        If `jobs` is below 1.
    RunError
        If no scheduler with a worker answers at the address, or, inside the block, none is left to go on with.
    """
    if jobs < 1:
        raise ConfigError(f"jobs is {jobs}; expected a whole number of at least 1")
    if cluster is None:
        claim_blas_buffers(1 if jobs == 1 else jobs + 1)  # one for each thread, and this one's
        yield workers_for(jobs)
        return
    workers = _Cluster(cluster)
    try:
        yield workers
    finally:
        workers.close()


class _Cluster:
    """Workers of a cluster, whose loss is an error that a user can meet."""

    def __init__(self, address: str) -> None:
        from discriminants.parallel.cluster import ClusterWorkers

        self._address = address
        try:
            self._workers = ClusterWorkers(address, patience=_PATIENCE)
        except ConnectionError as error:
            raise RunError(f"cluster {error}") from error
        # What goes wrong is said once, below, and not with the traceback of every attempt to connect again.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)

    @property
    def n_workers(self) -> int:
        """Workers at this moment."""
        with self._losses_told():
            return self._workers.n_workers

    def share(self, value: Any) -> Any:
        """See `Workers.share`."""
        with self._losses_told():
            return self._workers.share(value)

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """See `Workers.map`; RunError when the cluster cannot go on."""
        with self._losses_told():
            yield from self._workers.map(function, items, *shared)

    def close(self) -> None:
        """Leave the cluster."""
        self._workers.close()

    @contextmanager
    def _losses_told(self) -> Iterator[None]:
        from distributed.comm.core import CommClosedError

        try:
            yield
        except (CommClosedError, ConnectionError, TimeoutError, CancelledError) as error:
            raise RunError(f"cluster {self._address}: lost ({error})") from error
        except RuntimeError as error:
            if type(error.__cause__).__name__ != "KilledWorker":
                raise
            raise RunError(f"cluster {self._address}: {error}") from error
