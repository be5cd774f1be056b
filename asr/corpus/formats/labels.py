"""Words with times in CSV or JSON, a file per recording, as `asr align` and `asr decode` write them."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from re import Pattern
from typing import Any, NamedTuple

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
from asr.corpus.formats.table import read_rows
from asr.corpus.formats.textgrid import WORDS, joined, no_tier, transcript_tiers
from asr.util.errors import CorpusError

COLUMNS = ("tier", "speaker", "start", "end", "label")
"""Columns of CSV files that are read; others, such as the trust, are not."""


class _Label(NamedTuple):
    tier: str
    speaker: str
    interval: tuple[float, float, str]


def read_csv_labels(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the words of all CSV files below a folder, joined to utterances."""
    return _read(source, options, ".csv", _csv_labels)


def read_json_labels(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the words of all JSON files below a folder, joined to utterances."""
    return _read(source, options, ".json", _json_labels)


def _read(
    source: Path, options: ReadOptions, ending: str, labels_of: Callable[[Path], Iterator[_Label | LeftOut]]
) -> Iterator[Found]:
    finder = AudioFinder(source, options.audio)
    pattern = options.tier_pattern()
    paths = [path for path in files_below(source) if path.suffix.lower() == ending]
    yield from each_file(paths, finder, lambda path, audio: _utterances(path, audio, pattern, labels_of(path)))
    yield from finder.unused(f"no file {ending} has its name", (ending,))


def _utterances(
    path: Path, audio: Path, pattern: Pattern[str] | None, labels: Iterator[_Label | LeftOut]
) -> Iterator[Found]:
    tiers: dict[tuple[str, str], list[tuple[float, float, str]]] = defaultdict(list)
    for label in labels:
        if isinstance(label, LeftOut):
            yield label
        else:
            tiers[label.tier, label.speaker].append(label.interval)
    kinds = list(dict.fromkeys(kind for kind, _ in tiers))
    kept = transcript_tiers(kinds, pattern)
    if not kept:
        yield LeftOut(str(path), "no-tier", no_tier(kinds, pattern))
    for (kind, speaker), intervals in tiers.items():
        place = f"{path}:{speaker} - {kind}"
        if kind in kept:
            spoken = sorted(one for one in intervals if one[2].split())
            for start, end, text in joined(spoken) if WORDS.search(kind) else spoken:
                yield SourceUtterance(audio, text, f"{place}:{start:.3f}", speaker or None, start, end)
        elif kept:
            yield LeftOut(place, "other-tier", "--tiers (tiers=) does not match it" if pattern else "a tier of phones")


def _csv_labels(path: Path) -> Iterator[_Label | LeftOut]:
    header, rows = read_rows(path)
    names = [name.strip().lower() for name in header]
    missing = [column for column in COLUMNS if column not in names]
    if missing:
        raise CorpusError(f"{path}:1: no column {' and '.join(missing)}. Expected columns {', '.join(COLUMNS)}.")
    for place, row in rows:
        yield row if isinstance(row, LeftOut) else _label(place, dict(zip(names, row, strict=False)))


def _json_labels(path: Path) -> Iterator[_Label | LeftOut]:
    try:
        document = json.loads(read_annotation(path))
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path}: not JSON ({error}).") from error
    tiers = document.get("tiers") if isinstance(document, dict) else None
    if not isinstance(tiers, list):
        raise CorpusError(f"{path}: no list 'tiers'. Expected a file of asr align --format json (formats=).")
    for number, tier in enumerate(tiers, 1):
        labels = tier.get("labels") if isinstance(tier, dict) else None
        if not isinstance(labels, list):
            yield LeftOut(f"{path}:tier {number}", "bad-line", "no list 'labels'")
            continue
        for index, label in enumerate(labels, 1):
            place = f"{path}:tier {number}:{index}"
            if isinstance(label, dict):
                yield _label(place, {**label, "tier": tier.get("tier"), "speaker": tier.get("speaker")})
            else:
                yield LeftOut(place, "bad-line", "not a JSON object")


def _label(place: str, row: Mapping[str, Any]) -> _Label | LeftOut:
    kind, speaker, text = (row.get(name) or "" for name in ("tier", "speaker", "label"))
    if not (isinstance(kind, str) and isinstance(speaker, str) and isinstance(text, str) and kind):
        return LeftOut(place, "bad-line", "Expected texts as tier, speaker and label")
    try:
        start, end = (float(str(row.get(name)).replace(",", ".")) for name in ("start", "end"))
    except ValueError as error:
        return LeftOut(place, "bad-time", f"{error}. Expected seconds")
    if not 0 <= start < end < math.inf:
        return LeftOut(place, "bad-time", f"from {start:g} to {end:g} s. Expected an end after the start")
    return _Label(kind, speaker.strip(), (start, end, text))
