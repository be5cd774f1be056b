"""Speech Commands: yes/0a7c2a8d_nohash_0.wav; the folder is the word.

Warden (2018), "Speech Commands: A Dataset for Limited-Vocabulary Speech Recognition".
"""

from collections.abc import Iterator
from pathlib import Path

from asr.corpus.formats.source import (
    AUDIO_SUFFIXES,
    Found,
    LeftOut,
    ReadOptions,
    SourceUtterance,
    files_below,
    read_annotation,
)
from discriminants.util.paths import is_file

_LISTS = {"validation_list.txt": "dev", "testing_list.txt": "test"}


def read_speech_commands(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the recordings; the speaker stands before `_nohash_`, and the parts are those of the published lists."""
    del options  # nothing else can be chosen
    parts = {
        line.strip(): part
        for name, part in _LISTS.items()
        if is_file(source / name)
        for line in read_annotation(source / name).splitlines()
    }
    for path in files_below(source):
        if path.suffix.lower() not in AUDIO_SUFFIXES:
            continue
        word, (speaker, mark, number) = path.parent.name, path.stem.partition("_nohash_")
        if word.startswith("_") or not mark:
            yield LeftOut(str(path), "no-transcript", "background noise, or not named SPEAKER_nohash_N")
        else:
            part = parts.get(f"{word}/{path.name}", "train" if parts else None)
            yield SourceUtterance(path, word, str(path), speaker, name=f"{speaker}_{word}_{number}", part=part)
