"""TIMIT (LDC93S1): TRAIN/DR1/FCJF0/SA1.WAV with the sentence in SA1.TXT.

Garofolo et al. (1993), "TIMIT Acoustic-Phonetic Continuous Speech Corpus".
"""

import re
from collections.abc import Iterator
from pathlib import Path

from asr.corpus.formats.source import (
    AudioFinder,
    Found,
    LeftOut,
    ReadOptions,
    SourceUtterance,
    each_file,
    files_below,
    read_annotation,
)

_SENTENCE = re.compile(r"\s*(\d+)\s+(\d+)\s+(.*)", re.DOTALL)


def read_timit(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the sentences; the speaker is the folder, the part is "train" or "test" by the folders above."""
    finder = AudioFinder(source, options.audio)
    sentences = [
        path
        for path in files_below(source)
        if path.suffix.lower() == ".txt" and len(path.relative_to(source).parts) > 2
    ]
    yield from each_file(sentences, finder, _sentence)
    yield from finder.unused("no sentence (.TXT) has its name")


def _sentence(path: Path, audio: Path) -> Iterator[Found]:
    found = _SENTENCE.fullmatch(read_annotation(path))
    if found is None:
        yield LeftOut(str(path), "bad-line", "no 'FIRST LAST SENTENCE' with sample numbers")
        return
    parts = {part.lower() for part in path.parts}
    part = next((name for name in ("test", "train") if name in parts), None)
    yield SourceUtterance(audio, found[3], str(path), path.parent.name, part=part)
