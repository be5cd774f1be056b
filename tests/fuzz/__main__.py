"""Hand spoilt files to every reader of the project, and report what is not told in one clear sentence.

    python -m tests.fuzz --seconds 60 --seed 0 [--reader NAME ...] [--save DIR]
    python -m tests.fuzz --replay FILE ...
    python -m tests.fuzz --regressions

A finding is an error that is not of the project's own kinds, a message that no terminal shows as one line, a crash,
more than five seconds or 256 MB, a file written elsewhere, a process started, and whatever a reader let through that
cannot be used afterwards. Exit status 1 with findings.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

# Before NumPy is imported, because a process that forks must not have threads.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

from tests.fuzz.cases import all_cases
from tests.fuzz.finding import input_of_file
from tests.fuzz.hunt import Hunt, Tally
from tests.fuzz.inputs import Input, listed, mutations
from tests.fuzz.reader import READERS, ROOMS, Reader, Seeds, all_readers
from tests.fuzz.report import end_progress, progress_line, table, texts

REGRESSIONS = Path(__file__).with_name("regressions")
_FOREVER = 3600.0
Replay = dict[str, list[Callable[[Seeds], Input]]]
"""What makes the inputs of each reader from its valid ones."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, do it, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for all readers together (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: 0)")
    parser.add_argument("--reader", nargs="+", metavar="NAME", help="these readers only (default: all)")
    parser.add_argument("--replay", nargs="+", type=Path, metavar="FILE", help="files READER/SEED@WHAT, once each")
    parser.add_argument("--regressions", action="store_true", help="all files and cases that once failed, once each")
    parser.add_argument("--save", type=Path, metavar="DIR", help="where each finding becomes a file")
    parser.add_argument("--room", nargs="+", default=ROOMS, metavar="MODULE", help="where readers are registered")
    parser.add_argument("--list", action="store_true", help="name the readers and end")
    asked = parser.parse_args(arguments)
    known = all_readers(asked.room)
    for name in asked.reader or ():
        if name not in known:
            parser.error(f"no reader {name!r}; there are {', '.join(known)}")
    if asked.list:
        print("\n".join(known))
        return 0
    readers = [known[name] for name in asked.reader or known]
    replay = _inputs_to_replay(asked, parser)
    if replay is not None:
        readers = [one for one in readers if replay.get(one.name)]
    if not readers:
        parser.error("nothing to do")
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if os.access(memory, os.W_OK) else None))
    try:
        tallies = _hunt(readers, replay, asked.seed, asked.seconds, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    findings = texts(tallies, asked.save)
    print(table(tallies))
    if findings:
        print(f"\n{findings}")
    return 1 if findings else 0


def _hunt(readers: Sequence[Reader], replay: Replay | None, seed: int, seconds: float, folder: Path) -> list[Tally]:
    """Share the seconds out alike; valid inputs are made on top."""
    tallies: list[Tally] = []
    for number, one in enumerate(readers, 1):
        hunt = Hunt(one, folder / one.name)
        show = progress_line(number, len(readers), sum(len(tally.findings) for tally in tallies))
        if replay is None:
            tallies.append(hunt.run(mutations(one, hunt.seeds, seed), seconds / len(readers), show))
        else:
            inputs = [make(hunt.seeds) for make in replay[one.name]]
            tallies.append(hunt.run(listed(inputs), _FOREVER, show))
        shutil.rmtree(folder / one.name, ignore_errors=True)
    end_progress()
    return tallies


def _inputs_to_replay(asked: argparse.Namespace, parser: argparse.ArgumentParser) -> Replay | None:
    if not (asked.replay or asked.regressions):
        return None
    files = list(asked.replay or ())
    replay: Replay = {}
    if asked.regressions:
        files += sorted(path for path in REGRESSIONS.glob("*/*") if path.suffix != ".txt")
        for case in all_cases():
            replay.setdefault(case.reader, []).append(case.input)
    for path in files:
        named = path.resolve().parent.name
        name = asked.reader[0] if asked.reader and not asked.regressions else named
        if name not in READERS:
            parser.error(f"{path}: its folder must be named as a reader is, or --reader must name one")
        replay.setdefault(name, []).append(partial(_kept, path))
    return replay


def _kept(path: Path, seeds: Seeds) -> Input:
    return input_of_file(path)


if __name__ == "__main__":
    sys.exit(main())
