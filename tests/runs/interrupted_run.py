"""A small run for the tests to kill: four stages of a few files, each made from all of the one before."""

import hashlib
import sys
import time
from pathlib import Path

from asr.runs.run import Run

N_FILES = 3
STAGES = ("features", "gmm", "alignment", "hybrid")


def build(target: Path, source: Path | None, pause: float) -> None:
    """Fill `target` with files that depend on every byte of `source`, which must be whole."""
    seed = b"start"
    if source is not None:
        names = sorted(path.name for path in source.iterdir())
        assert names == [f"part-{number}" for number in range(N_FILES)], f"{source} is partial: {names}"
        seed = b"".join((source / name).read_bytes() for name in names)
    for number in range(N_FILES):
        with (target / f"part-{number}").open("wb") as file:
            for block in range(4):
                file.write(hashlib.sha256(seed + bytes([number, block])).digest() * 64)
                file.flush()
                time.sleep(pause)


def run(
    directory: Path,
    *,
    pause: float = 0.0,
    width: int = 39,
    rebuild_changed: bool = False,
    stages: tuple[str, ...] = STAGES,
) -> None:
    with Run.open(
        directory,
        command=["toy"],
        configuration={"width": width},
        inputs={"corpus": "digest"},
        rebuild_changed=rebuild_changed,
    ) as whole:
        source = None
        for name in stages:
            source = whole.stage(name, lambda target, source=source: build(target, source, pause))


if __name__ == "__main__":
    run(Path(sys.argv[1]), pause=0.001)
