"""A dask scheduler and workers as local processes."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 60.0


@contextmanager
def local_cluster(n_workers: int, folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Yield the scheduler's address and the process ids; each worker has one thread.

    Raises
    ------
    RuntimeError
        If they do not start within one minute.
    """
    log = folder / "scheduler.log"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    dask = [sys.executable, "-m", "dask"]
    quiet = ["--no-dashboard"]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        with log.open("wb") as output:
            command = [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *quiet]
            processes.append(subprocess.Popen(command, stdout=output, stderr=output, env=environment))
        address = _address(log)
        for number in range(n_workers):
            with (folder / f"worker-{number}.log").open("wb") as output:
                own = [f"--local-directory={folder}", "--nworkers=1", "--nthreads=1", "--no-nanny", "--memory-limit=0"]
                command = [*dask, "worker", address, *own, *quiet]
                processes.append(subprocess.Popen(command, stdout=output, stderr=output, env=environment))
        yield address, [process.pid for process in processes]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(log: Path) -> str:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        found = re.search(r"tcp://[\d.]+:\d+", log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found.group()
        time.sleep(0.1)
    raise RuntimeError(
        f"the scheduler did not start within {_PATIENCE:g} s:\n{log.read_text(encoding='utf-8')[-2000:]}"
    )
