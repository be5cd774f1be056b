"""A dask cluster for tests: a scheduler and two workers, each a process of its own, and a nanny over each worker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0


@dataclass
class Cluster:
    """A cluster under way."""

    address: str
    nannies: list[subprocess.Popen[bytes]]
    killed: list[int] = field(default_factory=list)

    def workers(self) -> list[psutil.Process]:
        """The processes that compute; a nanny starts another when one ends."""
        children = [child for nanny in self.nannies for child in psutil.Process(nanny.pid).children()]
        return [child for child in children if any("spawn_main" in part for part in child.cmdline())]

    def kill_one(self) -> int:
        """SIGKILL a worker; returns its process id."""
        victim = self.workers()[0].pid
        os.kill(victim, signal.SIGKILL)
        self.killed.append(victim)
        return victim


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster whose files lie in `folder`; when the block ends, none of its processes is left."""
    file = folder / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> None:
        with (folder / f"{len(started)}.log").open("wb") as log:
            command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(file), "--no-dashboard"]
            started.append(subprocess.Popen(command, cwd=folder, stdout=log, stderr=log))

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0")
        for number in range(2):
            start(
                "worker", "--nworkers", "1", "--nthreads", "1", "--host", "127.0.0.1", "--death-timeout", "60",
                "--local-directory", str(folder / f"worker-{number}"),
            )  # fmt: skip
        yield Cluster(_address(folder, started[0]), started[1:])
    finally:
        _end(started)


def _address(folder: Path, scheduler: "subprocess.Popen[bytes]") -> str:
    """The scheduler's address, once it knows both workers."""
    from dask.distributed import Client

    give_up = time.monotonic() + PATIENCE
    while not (folder / "scheduler.json").exists():
        if scheduler.poll() is not None or time.monotonic() > give_up:
            raise RuntimeError(f"no scheduler: {(folder / '0.log').read_text()}")
        time.sleep(0.05)
    with Client(scheduler_file=str(folder / "scheduler.json"), timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        return str(client.scheduler.address)


def _end(started: list["subprocess.Popen[bytes]"]) -> None:
    """Kill nannies before their workers, or they would start others."""
    parents = [psutil.Process(popen.pid) for popen in started]
    for process in [*parents, *(child for parent in parents for child in parent.children(recursive=True))]:
        process.kill()
    for popen in started:
        popen.wait()
