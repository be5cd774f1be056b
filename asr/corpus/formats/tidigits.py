"""TIDIGITS (LDC93S10): train/man/ae/1b2za.wav; the digits are in the file's name.

Leonard and Doddington (1993), "TIDIGITS".
"""

import re
from collections.abc import Iterator
from pathlib import Path

from asr.corpus.formats.source import AUDIO_SUFFIXES, Found, LeftOut, ReadOptions, SourceUtterance, files_below

WORDS = {
    "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "z": "zero", "o": "oh",
}  # fmt: skip
_NAME = re.compile(r"([1-9zo]+)([ab])")


def read_tidigits(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the strings of digits; the speaker is the folder, the part is "train" or "test" by the folders above."""
    del options  # nothing else can be chosen
    for path in files_below(source):
        if path.suffix.lower() not in AUDIO_SUFFIXES:
            continue
        found = _NAME.fullmatch(path.stem.lower())
        if found is None:
            yield LeftOut(str(path), "no-transcript", "not named by digits 1-9, z, o, and a or b")
            continue
        parts = {part.lower() for part in path.parts}
        part = next((name for name in ("test", "train") if name in parts), None)
        yield SourceUtterance(
            path, " ".join(WORDS[digit] for digit in found[1]), str(path), path.parent.name, part=part
        )
