"""One task in a separate process, so that memory and caches of other learners do not affect it."""

import json
import os
import subprocess
import sys
from typing import Any


def run_child(task: str, arguments: dict[str, Any], threads: int) -> dict[str, Any]:
    """Run a task of `benchmarks.learners.tasks` with `threads` BLAS threads.

    Raises
    ------
    RuntimeError
        If the process fails.
    """
    counts = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    command = [sys.executable, "-m", "benchmarks.learners", "--child", task, json.dumps(arguments)]
    done = subprocess.run(command, env={**os.environ, **counts}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{task} {arguments} exited with {done.returncode}:\n{done.stderr[-4000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
