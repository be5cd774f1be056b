"""ELAN files (.eaf): an utterance for each time-aligned annotation of the independent tiers."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asr.corpus.formats.source import (
    AudioFinder,
    Found,
    LeftOut,
    ReadOptions,
    SourceUtterance,
    files_below,
    read_annotation,
)
from asr.corpus.formats.textgrid import WORDS, joined, no_tier, transcript_tiers
from asr.util.errors import CorpusError

_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"


def read_elan(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the annotations of all ELAN files below a folder.

    The speaker is the tier's participant, else its name. Tiers that depend on another one (translations, glosses) are
    read only if `options.tiers` matches their names. The audio has the name of the file, or is the linked medium.
    """
    finder = AudioFinder(source, options.audio)
    pattern = options.tier_pattern()
    for path in files_below(source):
        if path.suffix.lower() == ".eaf":
            try:
                yield from _annotations(path, finder, pattern)
            except CorpusError as error:
                yield LeftOut(str(path), error.code, str(error))
    yield from finder.unused("no ELAN file names it", (".eaf", ".pfsx", ".etf"))


def _annotations(path: Path, finder: AudioFinder, pattern: re.Pattern[str] | None) -> Iterator[Found]:
    found = finder.of(path)
    document = open_elan(path)
    audio = _linked(path, document, finder) or found if isinstance(found, LeftOut) else found
    if isinstance(audio, LeftOut):
        yield audio
        return
    tiers = document.tiers
    kept = transcript_tiers(
        [name for name in tiers if pattern is not None or "PARENT_REF" not in tiers[name][2]], pattern
    )
    if not kept:
        yield LeftOut(str(path), "no-tier", no_tier(tiers, pattern))
    for name in tiers:
        if kept and name not in kept:
            why = (
                "--tiers (tiers=) does not match it"
                if pattern
                else "a tier of phones or trusts, or one that depends on another"
            )
            yield LeftOut(f"{path}:{name}", "other-tier", why)
    for name in kept:
        speaker = tiers[name][2].get("PARTICIPANT") or (name if len(kept) > 1 else None)
        values = [(start / 1000, end / 1000, value) for start, end, value, *_ in sorted(_values(path, document, name))]
        for start, end, value in joined(one for one in values if one[2].split()) if WORDS.search(name) else values:
            place = f"{path}:{name}:{start:.3f}"
            if value.split():
                yield SourceUtterance(audio, value, place, speaker, start, end)
            else:
                yield LeftOut(place, "no-words", "the annotation is empty")


def open_elan(path: Path) -> Any:
    """Return the file as pympi's `Eaf`; CorpusError if it is damaged."""
    from pympi.Elan import Eaf, parse_eaf

    if "<!DOCTYPE" in read_annotation(path):
        raise CorpusError(f"{path}: has a document type definition. Expected an ELAN file without one.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document = Eaf()
            document.remove_tier("default")
            document.adocument[_SCHEMA] = ""  # pympi deletes this attribute, which some files lack
            parse_eaf(str(path), document)
            return document
    except Exception as error:  # pympi raises errors of many kinds for damaged files
        raise CorpusError(f"{path}: not an ELAN file ({type(error).__name__}: {error}).") from error


def _values(path: Path, document: Any, tier: str) -> list[tuple[Any, ...]]:
    try:
        if "PARENT_REF" in document.tiers[tier][2] and not document.tiers[tier][0]:
            return list(document.get_ref_annotation_data_for_tier(tier))
        return list(document.get_annotation_data_for_tier(tier))
    except Exception as error:
        raise CorpusError(f"{path}: tier '{tier}' is damaged ({type(error).__name__}: {error}).") from error


def _linked(path: Path, document: Any, finder: AudioFinder) -> Path | None:
    """Return the audio file with the name of a linked medium, or None."""
    for medium in document.media_descriptors:
        for key in ("RELATIVE_MEDIA_URL", "MEDIA_URL"):
            stem = Path(medium.get(key, "").rpartition("/")[2]).stem
            linked = finder.called(stem, path.parent, str(path)) if stem else None
            if isinstance(linked, Path):
                return linked
    return None
