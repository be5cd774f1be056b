import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Warm = Callable[..., tuple[int, str]]

PROGRAM = Path(__file__).with_name("warm_command.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Run `asr` with these arguments in a process that has imported everything: (exit status, standard error)."""
    server = subprocess.Popen(
        [sys.executable, str(PROGRAM)], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None

    def run(*arguments: object, seconds: float | None = None, **limits: int) -> tuple[int, str]:
        server.stdin.write(json.dumps([[*map(str, arguments)], seconds, limits]) + "\n")
        server.stdin.flush()
        status, said = json.loads(server.stdout.readline())
        return status, said

    yield run
    server.stdin.close()
    assert server.wait(timeout=10) == 0


@pytest.fixture(scope="session")
def tiny_training(tiny_corpus: Path) -> list[object]:
    """Arguments of a training that takes a second; the path of a work directory is still to come."""
    places = {"--data": "train", "--lexicon": "lexicon.txt", "--config": "settings.toml"}
    options = [part for key, name in places.items() for part in (key, tiny_corpus / name)]
    return ["train", *options, "--jobs", "1", "--work-dir"]
