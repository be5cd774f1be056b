"""Guess of the format of a folder, for messages that name the right `asr prepare` command."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePath

from asr.corpus.formats.source import AUDIO_SUFFIXES
from asr.util.errors import CorpusError
from asr.util.text_lines import read_text_lines

_MAX_LOOKED = 2000
"""Files looked at; a folder may have millions."""
_LABEL = re.compile(r"\d+([.,]\d+)?\t\d")
_DIGITS = re.compile(r"[1-9zo]+[ab]")

Files = list[Path]


def prepare_command(folder: Path) -> str | None:
    """Return the `asr prepare` command for a folder without lists of Kaldi, or None if its format is not known."""
    files: Files = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        files += [Path(parent, name) for name in sorted(names)]
        if len(files) > _MAX_LOOKED:
            break
    if not any(path.suffix.lower() in (*AUDIO_SUFFIXES, ".mfc") for path in files):
        return None
    for format_name, source_of in _FORMATS.items():
        source = source_of(folder, files)
        if source is not None:
            return f"asr prepare {format_name} {source} OUT"
    return None


def _below(*patterns: str) -> Callable[[Path, Files], Path | None]:
    """Return a rule: the folder itself, if a file matches each pattern."""

    def rule(folder: Path, files: Files) -> Path | None:
        paths = [PurePath(path.relative_to(folder)) for path in files]
        return folder if all(any(path.match(pattern) for path in paths) for pattern in patterns) else None

    return rule


def _first(*suffixes: str) -> Callable[[Path, Files], Path | None]:
    """Return a rule: the first file with one of the endings."""
    return lambda folder, files: next((path for path in files if path.suffix.lower() in suffixes), None)


def _most(*suffixes: str) -> Callable[[Path, Files], Path | None]:
    """Return a rule: the folder, if most annotation files with the name of audio have one of these endings."""

    def rule(folder: Path, files: Files) -> Path | None:
        stems = {path.stem for path in files if path.suffix.lower() in AUDIO_SUFFIXES}
        endings = Counter(path.suffix.lower() for path in files if path.stem in stems)
        found = sum(endings[suffix] for suffix in suffixes)
        return folder if found and found >= max(endings[suffix] for suffix in _ANNOTATIONS) else None

    return rule


def _htk(folder: Path, files: Files) -> Path | None:
    label_file = _first(".mlf")(folder, files)
    return None if label_file is None else _first(".scp")(folder, files) or label_file.parent / "LIST.scp"


def _tidigits(folder: Path, files: Files) -> Path | None:
    audio = [path for path in files if path.suffix.lower() in AUDIO_SUFFIXES]
    return folder if all(_DIGITS.fullmatch(path.stem.lower()) for path in audio) and len(audio) == len(files) else None


def _audacity(folder: Path, files: Files) -> Path | None:
    text = _most(".txt")(folder, files) and _first(".txt")(folder, files)
    return folder if text is not None and _LABEL.match(_first_line(text)) else None


def _labels(suffix: str, needed: str) -> Callable[[Path, Files], Path | None]:
    """Return a rule: the folder, if most annotation files have this ending and the first one has the needed text."""

    def rule(folder: Path, files: Files) -> Path | None:
        path = _most(suffix)(folder, files) and _first(suffix)(folder, files)
        return folder if path is not None and needed in _first_line(path, 8) else None

    return rule


def _nemo(folder: Path, files: Files) -> Path | None:
    manifest = _first(".jsonl", ".json")(folder, files)
    return manifest if manifest is not None and "audio_filepath" in _keys(manifest) else None


def _lhotse(folder: Path, files: Files) -> Path | None:
    manifests = [path for path in files if path.name.endswith((".jsonl", ".jsonl.gz"))]
    cuts = next((path for path in manifests if "supervisions" in _keys(path)), None)
    return cuts or next((path.parent for path in manifests if "supervisions" in path.name), None)


def _keys(path: Path) -> set[str]:
    try:
        row = json.loads(_first_line(path))
    except (ValueError, RecursionError):
        return set()
    return set(row) if isinstance(row, dict) else set()


def _first_line(path: Path, number: int = 1) -> str:
    """Return the first line, or a number of them; empty if the file cannot be read."""
    try:
        return "\n".join(read_text_lines(path, CorpusError)[:number])
    except CorpusError:
        return ""


_ANNOTATIONS = (".textgrid", ".eaf", ".srt", ".vtt", ".lab", ".txt", ".csv", ".json")
_FORMATS: dict[str, Callable[[Path, Files], Path | None]] = {
    "sphinx": _first(".fileids"), "htk": _htk,
    "librispeech": _below("*.trans.txt"), "voxforge": _below("etc/PROMPTS"), "vctk": _below("txt/*/*.txt", "wav*/*/*"),
    "ljspeech": _below("metadata.csv", "wavs/*"), "speech-commands": _below("*_nohash_*"),
    "common-voice": lambda folder, files: (
        _below("train.tsv", "clips/*")(folder, files) or _below("validated.tsv", "clips/*")(folder, files)
    ),
    "timit": lambda folder, files: _below("*.TXT", "*.PHN")(folder, files) or _below("*.txt", "*.phn")(folder, files),
    "tidigits": _tidigits, "lhotse": _lhotse, "nemo": _nemo, "textgrid": _most(".textgrid"), "elan": _most(".eaf"),
    "csv": _labels(".csv", "tier,speaker,"), "json": _labels(".json", '"tiers": ['),
    "subtitles": _most(".srt", ".vtt"), "audacity": _audacity, "folder": _most(".txt", ".lab"),
    "table": _first(".csv", ".tsv"),
}  # fmt: skip
"""Rule of each format, the more specific formats first; it returns SOURCE if the files look like the format."""
