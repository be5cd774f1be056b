"""Recordings in pieces, with room noise inserted before, between and after them at known positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from asr.features.augmentation import NoiseClips

FULL_SCALE = 32768.0
SHORTEST, LONGEST = 1.0, 3.0  # total seconds of noise added to a recording
QUIETEST, LOUDEST = -50.0, -35.0  # dB of full scale


@dataclass(frozen=True)
class Recording:
    """Spoken words in pieces, with possible noise between them.

    Attributes
    ----------
    pieces : tuple of float32 (n,)
        Samples on the 16-bit scale; concatenated they are the original recording.
    words : tuple of tuple of str
        Words of every piece.
    """

    id: str
    speaker: str
    pieces: tuple[np.ndarray, ...]
    words: tuple[tuple[str, ...], ...]

    @property
    def transcript(self) -> tuple[str, ...]:
        """All words."""
        return tuple(word for of_piece in self.words for word in of_piece)

    @property
    def piece_of_word(self) -> list[int]:
        """Number of the piece of every word."""
        return [number for number, of_piece in enumerate(self.words) for _ in of_piece]

    def plain(self) -> np.ndarray:
        """Return the recording without padding."""
        return np.concatenate(self.pieces)


@dataclass(frozen=True)
class Padded:
    """A recording with noise.

    Attributes
    ----------
    samples : float32 (n,)
        Empty if only the positions were kept.
    n_samples : int
    starts, lengths : int64 (n_pieces,)
        First sample and number of samples of every piece.
    piece_of_word : list of int
        Number of the piece of every word.
    """

    samples: np.ndarray
    n_samples: int
    starts: np.ndarray
    lengths: np.ndarray
    piece_of_word: list[int]

    @property
    def n_noise(self) -> int:
        """Number of samples of noise."""
        return self.n_samples - int(self.lengths.sum())

    def moved(self, sample: float, word: int) -> float:
        """Map a position of the plain recording to the padded one, clipped to the word's piece."""
        piece = self.piece_of_word[word]
        within = sample - int(self.lengths[:piece].sum())
        return float(self.starts[piece] + np.clip(within, 0, self.lengths[piece]))

    def places(self) -> dict[str, Any]:
        """Return all fields except the samples, as a JSON value."""
        return {
            "n_samples": self.n_samples,
            "starts": self.starts.tolist(),
            "lengths": self.lengths.tolist(),
            "piece_of_word": self.piece_of_word,
        }

    @classmethod
    def from_places(cls, value: Mapping[str, Any]) -> "Padded":
        """Restore the result of `places`."""
        starts, lengths = np.array(value["starts"]), np.array(value["lengths"])
        return cls(np.empty(0, np.float32), value["n_samples"], starts, lengths, value["piece_of_word"])


def pad(recording: Recording, noise: NoiseClips, *, rate: int, seed: int) -> Padded:
    """Insert one to three seconds of one clip at -50 to -35 dB before, after and between the pieces.

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
    starts = []
    for piece, gap in zip(recording.pieces, gaps[1:], strict=True):
        starts.append(sum(map(len, parts)))
        parts += [piece, gap]
    samples = np.concatenate(parts)
    of_pieces = np.array([len(piece) for piece in recording.pieces])
    return Padded(samples, len(samples), np.array(starts), of_pieces, recording.piece_of_word)
