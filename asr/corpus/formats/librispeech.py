"""LibriSpeech: train-clean-100/103/1240/103-1240-0000.flac with the lines of 103-1240.trans.txt.

Panayotov et al. (2015), "LibriSpeech: an ASR corpus based on public domain audio books".
"""

from collections.abc import Iterator
from pathlib import Path

from asr.corpus.formats.source import (
    AudioFinder,
    Found,
    LeftOut,
    ReadOptions,
    SourceUtterance,
    files_below,
    lines_or_fault,
)


def read_librispeech(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the lines of all transcripts; the speaker is the number before the chapter's, the part the set's folder."""
    finder = AudioFinder(source, options.audio)
    for path in files_below(source):
        if not path.name.endswith(".trans.txt"):
            continue
        part = next((name for name in path.parts if name.partition("-")[0] in ("train", "dev", "test")), None)
        for place, line in lines_or_fault(path):
            if isinstance(line, LeftOut):
                yield line
                continue
            name, _, text = line.strip().partition(" ")
            audio = finder.called(name, path.parent, place)
            if isinstance(audio, LeftOut):
                yield audio
            else:
                yield SourceUtterance(audio, text, place, name.partition("-")[0], name=name, part=part)
    yield from finder.unused("no transcript (.trans.txt) names it")
