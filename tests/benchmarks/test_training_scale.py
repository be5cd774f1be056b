"""The frames and the measurements of the benchmark of training at scale."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.training_scale.frames import write_frames
from benchmarks.training_scale.process_tree import ProcessTree


def test_frames_follow_the_seed_and_have_unequal_states(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    one = [np.load(path) for path in write_frames(tmp_path, 5000, 20, 6, seed=0)]
    again = [np.load(path) for path in write_frames(tmp_path / "again", 5000, 20, 6, seed=0)]
    other = [np.load(path) for path in write_frames(tmp_path, 5000, 20, 6, seed=1)]
    for a, b, c in zip(one, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
    frames, states = one
    assert frames.shape == (5000, 6) and frames.dtype == np.float32
    counts = np.bincount(states, minlength=20)
    assert counts[0] == pytest.approx(625, abs=100)
    assert counts.max() > 5 * counts.min()


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs /proc")
def test_a_tree_counts_the_memory_of_processes_that_a_process_starts() -> None:
    hold = "import time; held = bytearray(b'x') * 50_000_000; print(len(held), flush=True); time.sleep(60)"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    with subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        with ProcessTree([process.pid], interval=0.05) as tree:
            process.stdout.readline()
            end = time.monotonic() + 10.0
            while tree.peak_private_bytes < 50_000_000 and time.monotonic() < end:
                time.sleep(0.05)
        os.killpg(process.pid, 9)
    assert 50_000_000 <= tree.peak_private_bytes <= tree.peak_bytes * 1.1
    assert tree.cpu_seconds >= 0.0
