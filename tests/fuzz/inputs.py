"""Inputs of a reader: which bytes, in place of which valid input, and how they come to lie on disk."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz.mutators.nasty import NAMES
from tests.fuzz.reader import Reader, Seeds

_RENAMED = 0.15  # fraction of the mutations
LARGEST = 1 << 20
"""Bytes of a spoilt input; larger ones would cost time and find nothing else."""


EVERYWHERE = "EVERYWHERE"
"""In place of the name of a seed: in all that a reader of a folder has spoilt, one word is replaced by another. The
content is that word, a space, and the other, which may hold anything."""


class Input(NamedTuple):
    """Content that stands in place of the valid input `seed`; `harmful` says what it is if no reader may take it."""

    seed: str
    content: bytes
    harmful: str = ""


Source = Callable[[int], Input | None]
"""Input number k; None where there are no more."""


def mutations(reader: Reader, seeds: Seeds, run_seed: int) -> Source:
    """All mutations of a reader under a seed: number k is the same bytes in every run."""
    names = reader.targets_of(seeds)
    words = sorted({word for name in names for word in seeds[name].split() if word.isalnum()})

    def mutation(number: int) -> Input:
        random = Random(f"{run_seed}/{reader.name}/{number}")
        if reader.renames and random.random() < _RENAMED:
            return Input(EVERYWHERE, random.choice(words) + b" " + random.choice(NAMES))
        name = random.choice(names)
        content, others = seeds[name], [seeds[other] for other in names if other != name]
        for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
            content = random.choice(reader.mutators)(random, content, others)[:LARGEST]
        return Input(name, content)

    return mutation


def listed(inputs: list[Input]) -> Source:
    """These inputs, one after the other."""
    return lambda number: inputs[number] if number < len(inputs) else None


class Bin:
    """The folder in which one input after the other is laid out for `reader.use`."""

    def __init__(self, reader: Reader, seeds: Seeds, folder: Path) -> None:
        self._reader, self._seeds, self._folder = reader, seeds, folder
        self._spoilt: dict[str, bytes] = {}
        self._made = False

    def put(self, wanted: Input) -> Path:
        """Write the input; returns the path that `use` takes."""
        valid: Seeds = self._spoilt
        if self._reader.writes or not self._made:
            shutil.rmtree(self._folder, ignore_errors=True)
            valid = self._seeds if self._reader.tree else {}
            self._made = True
        changed = self._renamed(wanted.content) if wanted.seed == EVERYWHERE else {wanted.seed: wanted.content}
        for name, content in {**valid, **changed}.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if not self._reader.tree:
            return self._folder / wanted.seed
        self._spoilt = {name: self._seeds[name] for name in changed}
        return self._folder

    def _renamed(self, words: bytes) -> dict[str, bytes]:
        old, _, new = words.partition(b" ")
        word = re.compile(rb"(?<!\S)" + re.escape(old) + rb"(?!\S)")
        return {name: word.sub(lambda _: new, self._seeds[name]) for name in self._reader.targets_of(self._seeds)}
