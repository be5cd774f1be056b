"""Results of long recordings from those of their pieces."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from asr.decode.path_segments import Segment
from asr.features.pieces import LONGEST, MAX_SECONDS, Pieces
from asr.lattices.lattice import Lattice
from asr.recognition.decoder import Recognition
from asr.recognition.speech_ratios import SpeechRatios
from asr.util.errors import printable

log = logging.getLogger(__name__)

Value = TypeVar("Value")


def joined(found: Recognition, pieces: Pieces) -> Recognition:
    """Join the results of pieces to those of their utterances, with the times of the utterances.

    A piece that could not be recognized has no words, and is logged. An utterance fails if all its pieces fail.
    Lattices stay those of the pieces; see `lattice_parts`.
    """
    if not pieces.parts:
        return found
    words, failed, ratios = _undivided(found.words, pieces), _undivided(found.failed, pieces), dict(found.ratios)
    for name, parts in pieces.parts.items():
        faults = [(piece, found.failed[piece]) for piece, _ in parts if piece in found.failed]
        if len(faults) == len(parts):
            failed[name] = faults[0][1]
            continue
        for piece, fault in faults:
            log.warning("%s", printable(f"{piece}: left out: {fault.message}"))
        words[name] = [shifted(word, first) for piece, first in parts for word in found.words.get(piece, ())]
        of_parts = [found.ratios.get(piece) for piece, _ in parts]
        if any(one is not None for one in of_parts):
            ratios[name] = _joined_ratios(of_parts, [_length(pieces, piece) for piece, _ in parts])
    return replace(
        found,
        words={name: words[name] for name in pieces.whole.ids if name in words},
        failed={name: failed[name] for name in pieces.whole.ids if name in failed},
        ratios=ratios,
    )


def shifted(segment: Segment, frames: int) -> Segment:
    """Return the segment that begins and ends `frames` later."""
    return replace(segment, start=segment.start + frames, end=segment.end + frames)


def lattice_parts(found: Recognition, pieces: Pieces) -> dict[str, list[tuple[int, Lattice]]]:
    """Return the lattices of each utterance with their first frames."""
    whole = {name: [(0, lattice)] for name, lattice in _undivided(found.lattices, pieces).items()}
    for name, parts in pieces.parts.items():
        own = [(first, found.lattices[piece]) for piece, first in parts if piece in found.lattices]
        if own:
            whole[name] = own
    return {name: whole[name] for name in pieces.whole.ids if name in whole}


def searched_seconds(seconds: float) -> float:
    """Return the duration of the longest search in a recording of `seconds`."""
    return seconds if seconds <= MAX_SECONDS else LONGEST


def _undivided(of_piece: Mapping[str, Value], pieces: Pieces) -> dict[str, Value]:
    """Return the values of utterances that were not divided."""
    divided = {piece for parts in pieces.parts.values() for piece, _ in parts}
    return {name: value for name, value in of_piece.items() if name not in divided}


def _length(pieces: Pieces, name: str) -> int:
    rows = pieces.table.rows(name)
    return rows.stop - rows.start


def _joined_ratios(parts: Sequence[SpeechRatios | None], lengths: Sequence[int]) -> SpeechRatios:
    """Concatenate ratios by frame; pieces without words have neither speech nor ratios."""

    def frames(of: Callable[[SpeechRatios], np.ndarray], kind: type) -> np.ndarray:
        return np.concatenate(
            [np.zeros(length, kind) if one is None else of(one) for one, length in zip(parts, lengths, strict=True)]
        )

    return SpeechRatios(
        frames(lambda one: one.phones, np.float32),
        frames(lambda one: one.silence, np.float32),
        frames(lambda one: one.speech, np.bool_),
        frames(lambda one: one.heard, np.bool_),
    )
