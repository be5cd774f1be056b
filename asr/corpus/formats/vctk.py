"""VCTK: wav48/p225/p225_001.wav (or wav48_silence_trimmed/p225/p225_001_mic1.flac) and txt/p225/p225_001.txt.

Yamagishi, Veaux and MacDonald (2019), "CSTR VCTK Corpus".
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
from asr.util.errors import CorpusError
from discriminants.util.paths import is_file


def read_vctk(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the sentences; of two microphones the first is used."""
    missing = {path for path in files_below(source) if path.suffix == ".txt" and path.parent.parent == source / "txt"}
    for path in files_below(options.audio or source):
        if path.suffix.lower() not in AUDIO_SUFFIXES:
            continue
        name, speaker = path.stem.removesuffix("_mic1"), path.parent.name
        text = source / "txt" / speaker / f"{name}.txt"
        if name.endswith("_mic2"):
            yield LeftOut(str(path), "other-channel", "the second microphone; the first is used")
        elif not is_file(text):
            yield LeftOut(str(path), "no-transcript", f"{text} not found")
        else:
            missing.discard(text)
            try:
                yield SourceUtterance(path, read_annotation(text), str(text), speaker, name=name)
            except CorpusError as error:
                yield LeftOut(str(text), error.code, str(error))
    for text in sorted(missing):
        yield LeftOut(str(text), "no-audio", f"no audio file is named {text.stem} or {text.stem}_mic1")
