"""Blocks of work in this process, in threads, in processes and on a cluster."""

import gc
import logging
import os
import re
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discriminants.parallel import threads
from discriminants.parallel.blas_buffers import claim_blas_buffers
from discriminants.parallel.cluster import ClusterWorkers, _connected
from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.threads import ThreadWorkers
from discriminants.parallel.workers import LocalWorkers, SerialWorkers, Workers, workers_for
from tests.cluster_processes import Cluster


def product(rows: slice, array: StoredArray, factor: np.ndarray) -> np.ndarray:
    result: np.ndarray = array[rows].T @ factor[rows]
    return result


def slowly(number: int) -> tuple[int, int]:
    time.sleep(0.1)
    return number, os.getpid()


def failing(number: int) -> int:
    raise ValueError(f"item {number} is no good")


def all_workers(cluster: Cluster) -> Iterator[Workers]:
    yield from (SerialWorkers(), ThreadWorkers(2), LocalWorkers(2))
    of_the_cluster = ClusterWorkers(cluster.address)
    try:
        yield of_the_cluster
    finally:
        of_the_cluster.close()


@pytest.mark.slow
def test_results_come_in_the_order_of_the_items_and_are_the_same_everywhere(cluster: Cluster, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", random.normal(size=(4000, 30)).astype(np.float32))
    array, factor = StoredArray(tmp_path / "a.npy"), random.normal(size=(4000, 20)).astype(np.float32)
    expected: list[np.ndarray] | None = None
    for workers in all_workers(cluster):
        shared = workers.share(array), workers.share(factor)
        items = (slice(start, start + 300) for start in range(0, 4000, 300))
        found = list(workers.map(product, items, *shared))
        expected = expected or found
        assert len(found) == 14
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_error_in_a_task_comes_through(cluster: Cluster) -> None:
    for workers in all_workers(cluster):
        with pytest.raises(ValueError, match=r"item [345] is no good"):
            list(workers.map(failing, [3, 4, 5]))


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost_or_counted_twice(cluster: Cluster) -> None:
    workers = ClusterWorkers(cluster.address)
    found: list[tuple[int, int]] = []
    for result in workers.map(slowly, range(40)):
        found.append(result)
        if len(found) == 5:
            victim = cluster.kill_one()
    assert [number for number, _ in found] == list(range(40))
    assert {process for _, process in found} - {victim}
    workers.close()


def test_a_shared_value_outlives_the_worker_that_held_it(cluster: Cluster) -> None:
    workers = ClusterWorkers(cluster.address)
    value = workers.share(np.arange(10.0))
    assert list(workers.map(times, [2], value)) == [90.0]
    cluster.kill_one()
    assert list(workers.map(times, [3, 4], value)) == [135.0, 180.0]
    workers.close()


def times(factor: int, value: np.ndarray) -> float:
    return factor * float(value.sum())


def test_an_address_where_nobody_answers_is_told() -> None:
    with pytest.raises(ConnectionError, match=r"tcp://127\.0\.0\.1:9: no scheduler"):
        ClusterWorkers("tcp://127.0.0.1:9", patience=1.0)


WRONG_ADDRESSES = [
    "", "here", "tcp://127.0.0.1", "tcp://:8786", "tcp://127.0.0.1:x", "tcp://127.0.0.1:99999", "tcp://127.0.0.1:0",
    "http://127.0.0.1:8786", "inproc://127.0.0.1/1", "::1:8786", "tcp://no such host:8786",
    f"tcp://{'a' * 300}:8786",
]  # fmt: skip


@pytest.mark.parametrize("address", WRONG_ADDRESSES)
def test_cluster_no_address_raises_at_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dask import distributed

    monkeypatch.setattr(distributed, "Client", None)  # a client waits when it is created and when it is collected
    with pytest.raises(ConnectionError, match="tcp://HOST:PORT") as raised:
        ClusterWorkers(address)
    assert address in str(raised.value)


class StartsAWorker(logging.Handler):
    """Starts a worker at the second message."""

    def __init__(self, cluster: Any) -> None:
        super().__init__()
        self.cluster = cluster
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Count it."""
        self.messages.append(record.getMessage())
        if len(self.messages) == 2:
            self.cluster.scale(1)


def test_cluster_no_worker_left_warns_until_one_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask.distributed import LocalCluster

    monkeypatch.setattr("discriminants.parallel.cluster._REMINDER", 0.2)
    local = {"processes": False, "protocol": "tcp", "dashboard_address": ":0", "threads_per_worker": 1}
    with LocalCluster(n_workers=1, **local) as running:
        workers, handler = ClusterWorkers(running.scheduler_address), StartsAWorker(running)
        running.scale(0)
        while workers._client.nthreads():
            time.sleep(0.01)
        logger = logging.getLogger("discriminants.parallel.cluster")
        logger.addHandler(handler)
        try:
            assert list(workers.map(abs, [-1, -2])) == [1, 2]
        finally:
            logger.removeHandler(handler)
            workers.close()
    assert len(handler.messages) >= 2
    assert all("no worker" in message and running.scheduler_address in message for message in handler.messages)


@pytest.mark.parametrize(("jobs", "kind"), [(1, SerialWorkers), (2, LocalWorkers)])
def test_workers_for_a_number_of_jobs(jobs: int, kind: Any) -> None:
    assert isinstance(workers_for(jobs), kind)


def test_no_jobs_are_refused() -> None:
    with pytest.raises(ValueError, match="jobs = 0"):
        workers_for(0)


def test_a_stored_array_is_read_anew_when_its_file_has_changed(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    array = StoredArray(tmp_path / "a.npy")
    assert array[:].tolist() == [0.0, 0.0, 0.0]
    np.save(tmp_path / "a.npy", np.ones(4))
    assert array.shape == (4,)
    assert array[np.array([0, 3])].tolist() == [1.0, 1.0]


def test_threads_that_are_left_in_the_middle_end() -> None:
    results = ThreadWorkers(2).map(slowly, range(100))
    assert next(results)[0] == 0
    results.close()  # type: ignore[attr-defined]


def test_a_killed_process_is_gone(cluster: Cluster) -> None:
    for victim in cluster.killed:
        with pytest.raises(ProcessLookupError):
            os.kill(victim, signal.SIGCONT)


def interrupted_in_compiled_code(item: int) -> int:
    if item == 2:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error
    return item


def test_an_interrupt_that_compiled_code_disguised_is_an_interrupt_again():
    results = SerialWorkers().map(interrupted_in_compiled_code, range(4))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_buffers_of_blas_are_taken_only_where_address_space_is_limited_and_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = iter([resource.RLIM_INFINITY, 1 << 45, 1 << 20])
    monkeypatch.setattr(resource, "getrlimit", lambda what: (next(limits), resource.RLIM_INFINITY))
    claim_blas_buffers(2)
    claim_blas_buffers(2)
    with pytest.raises(MemoryError, match=r"0 MiB .* 1 MiB \(ulimit -v\).* 272 MiB"):
        claim_blas_buffers(2)


def test_no_two_modules_of_the_rooms_of_workers_import_each_other() -> None:
    folder = Path(threads.__file__).parent
    imports = {
        path.stem: set(re.findall(r"from discriminants\.parallel\.(\w+) import", path.read_text()))
        for path in folder.glob("*.py")
    }
    assert not [(one, other) for one, others in imports.items() for other in others if one in imports[other]]


def test_a_client_that_meets_a_joining_worker_tries_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from dask import distributed

    client, attempts = distributed.Client, []

    def meets_a_worker(*arguments: Any, **options: Any) -> Any:
        attempts.append(arguments)
        assert len(attempts) > 2
        return client(*arguments, **options)

    monkeypatch.setattr(distributed, "Client", meets_a_worker)
    workers = ClusterWorkers(cluster.address)
    assert list(workers.map(times, [3], np.ones(2))) == [6.0]
    assert len(attempts) == 3
    workers.close()


class Abandoned:
    """What dask's client is while nobody holds it: in a cycle, and it takes dask's lock when it is collected."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        from distributed.utils import LoopRunner

        free = LoopRunner._lock.acquire(blocking=False)
        collected.append(free)
        if free:
            LoopRunner._lock.release()


collected: list[bool] = []


@pytest.mark.slow
def test_an_abandoned_client_is_collected_before_the_lock_is_taken_that_it_needs(cluster: Cluster) -> None:
    from distributed.utils import LoopRunner

    def collecting(*arguments: Any, **options: Any) -> Any:
        with LoopRunner._lock:
            gc.collect()
        attempts.append(arguments)
        assert len(attempts) > 1
        return "connected"

    collected.clear()
    attempts: list[tuple[Any, ...]] = []
    Abandoned()
    assert _connected(collecting, cluster.address, 1.0) == "connected"
    assert collected == [True]


def items_that_break() -> Iterator[int]:
    yield from range(5)
    raise OSError("no more items")


@pytest.mark.parametrize("workers", [SerialWorkers(), ThreadWorkers(3)])
def test_map_items_raise_gives_finished_results_first(workers: Workers) -> None:
    found = []
    results = workers.map(abs, items_that_break())
    with pytest.raises(OSError, match="no more items"):
        for result in results:
            found.append(result)
    assert found == [0, 1, 2, 3, 4]
