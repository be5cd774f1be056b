"""Guess of the format of a folder, for messages that name the right `asr prepare` command."""

import os
from collections import Counter
from pathlib import Path

from asr.corpus.formats.source import AUDIO_SUFFIXES

_BY_SUFFIX = {
    ".textgrid": "textgrid", ".eaf": "elan", ".srt": "subtitles", ".vtt": "subtitles", ".lab": "folder",
    ".txt": "folder", ".csv": "table", ".tsv": "table", ".jsonl": "nemo", ".mlf": "htk", ".fileids": "sphinx",
}  # fmt: skip
_FILES = frozenset(("table", "nemo", "htk", "sphinx"))
_MAX_LOOKED = 2000
"""Files looked at; a folder may have millions."""


def prepare_command(folder: Path) -> str | None:
    """Return the `asr prepare` command for a folder without lists of Kaldi, or None if its format is not known."""
    suffixes: Counter[str] = Counter()
    first: dict[str, Path] = {}
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            suffix = Path(name).suffix.lower()
            suffixes[suffix] += 1
            first.setdefault(suffix, Path(parent, name))
        if suffixes.total() > _MAX_LOOKED:
            break
    if any(suffixes[suffix] for suffix in (".fileids", ".mlf")):
        suffix = ".fileids" if suffixes[".fileids"] else ".mlf"
    else:
        suffix = max(_BY_SUFFIX, key=lambda name: suffixes[name])
    if not suffixes[suffix] or not any(suffixes[audio] for audio in AUDIO_SUFFIXES):
        return None
    format_name = _BY_SUFFIX[suffix]
    source = folder
    if format_name in _FILES:
        source = first.get(".scp", Path(folder, "LIST.scp")) if suffix == ".mlf" else first[suffix]
    return f"asr prepare {format_name} {source} OUT"
