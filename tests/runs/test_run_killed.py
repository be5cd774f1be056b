import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

N_KILLS = 6
"""Runs that are killed twice; the first moments are spread over the whole of one."""

PROGRAM = Path(__file__).with_name("interrupted_run.py")


def load_program():
    spec = importlib.util.spec_from_file_location("interrupted_run", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


interrupted_run = load_program()


def contents(directory):
    """Bytes by relative path, of everything but the times, which differ between runs, and the lock."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.suffix != ".seconds" and path.name != ".lock"
    }


def start(directory):
    return subprocess.Popen([sys.executable, str(PROGRAM), str(directory)])


def assert_existing_stages_are_whole(directory, undisturbed):
    for stage in interrupted_run.STAGES:
        if (directory / "stages" / stage).exists():
            assert contents(directory / "stages" / stage) == contents(undisturbed / "stages" / stage)
            for record in ("seconds", "digests"):
                assert (directory / "stages" / f"{stage}.{record}").exists()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A finished run, and how long a process takes for it."""
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    before = time.monotonic()
    assert start(directory).wait() == 0
    return directory, time.monotonic() - before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(N_KILLS))
def test_a_run_killed_at_a_random_moment_resumes_to_the_same_bytes(tmp_path, undisturbed, seed):
    reference, seconds = undisturbed
    random_share = random.Random(seed).random
    shares = ((seed + random_share()) / N_KILLS, random_share())
    directory = tmp_path / "run"
    for share in shares:
        process = start(directory)
        with suppress(subprocess.TimeoutExpired):
            process.wait((0.2 + 0.8 * share) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert_existing_stages_are_whole(directory, reference)
    assert start(directory).wait() == 0
    assert contents(directory) == contents(reference)


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch):
    """Leave out fsync, which guards against power cuts: what a killed process wrote, the kernel keeps."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def run_two_stages(directory, **options):
    interrupted_run.run(directory, stages=interrupted_run.STAGES[:2], **options)


def run_until_killed(directory, number, **options):
    """Run in a child that kills itself before its `number`-th change of the disk; tell if it was killed."""
    child = os.fork()
    if child == 0:
        try:
            die_before_change(number)
            run_two_stages(directory, **options)
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def die_before_change(number):
    changes = 0

    def counting(call):
        def counted(*arguments, **options):
            nonlocal changes
            changes += 1
            if changes == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return counted

    for name in ("mkdir", "replace", "rename", "fsync", "unlink", "rmdir", "open"):
        setattr(os, name, counting(getattr(os, name)))
    interrupted_run.build = counting(interrupted_run.build)


@pytest.mark.slow
@pytest.mark.usefixtures("no_waiting_for_the_disk")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_run_killed_before_any_change_resumes_to_the_same_bytes(tmp_path):
    reference = tmp_path / "reference"
    run_two_stages(reference)
    number, killed = 0, True
    while killed:
        number += 1
        directory = tmp_path / f"run-{number}"
        killed = run_until_killed(directory, number)
        assert_existing_stages_are_whole(directory, reference)
        run_two_stages(directory)
        assert contents(directory) == contents(reference)
        shutil.rmtree(directory)
    assert number > 40


@pytest.mark.slow
@pytest.mark.usefixtures("no_waiting_for_the_disk")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_throwing_stages_away_leaves_no_partial_stage(tmp_path):
    reference, changed = tmp_path / "reference", tmp_path / "changed"
    run_two_stages(reference)
    run_two_stages(changed, width=13)
    number, killed = 0, True
    while killed:
        number += 1
        directory = tmp_path / f"run-{number}"
        shutil.copytree(reference, directory)
        killed = run_until_killed(directory, number, width=13, rebuild_changed=True)
        assert_existing_stages_are_whole(directory, reference)
        run_two_stages(directory, width=13, rebuild_changed=True)
        assert contents(directory) == contents(changed)
        shutil.rmtree(directory)
    assert number > 40
