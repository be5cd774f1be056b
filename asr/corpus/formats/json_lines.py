"""Manifests of Lhotse and NeMo: JSON lines, plain or gzip-compressed."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from asr.corpus.formats.source import AudioFinder, Found, LeftOut, ReadOptions, SourceUtterance
from asr.util.errors import CorpusError
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import is_dir

_MANIFEST_NAMES = ("jsonl", "jsonl.gz")


def read_nemo(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the lines of a manifest: `audio_filepath`, `text`, `duration`, and optionally `offset` and `speaker`."""
    finder = AudioFinder(source.parent, options.audio)
    for place, row in _rows(source):
        if isinstance(row, LeftOut):
            yield row
            continue
        try:
            start = _number(row, "offset")
            length = _number(row, "duration")
            end = None if start is None or length is None else start + length
            text, speaker = _text(row, "text"), _text(row, "speaker") or None
            audio = finder.named(_needed(row, "audio_filepath"), place)
        except (TypeError, OverflowError) as error:
            yield LeftOut(place, "bad-line", str(error))
            continue
        yield audio if isinstance(audio, LeftOut) else _entry(audio, text, place, speaker, start, end)


def read_lhotse(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the supervisions of a manifest of cuts, or of a folder with manifests of recordings and supervisions."""
    if is_dir(source):
        recordings = {}
        for place, row in (found for path in _manifests(source, "recordings") for found in _rows(path)):
            if isinstance(row, LeftOut) or not isinstance(row.get("id"), str):
                yield row if isinstance(row, LeftOut) else LeftOut(place, "bad-line", "no 'id' of a recording")
            else:
                recordings[row["id"]] = row
        supervisions = [
            (place, row, row, 0.0) for path in _manifests(source, "supervisions") for place, row in _rows(path)
        ]
    else:
        recordings, supervisions = {}, []
        for place, cut in _rows(source):
            if isinstance(cut, LeftOut):
                supervisions.append((place, cut, cut, 0.0))
                continue
            listed = cut.get("supervisions")
            if not isinstance(listed, list) or not listed:
                listed = [LeftOut(place, "no-transcript", "the cut has no list of supervisions")]
            supervisions += [(place, one, cut, cut.get("start", 0.0)) for one in listed]
    finder = AudioFinder(source if is_dir(source) else source.parent, options.audio)
    for place, row, holder, offset in supervisions:
        if not isinstance(row, dict):
            yield row if isinstance(row, LeftOut) else LeftOut(place, "bad-line", "a supervision is not a JSON object")
            continue
        try:
            recording = recordings.get(_text(row, "recording_id")) or holder.get("recording")
            audio = _source(recording, place, finder)
            start = (_number(row, "start") or 0.0) + float(offset)
            entry = (
                _text(row, "text"),
                place,
                _text(row, "speaker") or None,
                start,
                start + (_number(row, "duration") or 0.0),
            )
            name = _text(row, "id") or None
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            yield LeftOut(place, "bad-line", str(error))
            continue
        yield audio if isinstance(audio, LeftOut) else _entry(audio, *entry, name)


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the place and the object of each line; for other lines, a LeftOut instead of the object."""
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        place = f"{path}:{number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield place, LeftOut(place, "bad-line", f"not JSON ({error})")
            continue
        yield place, row if isinstance(row, dict) else LeftOut(place, "bad-line", "not a JSON object")


def _manifests(folder: Path, kind: str) -> list[Path]:
    found = sorted(path for ending in _MANIFEST_NAMES for path in folder.glob(f"*{kind}*.{ending}"))
    if not found:
        raise CorpusError(f"{folder}: no manifest *{kind}*.jsonl or *{kind}*.jsonl.gz.", code="missing-file")
    return found


def _source(recording: Any, place: str, finder: AudioFinder) -> Path | LeftOut:
    sources = recording.get("sources") if isinstance(recording, dict) else None
    if not isinstance(sources, list) or not sources or not isinstance(sources[0], dict):
        return LeftOut(place, "no-audio", "no recording with a source of type 'file'")
    if sources[0].get("type") != "file":
        return LeftOut(place, "no-audio", f"a source of type '{sources[0].get('type')}'. Expected 'file'")
    return finder.named(_text(sources[0], "source"), place)


def _entry(
    audio: Path,
    text: str,
    place: str,
    speaker: str | None,
    start: float | None,
    end: float | None,
    name: str | None = None,
) -> Found:
    if not text.split():
        return LeftOut(place, "no-words", "the line has no text")
    return SourceUtterance(audio, text, place, speaker, start, end, name)


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key) or ""
    if not isinstance(value, str | int):
        raise TypeError(f"'{key}' is {json.dumps(value)[:80]}. Expected a string")
    return str(value)


def _needed(row: Mapping[str, Any], key: str) -> str:
    if not _text(row, key):
        raise TypeError(f"no key '{key}'")
    return _text(row, key)


def _number(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    if value is not None and not isinstance(value, int | float):
        raise TypeError(f"'{key}' is {json.dumps(value)[:80]}. Expected a number of seconds")
    return None if value is None else float(value)
