"""Subtitles (.srt, .vtt): an utterance for each cue."""

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

SUFFIXES = (".srt", ".vtt")
_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{3})"
_CUE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]*)>")


def read_subtitles(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the cues of all subtitles below a folder; a voice span of WebVTT (`<v Anna>`) names the speaker."""
    finder = AudioFinder(source, options.audio)
    files = [path for path in files_below(source) if path.suffix.lower() in SUFFIXES]
    yield from each_file(files, finder, _cues)
    yield from finder.unused("no subtitles (.srt or .vtt) have its name", SUFFIXES)


def _cues(path: Path, audio: Path) -> Iterator[Found]:
    lines = read_annotation(path).splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if "-->" not in line:
            continue
        place, times = f"{path}:{number}", _CUE.fullmatch(line)
        text = []
        while number < len(lines) and lines[number].strip():
            text.append(lines[number])
            number += 1
        joined = " ".join(text)
        if times is None:
            yield LeftOut(place, "bad-time", f"'{line}'. Expected 00:00:01,000 --> 00:00:02,500")
        elif not joined.split():
            yield LeftOut(place, "no-words", "the cue has no text")
        else:
            voice = _VOICE.search(joined)
            speaker = voice[1].strip() or None if voice else None
            start, end = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
            yield SourceUtterance(audio, joined, place, speaker, start, end)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, milliseconds = (int(part or 0) for part in parts)
    return 3600 * hours + 60 * minutes + seconds + milliseconds / 1000
