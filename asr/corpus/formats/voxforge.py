"""VoxForge: one folder per submission, with wav/a0001.wav and etc/PROMPTS (lines PATH TEXT).

http://www.voxforge.org
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


def read_voxforge(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the prompts; the speaker is the submission's folder up to the date (`anna-20110503-abc` is `anna`)."""
    finder = AudioFinder(source, options.audio)
    for path in files_below(source):
        if path.name != "PROMPTS":
            continue
        submission = path.parent.parent
        user = submission.name.partition("-")[0]
        speaker = submission.name if user == "anonymous" else user
        for place, line in lines_or_fault(path):
            if isinstance(line, LeftOut):
                yield line
                continue
            name, _, text = line.strip().partition(" ")
            stem = name.rpartition("/")[2]
            audio = finder.called(stem, submission / "wav", place)
            if isinstance(audio, LeftOut):
                audio = finder.called(stem, submission / "flac", place)
            if isinstance(audio, LeftOut):
                yield audio
            else:
                yield SourceUtterance(audio, text, place, speaker, name=f"{submission.name}_{stem}")
    yield from finder.unused("no line of PROMPTS names it")
