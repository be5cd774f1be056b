"""Passages of a long recording between anchors, which are aligned separately."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from asr.alignment.ctm import read_number
from asr.features.pieces import longest_pauses
from asr.util.errors import CorpusError
from asr.util.text_lines import read_text_lines
from discriminants.util.paths import exists

PASSAGES = "passages.tsv"
GAP_WORDS = 12
"""Words between two anchors above which a gap is a passage of its own; shorter ones are errors of the recognition."""
GAP_SECONDS = 8.0
"""Seconds between two anchors above which a gap is a passage of its own."""
SHORTEST, LONGEST = 4.0, 15.0
"""Preferred duration of a passage in seconds, at whose ends anchors meet at the longest pauses."""


class Anchor(NamedTuple):
    """A word of the transcript with its recognized frames; `follows`: the anchor before is the word before."""

    word: int
    start: int
    end: int
    follows: bool


@dataclass(frozen=True)
class Passage:
    """Words `first` to `last` of a transcript (exclusive), from frame `start` to `end`."""

    first: int
    last: int
    start: int
    end: int
    anchored: bool  # whether anchors show that the words belong to these frames


class _Border(NamedTuple):
    word: int
    frame: int
    pause: int  # frames between the two words


def passages(anchors: Sequence[Anchor], n_words: int, n_frames: int, shift: float) -> list[Passage]:
    """Divide a transcript of `n_words` and a recording of `n_frames`, with `shift` seconds between frames.

    The passages cover all words and frames in order. They meet between anchors that follow each other. A gap of more
    than `GAP_WORDS` words or `GAP_SECONDS` between anchors is a passage that is not `anchored`.
    """
    found: list[Passage] = []
    for stretch in _stretches(anchors, n_words, n_frames, shift):
        left, *borders, right = stretch
        if len(stretch) == 2 and _is_gap(left, right, shift):
            found.append(Passage(left.word, right.word, left.frame, right.frame, False))
            continue
        pauses = [(one.frame, one.pause) for one in borders]
        chosen = longest_pauses(pauses, left.frame, right.frame, SHORTEST / shift, LONGEST / shift)
        for one, other in pairwise([left, *(borders[number] for number in chosen), right]):
            found.append(Passage(one.word, other.word, one.frame, other.frame, True))
    return [one for one in found if one.end > one.start or one.last > one.first]


def gaps(anchors: Sequence[Anchor], n_words: int, n_frames: int, shift: float) -> list[Passage]:
    """Return the passages that are not anchored and have words."""
    return [one for one in passages(anchors, n_words, n_frames, shift) if not one.anchored and one.last > one.first]


def read_unmatched(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Read start and end, in seconds, of the wrong and untranscribed passages of each utterance in `passages.tsv`.

    A missing file has none. Raises CorpusError with file, line and value for wrong rows.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    rows = read_text_lines(path, CorpusError)[1:] if exists(path) else ()
    for number, row in enumerate(rows, 2):
        fields = row.split("\t")
        where = f"{path}:{number}"
        if len(fields) < 4:
            raise CorpusError(f"{where}: {row!r}. Expected utterance, start, end and status, separated by tabs.")
        name, start, end, status = fields[:4]
        passage = (read_number(where, start), read_number(where, end))
        if status in ("wrong", "untranscribed"):
            earlier = found[name][-1][1] if found[name] else 0.0
            if not earlier <= passage[0] <= passage[1]:
                raise CorpusError(f"{where}: {row!r}. Expected passages in order of time.")
            found[name].append(passage)
    return found


def _is_gap(left: _Border, right: _Border, shift: float) -> bool:
    return right.word - left.word > GAP_WORDS or (right.frame - left.frame) * shift > GAP_SECONDS


def _stretches(anchors: Sequence[Anchor], n_words: int, n_frames: int, shift: float) -> Iterator[list[_Border]]:
    """Yield the borders of each gap (two), and of each sequence of anchors between two gaps (with possible borders)."""
    stretch = [_Border(0, 0, 0)]
    before: Anchor | None = None
    for anchor in [*anchors, Anchor(n_words, n_frames, n_frames, False)]:
        last = stretch[0] if before is None else _Border(before.word + 1, before.end, 0)
        here = _Border(anchor.word, anchor.start, 0)
        if not anchor.follows and _is_gap(last, here, shift):
            if before is not None:
                yield [*stretch, last]
            yield [last, here]
            stretch = [here]
        elif before is not None and anchor.follows:
            stretch.append(_Border(anchor.word, (before.end + anchor.start) // 2, anchor.start - before.end))
        before = anchor
    if stretch[0].word < n_words or stretch[0].frame < n_frames:
        yield [*stretch, _Border(n_words, n_frames, 0)]
