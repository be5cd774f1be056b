"""Runs `asr` commands, one a line of standard input, in forks of a process that has imported everything.

A command starts at once and in a process group of its own, so that a test can kill many of them at moments spread
over the work itself. A line of input is a JSON list: the arguments, after how many seconds the group is killed (null:
never), and limits. Of these, `file_size` is how long a file may grow, in bytes, and `memory` how much address space
there is beyond what the process has when the command starts, in MiB. The answer is a JSON pair: the exit status, or
minus the number of the signal that ended the command, and its standard error.
"""

import fcntl
import json
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

import asr.training.pipeline  # noqa: F401 (for all that it imports)
from asr.cli import main
from asr.features.config import FeatureConfig
from asr.features.mfcc import mfcc

mfcc(np.zeros(8000, np.float32), FeatureConfig(sample_rate=8000))  # imports the last of the libraries


def heard(pipe: int) -> str:
    """What is in the pipe; workers of the command, which may outlive it, keep it open."""
    os.set_blocking(pipe, False)
    parts = []
    try:
        while part := os.read(pipe, 1 << 16):
            parts.append(part)
    except BlockingIOError:
        pass
    os.close(pipe)
    return b"".join(parts).decode()


def limit(file_size: int | None = None, memory: int | None = None) -> None:
    """Limits of this process, see above."""
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, resource.RLIM_INFINITY))
    if memory is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        n_bytes = pages * resource.getpagesize() + (memory << 20)
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, resource.RLIM_INFINITY))


for line in sys.stdin:
    arguments, seconds, limits = json.loads(line)
    listening, speaking = os.pipe()
    fcntl.fcntl(speaking, fcntl.F_SETPIPE_SZ, 1 << 20)  # no reads before the command has ended
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(speaking, 2)
        limit(**limits)
        main(arguments)
    os.close(speaking)
    os.setpgid(child, child)  # here too, in case the kill comes before the child has done it
    ended, waited = 0, 0
    if seconds is not None:
        moment = time.monotonic() + seconds
        while not ended and (left := moment - time.monotonic()) > 0:
            time.sleep(min(left, 0.01))
            ended, waited = os.waitpid(child, os.WNOHANG)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    if not ended:
        _, waited = os.waitpid(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(waited), heard(listening)]), flush=True)
