"""Workers of a command: on this machine, or of a cluster."""

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from asr.util.errors import ConfigError, RunError
from discriminants.parallel.blas_buffers import claim_blas_buffers
from discriminants.parallel.workers import Workers, workers_for

Result = TypeVar("Result")

_PATIENCE = 10.0  # seconds for the scheduler to answer, and again for a first worker


@contextmanager
def open_workers(jobs: int, cluster: str | None = None) -> Iterator[Workers]:
    """Yield `jobs` workers of this machine, or those of a cluster.

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
        If no scheduler with a worker answers at the address, or all workers are lost inside the block.
    """
    if jobs < 1:
        raise ConfigError(f"jobs is {jobs}; expected a whole number of at least 1")
    if cluster is None:
        claim_blas_buffers(1 if jobs == 1 else jobs + 1)  # one per thread, including this one
        yield workers_for(jobs)
        return
    workers = _Cluster(cluster)
    try:
        yield workers
    finally:
        workers.close()


class _Cluster:
    """Workers of a cluster, whose loss raises a RunError."""

    def __init__(self, address: str) -> None:
        from discriminants.parallel.cluster import ClusterWorkers

        self._address = address
        try:
            self._workers = ClusterWorkers(address, patience=_PATIENCE)
        except ConnectionError as error:
            raise RunError(f"cluster {error}") from error
        # The failure is reported once, below, without a traceback for each reconnection attempt.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)

    @property
    def n_workers(self) -> int:
        """Current number of workers."""
        with self._losses_told():
            return self._workers.n_workers

    def share(self, value: Any) -> Any:
        """See `Workers.share`."""
        with self._losses_told():
            return self._workers.share(value)

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """See `Workers.map`; RunError if the cluster fails."""
        with self._losses_told():
            yield from self._workers.map(function, items, *shared)

    def close(self) -> None:
        """Disconnect from the cluster."""
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
