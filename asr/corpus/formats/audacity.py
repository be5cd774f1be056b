"""Label tracks of Audacity: lines START, tab, END, tab, TEXT in a .txt file next to the recording."""

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


def read_audacity(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield a segment for each label with text."""
    finder = AudioFinder(source, options.audio)
    labels = [path for path in files_below(source) if path.suffix.lower() == ".txt"]
    yield from each_file(labels, finder, _labels)
    yield from finder.unused("no label track (.txt) has its name", (".txt",))


def _labels(path: Path, audio: Path) -> Iterator[Found]:
    for number, line in enumerate(read_annotation(path).splitlines(), 1):
        place = f"{path}:{number}"
        if not line.strip() or line.startswith("\\"):  # a second line with the frequencies of a spectral selection
            continue
        start, end, text = (*line.split("\t", 2), "", "")[:3]
        try:
            times = float(start.replace(",", ".")), float(end.replace(",", "."))
        except ValueError:
            yield LeftOut(place, "bad-line", f"'{line}'. Expected START, tab, END, tab, TEXT")
            continue
        if not text.split():
            yield LeftOut(place, "no-words", "the label has no text")
        else:
            yield SourceUtterance(audio, text, place, start=times[0], end=times[1])
