"""LJ Speech: wavs/LJ001-0001.wav and metadata.csv with lines ID|TEXT|NORMALIZED TEXT.

Ito and Johnson (2017), "The LJ Speech Dataset".
"""

from collections.abc import Iterator
from pathlib import Path

from asr.corpus.formats.source import AudioFinder, Found, LeftOut, ReadOptions, SourceUtterance, read_annotation


def read_ljspeech(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the lines of the table, with numbers spelled as in its third column; one speaker."""
    finder = AudioFinder(source, options.audio or source / "wavs")
    path = source / "metadata.csv"
    for number, line in enumerate(read_annotation(path).splitlines(), 1):
        place, fields = f"{path}:{number}", line.split("|")
        if not line.strip():
            continue
        if len(fields) < 2:
            yield LeftOut(place, "bad-line", f"'{line[:80]}'. Expected ID|TEXT|NORMALIZED TEXT")
            continue
        audio = finder.named(fields[0], place)
        yield audio if isinstance(audio, LeftOut) else SourceUtterance(audio, fields[-1], place, "LJ", name=fields[0])
    yield from finder.unused("no line of metadata.csv names it")
