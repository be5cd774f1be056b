"""Division of long utterances at pauses into short pieces, which are searched separately."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from asr.features.cmvn import energy_column
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable

MAX_SECONDS = 60.0
"""Duration of audio, in seconds, above which recognition divides it at pauses."""
SHORTEST, LONGEST = 8.0, 30.0
"""Minimum and maximum duration of a piece in seconds."""
_PAUSE = 0.3  # seconds over which the loudness is averaged; breaks within words are shorter


@dataclass(frozen=True)
class Pieces:
    """A table whose long utterances are divided, and the pieces of each utterance."""

    table: FrameTable
    whole: FrameTable  # the table before the division, with the same frames
    parts: Mapping[str, tuple[tuple[str, int], ...]]
    """Piece ids and their first frames, by the id of a divided utterance, in order of time."""

    def restored(self, names: Iterable[str]) -> list[str]:
        """Return the utterances of pieces or undivided utterances, each once, in order."""
        of_piece = {piece: name for name, parts in self.parts.items() for piece, _ in parts}
        return list(dict.fromkeys(of_piece.get(name, name) for name in names))


def divided(
    static: FrameTable, config: FeatureConfig, *, limit: float = MAX_SECONDS, shortest: float = SHORTEST,
    longest: float = LONGEST,
) -> Pieces:  # fmt: skip
    """Divide the utterances of static features that are longer than `limit` seconds; the others stay as they are.

    Pieces last `shortest` to `longest` seconds, and the last piece of an utterance may be up to `shortest` s longer.
    """
    shift = config.shift_samples / config.sample_rate
    if (np.diff(static.offsets) * shift <= limit).all():
        return Pieces(static, static, {})

    def cuts(name: str) -> list[int]:
        frames = static.utterance(name)
        if len(frames) * shift <= limit:
            return []
        return pause_cuts(loudness(frames, static, config), *_in_frames(shift, shortest, longest, _PAUSE))

    return divided_at(static, cuts, shift)


def divided_at(table: FrameTable, cuts: Callable[[str], Iterable[int]], shift: float) -> Pieces:
    """Divide the utterances of a table at frames, increasing and inside of each utterance."""
    ids: list[str] = []
    speakers: list[str] = []
    offsets = [0]
    parts: dict[str, tuple[tuple[str, int], ...]] = {}
    taken = set(table.ids)
    for name, speaker in zip(table.ids, table.speakers, strict=True):
        rows = table.rows(name)
        edges = [0, *cuts(name), rows.stop - rows.start]
        names = [name] if len(edges) == 2 else [_piece(name, *span, shift, taken) for span in pairwise(edges)]
        if len(names) > 1:
            parts[name] = tuple(zip(names, edges, strict=False))
        ids += names
        speakers += [speaker] * len(names)
        offsets += [rows.start + edge for edge in edges[1:]]
    if not parts:
        return Pieces(table, table, {})
    return Pieces(
        FrameTable(tuple(ids), tuple(speakers), table.frames, np.array(offsets, np.int64)), table, parts
    )  # fmt: skip


def loudness(frames: np.ndarray, static: FrameTable, config: FeatureConfig) -> np.ndarray:
    """Return the loudness of each frame, float (n_frames,): the log energy or c0.

    Features from archives may have other columns; the one with the largest variance is used.
    """
    column = energy_column(static, config)
    return frames[:, int(frames.var(axis=0).argmax()) if column is None else column]


def pause_cuts(loudness: np.ndarray, shortest: int, longest: int, pause: int) -> list[int]:
    """Return frames that divide a recording at its quietest places, `shortest` to `longest` frames apart.

    `loudness`, float (n_frames,), is averaged over `pause` frames. The rest after the last cut has at most `shortest`
    + `longest` frames.
    """
    total = np.concatenate([[0.0], np.cumsum(loudness, dtype=np.float64)])
    place = np.arange(len(loudness))
    first, last = np.maximum(place - pause // 2, 0), np.minimum(place + pause - pause // 2, len(loudness))
    mean = (total[last] - total[first]) / (last - first)
    cuts: list[int] = []
    begin = 0
    while len(loudness) - begin > shortest + longest:
        begin += shortest + int(mean[begin + shortest : begin + longest].argmin())
        cuts.append(begin)
    return cuts


def longest_pauses(
    pauses: Sequence[tuple[float, float]], begin: float, end: float, shortest: float, longest: float
) -> Iterator[int]:
    """Yield the pauses that divide the time from `begin` to `end`, the longest ones at preferred distances.

    `pauses` are places and durations in order of time, in any unit; the results are their numbers. A part is longer
    than `longest` only without a pause in it that leaves `shortest` on both sides.
    """
    while end - begin > longest:
        usable = [number for number, (place, _) in enumerate(pauses) if begin + shortest <= place <= end - shortest]
        if not usable:
            return
        near = [number for number in usable if pauses[number][0] <= begin + longest]
        chosen = max(near, key=lambda number: (pauses[number][1], -number)) if near else usable[0]
        begin = pauses[chosen][0]
        yield chosen


def piece_name(utterance: str, start: float, end: float) -> str:
    """Return the name of a part of an utterance, with start and end in hundredths of a second, as Kaldi names them."""
    return f"{utterance}-{round(100 * start):07d}-{round(100 * end):07d}"


def _in_frames(shift: float, *seconds: float) -> list[int]:
    return [max(1, round(one / shift)) for one in seconds]


def _piece(name: str, first: int, last: int, shift: float, taken: set[str]) -> str:
    """Return an unused name of the piece between two frames."""
    found = piece_name(name, first * shift, last * shift)
    while found in taken:
        found += "_"
    taken.add(found)
    return found
