"""Workers of a dask.distributed cluster, which may join, leave and fail."""

import gc
import logging
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from discriminants.util.blas_threads import on_one_thread

Result = TypeVar("Result")

logger = logging.getLogger(__name__)

_ATTEMPTS = 5
_AHEAD = 3  # tasks in flight per worker: one running, one in transit, one spare
_REMINDER = 30.0  # seconds between warnings that no worker is left


class ClusterWorkers:
    """Workers of a dask scheduler at `address`, "tcp://host:port".

    If a worker fails, another computes its task again; each result is used once. Shared values are tasks themselves, so
    they can be recomputed too. Workers must have this project installed and see files under the same paths. Arguments
    and results are pickled, so scheduler and workers must be trusted. `patience` is the time in seconds to wait for the
    scheduler and for a first worker. Raises ConnectionError if the address is invalid, no scheduler answers, it has no
    worker, or a worker lacks this project.
    """

    def __init__(self, address: str, patience: float = 30.0) -> None:
        try:
            from dask.distributed import Client
        except ImportError as error:
            raise ConnectionError(
                "dask.distributed is not installed. Use: pip install 'hybrid-asr[cluster]'"
            ) from error
        _require_address(address)
        try:
            self._client = _connected(Client, address, patience)
            try:
                self._client.wait_for_workers(1, timeout=patience)
            except BaseException:
                self.close()
                raise
        except (OSError, TimeoutError, ValueError, RuntimeError, AssertionError) as error:
            raise ConnectionError(
                f"{address}: no scheduler with a worker answered within {patience:g} s ({error}). Use `dask scheduler` "
                "and `dask worker ADDRESS` to start them"
            ) from error
        self._check_installed(address)

    @property
    def n_workers(self) -> int:
        """Current number of workers, at least 1."""
        return max(1, len(self._client.nthreads()))

    def share(self, value: Any) -> Any:
        """Return a future of the value, computed by its own task."""
        return self._client.submit(_given, value, pure=False)

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """Map as in `Workers.map`; raises RuntimeError if a task has ended several workers."""
        from dask.distributed import KilledWorker

        flying: deque[Any] = deque()
        waiting = iter(items)
        try:
            while True:
                while len(flying) < _AHEAD * self.n_workers:
                    try:
                        item = next(waiting)
                    except StopIteration:
                        break
                    flying.append(self._client.submit(on_one_thread, function, item, *shared, pure=False))
                if not flying:
                    return
                try:
                    result = self._result(flying[0])
                except KilledWorker as error:
                    raise RuntimeError(
                        f"a task of {function} was canceled after several workers died, probably for lack of memory. "
                        f"See the log of the last worker, {error.last_worker.address}"
                    ) from error
                flying.popleft().release()
                yield result
        finally:
            for future in flying:
                future.cancel()

    def _result(self, future: Any) -> Any:
        """Wait for a task. While the cluster has no worker, log a warning every 30 s."""
        while True:
            try:
                return future.result(timeout=_REMINDER)
            except TimeoutError:
                if future.done():  # finished in the meantime, or the task itself failed
                    return future.result()
            if not self._client.nthreads():
                address = self._client.scheduler.address
                logger.warning("cluster %s: no worker left. Waiting; use `dask worker ADDRESS` to start one", address)

    def close(self) -> None:
        """Disconnect; scheduler and workers continue."""
        self._client.close()

    def _check_installed(self, address: str) -> None:
        found = self._client.run(_can_import)
        lacking = sorted(worker for worker, able in found.items() if not able)
        if lacking:
            self.close()
            raise ConnectionError(
                f"{address}: {len(lacking)} of {len(found)} workers cannot import this project, for example "
                f"{lacking[0]}. Install it in the environment of the workers"
            )


def _require_address(address: str) -> None:
    """Raise ConnectionError for an address without a known scheme, host and port.

    dask would wait for such a scheduler, and its incomplete client prints a traceback at the end.
    """
    from distributed.comm.addressing import get_address_host_port

    try:
        host, port = get_address_host_port(address)
        if not host or not 0 < port < 1 << 16:
            raise ValueError("host or port missing or out of range")
        socket.getaddrinfo(host, port)
    except (ValueError, OSError) as error:
        if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
            return  # the name server does not answer; dask retries
        raise ConnectionError(
            f"{address}: not the address of a scheduler ({error}). Expected tcp://HOST:PORT. Use the address that "
            "`dask scheduler` prints"
        ) from error


def _connected(client: Any, address: str, patience: float) -> Any:
    """Connect to the scheduler; retry if dask raises an AssertionError because a worker joins at the same time.

    The garbage collector closes clients that were not closed or failed while connecting. It waits forever if that
    happens while this thread starts another under dask's lock, so they are collected first.
    """
    for attempt in range(_ATTEMPTS):
        gc.collect()
        try:
            return client(address, timeout=patience, set_as_default=False)
        except AssertionError:
            if attempt == _ATTEMPTS - 1:
                raise


def _given(value: Result) -> Result:
    return value


def _can_import() -> bool:
    from importlib.util import find_spec

    return find_spec("discriminants") is not None
