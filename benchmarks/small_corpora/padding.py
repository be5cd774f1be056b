"""Recordings in pieces, with room noise inserted before, between and after them."""

from dataclasses import dataclass

import numpy as np

from asr.features.augmentation import NoiseClips

FULL_SCALE = 32768.0
SHORTEST, LONGEST = 1.0, 3.0  # total seconds of noise added to a recording
QUIETEST, LOUDEST = -50.0, -35.0  # dB of full scale


@dataclass(frozen=True)
class Recording:
    """Spoken words in pieces, float32 (n,) on the 16-bit scale."""

    id: str
    speaker: str
    pieces: tuple[np.ndarray, ...]
    words: tuple[str, ...]


def pad(recording: Recording, noise: NoiseClips, *, rate: int, seed: int) -> np.ndarray:
    """Insert one to three seconds of one clip at -50 to -35 dB before, after and between the pieces, float32 (n,).

    Each gap between pieces is used with probability 0.3, at least one in all. All draws depend on seed and id.
    """
    random = np.random.default_rng([seed, *recording.id.encode()])
    n_pieces = len(recording.pieces)
    inner = random.random(n_pieces - 1) < 0.3
    if n_pieces > 1 and not inner.any():
        inner[random.integers(n_pieces - 1)] = True
    taken = np.concatenate([[True], inner, [True]])
    seconds = random.uniform(SHORTEST, LONGEST) * random.dirichlet(np.ones(taken.sum()))
    lengths = np.zeros(n_pieces + 1, np.int64)
    lengths[taken] = np.rint(seconds * rate)
    room = noise.piece(recording.id, int(lengths.sum()), rate=rate, seed=seed).astype(np.float64)
    level = FULL_SCALE * 10.0 ** (random.uniform(QUIETEST, LOUDEST) / 20.0)
    room *= level / max(1e-9, float(np.sqrt(np.mean(np.square(room)))))
    gaps = np.split(room.astype(np.float32), np.cumsum(lengths)[:-1])
    parts = [gaps[0]]
    for piece, gap in zip(recording.pieces, gaps[1:], strict=True):
        parts += [piece, gap]
    return np.concatenate(parts)
