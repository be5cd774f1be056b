"""Comparison of aligned words with hand labels: distances between the boundaries.

Hand labels are a TextGrid, a folder of TextGrids (in the time of the recording), or a CTM file (in the time of the
utterance). A hand-labeled word matches the nearest aligned word with the same label, without letter case, whose center
is at most `MAX_DISTANCE` away.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from asr.alignment.ctm import read_ctm
from asr.alignment.recording_labels import AlignedUtterance, Interval, recording_names
from asr.corpus.formats.textgrid import SILENCES, WORDS, open_textgrid
from asr.util.errors import CorpusError
from asr.util.files import atomic_write
from discriminants.util.paths import exists, is_dir

COMPARISON = "compare.tsv"
MAX_DISTANCE = 1.0
"""Seconds between the centers of matching words."""
LIMITS = (10, 20, 50)
"""Milliseconds."""
_SUFFIX = ".textgrid"


@dataclass(frozen=True)
class HandLabels:
    """Words with start and end in seconds, by recording and speaker ("" for all), or by utterance."""

    path: Path
    of_recording: Mapping[str, Mapping[str, Sequence[Interval]]]
    of_utterance: Mapping[str, Sequence[Interval]]


@dataclass(frozen=True)
class BoundaryComparison:
    """Differences of the matching words, aligned minus hand-labeled, in seconds: float64 (n_words, start and end)."""

    differences: np.ndarray
    n_labeled: int  # hand-labeled words of the aligned recordings

    def __str__(self) -> str:
        matched = f"{len(self.differences):,} of {self.n_labeled:,} hand-labeled words matched"
        if not len(self.differences):
            return matched
        milliseconds = 1000.0 * np.abs(self.differences)
        shares = ", ".join(f"{_share(milliseconds, limit):.0f} % within {limit} ms" for limit in LIMITS)
        return f"{matched}; boundaries differ by {milliseconds.mean():.0f} ms on average, {shares}"

    def write(self, path: Path) -> None:
        """Write a table with a row for starts, ends, and both."""
        header = ["boundary", "matched", "labeled", "mean_ms", "median_ms", *(f"within_{n}_ms" for n in LIMITS)]
        rows = [header]
        for name, columns in (("start", [0]), ("end", [1]), ("both", [0, 1])):
            milliseconds = 1000.0 * np.abs(self.differences[:, columns])
            row = [name, str(len(self.differences)), str(self.n_labeled)]
            if milliseconds.size:
                row += [f"{milliseconds.mean():.1f}", f"{np.median(milliseconds):.1f}"]
                row += [f"{_share(milliseconds, limit):.1f}" for limit in LIMITS]
            rows.append(row)
        with atomic_write(path) as temporary:
            temporary.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def _share(milliseconds: np.ndarray, limit: int) -> float:
    return 100.0 * float((milliseconds <= limit + 1e-6).mean())


def read_hand_labels(path: Path) -> HandLabels:
    """Read a TextGrid, all TextGrids below a folder, or a CTM file; CorpusError if no word is found."""
    if not exists(path):
        raise CorpusError(f"{path}: not found. Expected a TextGrid, a folder of TextGrids, or a CTM file.")
    of_recording: dict[str, dict[str, list[Interval]]] = {}
    of_utterance: dict[str, list[Interval]] = defaultdict(list)
    if is_dir(path):
        for grid in sorted(path.rglob("*")):
            if grid.suffix.lower() == _SUFFIX:
                of_recording[grid.relative_to(path).with_suffix("").as_posix()] = _read_words(grid)
    elif path.suffix.lower() == _SUFFIX:
        of_recording[path.stem] = _read_words(path)
    else:
        for row in read_ctm(path):
            of_utterance[row.utterance].append((row.start, row.start + row.duration, row.label))
    if not of_utterance and not any(words for tiers in of_recording.values() for words in tiers.values()):
        raise CorpusError(f"{path}: no words. Expected tiers 'words' or 'SPEAKER - words', or the lines of a CTM file.")
    return HandLabels(path, of_recording, of_utterance)


def _read_words(path: Path) -> dict[str, list[Interval]]:
    """Return the words of a TextGrid by speaker; the name of the speaker is empty for a tier `words`."""
    from praatio.data_classes.interval_tier import IntervalTier

    grid = open_textgrid(path)
    found: dict[str, list[Interval]] = {}
    for name in grid.tierNames:
        tier = grid.getTier(name)
        if isinstance(tier, IntervalTier) and WORDS.search(name):
            speaker, _, _ = name.rpartition(" - ")
            spoken = [(start, end, label.strip()) for start, end, label in tier.entries]
            found.setdefault(speaker, []).extend(one for one in spoken if one[2] and one[2].lower() not in SILENCES)
    return found


def compare(labels: HandLabels, aligned: Sequence[AlignedUtterance]) -> BoundaryComparison:
    """Compare the words of aligned utterances with the hand labels of their recordings."""
    differences: list[tuple[float, float]] = []
    n_labeled = 0
    for by_hand, own in _pairs(labels, aligned):
        differences += _matched(by_hand, own)
        n_labeled += len(by_hand)
    return BoundaryComparison(np.array(differences, np.float64).reshape(-1, 2), n_labeled)


def _pairs(
    labels: HandLabels, aligned: Sequence[AlignedUtterance]
) -> Iterator[tuple[Sequence[Interval], list[Interval]]]:
    """Yield hand-labeled and aligned words of the same utterance, or of the same recording and speaker."""
    for one in aligned:
        if one.utterance.id in labels.of_utterance:
            border = one.times.border
            words = [(border(word.start), border(word.end), word.label) for word in one.words]
            yield labels.of_utterance[one.utterance.id], words
    of_audio: dict[Path, list[AlignedUtterance]] = defaultdict(list)
    for one in aligned:
        if one.utterance.audio is not None:
            of_audio[one.utterance.audio].append(one)
    stems: dict[str, list[str]] = defaultdict(list)
    for name in labels.of_recording:
        stems[Path(name).name].append(name)
    for path, recording in recording_names(list(of_audio)).items():
        same_stem = stems.get(path.stem, [])
        chosen = recording if recording in labels.of_recording else same_stem[0] if len(same_stem) == 1 else None
        for speaker, by_hand in labels.of_recording.get(chosen or "", {}).items():
            own = [one for one in of_audio[path] if speaker in ("", one.utterance.speaker)]
            yield by_hand, [word for one in own for word in one.intervals(one.words)]


def _matched(by_hand: Iterable[Interval], aligned: Iterable[Interval]) -> Iterator[tuple[float, float]]:
    """Yield the differences of start and end of matching words, the nearest first."""
    own: dict[str, list[Interval]] = defaultdict(list)
    for word in aligned:
        own[word[2].casefold()].append(word)
    candidates = [
        (abs(hand[0] + hand[1] - word[0] - word[1]) / 2, hand, word)
        for hand in by_hand
        for word in own[hand[2].casefold()]
    ]
    used: set[Interval] = set()
    labeled: set[Interval] = set()
    for distance, hand, word in sorted(candidates):
        if distance <= MAX_DISTANCE and hand not in labeled and word not in used:
            labeled.add(hand)
            used.add(word)
            yield word[0] - hand[0], word[1] - hand[1]
