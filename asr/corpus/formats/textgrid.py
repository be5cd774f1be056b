"""Praat TextGrids, long or short, in UTF-8 or UTF-16: an utterance for each interval with text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from asr.corpus.formats.source import (
    MAX_TEXT_FILE,
    AudioFinder,
    Found,
    LeftOut,
    ReadOptions,
    SourceUtterance,
    each_file,
    files_below,
)
from asr.util.errors import CorpusError

PHONES = re.compile(r"(?i)(^|[ _-])(phone[sm]?e?s?|phon|segments?|mau|sampa|ipa)( \(aligned\))?$")
"""Names of tiers with phones, which are left out unless `tiers` names them."""
WORDS = re.compile(r"(?i)(^|[ _-])(words?|ort|orthography)( \(aligned\))?$")
"""Names of tiers with an interval per word, as aligners write them; neighboring intervals are joined."""
TRUST = " trust"
"""End of the name of a tier whose labels are the trusts in the labels of another tier, as `asr align` writes them."""
UNCALIBRATED = f"{TRUST} (uncalibrated)"
"""The same for confidences of `asr decode` that are not calibrated."""
SILENCES = frozenset(("sil", "sp", "spn", "<p:>", "<eps>", "<unk>"))
"""Labels of silence and noise in tiers of words."""
MAX_GAP = 0.5
"""Seconds between two words of an utterance."""
MAX_JOINED = 20.0
"""Seconds of an utterance that is joined from words."""


def read_textgrids(source: Path, options: ReadOptions) -> Iterator[Found]:
    """Yield the intervals with text of all TextGrids below a folder; the tier's name is the speaker's."""
    finder = AudioFinder(source, options.audio)
    pattern = options.tier_pattern()
    grids = [path for path in files_below(source) if path.suffix.lower() == ".textgrid"]
    yield from each_file(grids, finder, lambda path, audio: _intervals(path, audio, pattern))
    yield from finder.unused("no TextGrid has its name", (".textgrid",))


def open_textgrid(path: Path) -> Any:
    """Return the file as praatio's `Textgrid`, without empty intervals; CorpusError if it is damaged or too large."""
    from praatio import textgrid

    if path.stat().st_size > MAX_TEXT_FILE:
        raise CorpusError(f"{path}: over {MAX_TEXT_FILE >> 20} MiB, the limit for annotation files.")
    try:
        return textgrid.openTextgrid(str(path), includeEmptyIntervals=False, reportingMode="silence")
    except Exception as error:  # praatio raises errors of many kinds for damaged files
        raise CorpusError(f"{path}: not a TextGrid ({error}).") from error


def _intervals(path: Path, audio: Path, pattern: re.Pattern[str] | None) -> Iterator[Found]:
    from praatio.data_classes.interval_tier import IntervalTier

    grid = open_textgrid(path)
    kept = transcript_tiers(grid.tierNames, pattern)
    if not kept:
        yield LeftOut(str(path), "no-tier", no_tier(grid.tierNames, pattern))
    for name in grid.tierNames:
        if kept and name not in kept:
            why = "--tiers (tiers=) does not match it" if pattern else "a tier of phones or trusts"
            yield LeftOut(f"{path}:{name}", "other-tier", why)
    for tier in (grid.getTier(name) for name in kept):
        if not isinstance(tier, IntervalTier):
            yield LeftOut(f"{path}:{tier.name}", "point-tier", "a tier of points. Expected intervals")
            continue
        speaker, dash, rest = tier.name.rpartition(" - ")
        if not dash:
            speaker, rest = tier.name if len(kept) > 1 else None, tier.name
        for start, end, text in joined(tier.entries) if WORDS.search(rest) else tier.entries:
            if text.split():
                yield SourceUtterance(audio, text, f"{path}:{tier.name}:{start:.3f}", speaker, start, end)


def no_tier(tiers: Iterable[str], pattern: re.Pattern[str] | None) -> str:
    """Return the reason for a file without a tier of transcripts."""
    wanted = "no tier with transcripts" if pattern is None else f"no tier matches --tiers (tiers=) {pattern.pattern}"
    return f"{wanted}; the tiers are {', '.join(tiers) or 'none'}"


def transcript_tiers(tiers: Sequence[str], pattern: re.Pattern[str] | None) -> list[str]:
    """Return the tiers that match the pattern; without one, the tiers with transcripts.

    Words that `asr align` or `asr decode` wrote, which have a tier of trusts, are transcripts only if no other tier is.
    Tiers of trusts never are.
    """
    trusts = {f"{name}{ending}": name for name in tiers for ending in (TRUST, UNCALIBRATED)}
    names = [name for name in tiers if name not in trusts]
    if pattern is not None:
        return [name for name in names if pattern.search(name)]
    kept = [name for name in names if not PHONES.search(name)]
    given = [name for name in kept if name not in {trusts[one] for one in tiers if one in trusts}]
    return given or kept


def joined(words: Iterable[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return utterances joined from words whose gaps are at most `MAX_GAP`."""
    found: list[tuple[float, float, str]] = []
    for start, end, word in words:
        if word.strip().lower() in SILENCES:
            continue
        first, last, text = found[-1] if found else (0.0, -MAX_GAP - 1, "")
        if start - last <= MAX_GAP and end - first <= MAX_JOINED:
            found[-1] = (first, end, f"{text} {word}")
        else:
            found.append((start, end, word))
    return found
