"""What a reader is to the fuzzer: valid inputs, how what it reads is used, and how inputs are spoilt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

Seeds = Mapping[str, bytes]
Mutator = Callable[[Random, bytes, Sequence[bytes]], bytes]
"""mutator(random, content, contents of the other valid inputs) -> content, perhaps spoilt."""

ROOMS = tuple(
    f"tests.fuzz.readers.{room}"
    for room in "text lattices corpora audio settings models fits runs benchmarks recipes rm1 prepare".split()
)
"""Modules that register readers when they are imported."""


@dataclass(frozen=True)
class Reader:
    """One way into the project.

    Attributes
    ----------
    make_seeds : callable
        make_seeds(empty folder) -> name and content of valid inputs: the same bytes whenever it is called.
    use : callable
        use(path) reads a file and uses what was read, as a command would; it may raise AsrError and DiscriminantError,
        and `Unsound` where what was read is not what the reader promises. Whatever else it raises is a finding.
    mutators : sequence of callables
        Drawn alike; one that is there twice is drawn twice as often.
    tree : bool
        Whether the seeds are the files of one folder, which is then handed to `use` with one of them spoilt;
        otherwise each seed is an input of its own.
    targets : tuple of str
        Patterns of the names of the seeds that are spoilt.
    writes : bool
        Whether `use` changes the folder, so that it is made anew every time.
    renames : bool
        Whether a word is at times replaced in all targets at once, as names of utterances have to be.
    os_errors : bool
        Whether an OSError that names its file is documented.
    """

    name: str
    make_seeds: Callable[[Path], Seeds]
    use: Callable[[Path], None]
    mutators: Sequence[Mutator]
    tree: bool = False
    targets: tuple[str, ...] = ("*",)
    writes: bool = False
    renames: bool = False
    os_errors: bool = False

    def targets_of(self, seeds: Seeds) -> list[str]:
        """Names of the seeds that are spoilt, sorted."""
        return sorted(name for name in seeds if any(fnmatchcase(name, pattern) for pattern in self.targets))


READERS: dict[str, Reader] = {}


def reader(
    name: str, seeds: Seeds | Callable[[Path], Seeds], mutators: Sequence[Mutator], **options: Any
) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Decorate the function that reads and uses a file; the options are the other attributes of `Reader`."""

    def register(use: Callable[[Path], None]) -> Callable[[Path], None]:
        if name in READERS:
            raise ValueError(f"there is a reader {name!r} already")
        make_seeds = seeds if callable(seeds) else lambda folder: seeds
        READERS[name] = Reader(name, make_seeds, use, tuple(mutators), **options)
        return use

    return register


def all_readers(rooms: Sequence[str] = ROOMS) -> dict[str, Reader]:
    """Every reader of these modules by its name."""
    for room in rooms:
        import_module(room)
    return READERS
