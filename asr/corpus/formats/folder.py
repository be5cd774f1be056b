"""Audio files with a transcript each: `a.wav` next to `a.txt` or `a.lab`."""

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

SUFFIXES = (".txt", ".lab")


def read_folder(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield one utterance per transcript file; the lines of a file are joined."""
    finder = AudioFinder(source, options.audio)
    transcripts = [path for path in files_below(source) if path.suffix.lower() in SUFFIXES]

    def read(path: Path, audio: Path) -> Iterator[Found]:
        text = " ".join(read_annotation(path).split())
        if text:
            yield SourceUtterance(audio, text, str(path))
        else:
            yield LeftOut(str(path), "no-words", "the transcript is empty")

    yield from each_file(transcripts, finder, read)
    yield from finder.unused("no file with a transcript (.txt or .lab) has its name", SUFFIXES)
