"""Recordings in pieces, with room noise laid before, between and after them; what was where is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from asr.features.augmentation import NoiseClips

FULL_SCALE = 32768.0
SHORTEST, LONGEST = 1.0, 3.0  # seconds of noise added to a recording in all
QUIETEST, LOUDEST = -50.0, -35.0  # dB of full scale


@dataclass(frozen=True)
class Recording:
    """Words spoken, in pieces between which noise may be laid.

    Attributes
    ----------
    pieces : tuple of float32 (n,)
        Samples on the 16-bit scale; end to end they are the recording as it was.
    words : tuple of tuple of str
        Of every piece.
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
        """The recording without padding."""
        return np.concatenate(self.pieces)


@dataclass(frozen=True)
class Padded:
    """A recording with noise.

    Attributes
    ----------
    samples : float32 (n,)
        Empty where only the places were kept.
    n_samples : int
    starts, lengths : int64 (n_pieces,)
        First sample of every piece and how many it has.
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
        """Samples of noise."""
        return self.n_samples - int(self.lengths.sum())

    def moved(self, sample: float, word: int) -> float:
        """Where a place of the plain recording lies now; one outside the word's piece is at its nearer end."""
        piece = self.piece_of_word[word]
        within = sample - int(self.lengths[:piece].sum())
        return float(self.starts[piece] + np.clip(within, 0, self.lengths[piece]))

    def places(self) -> dict[str, Any]:
        """All but the samples, as a JSON value."""
        return {
            "n_samples": self.n_samples,
            "starts": self.starts.tolist(),
            "lengths": self.lengths.tolist(),
            "piece_of_word": self.piece_of_word,
        }

    @classmethod
    def from_places(cls, value: Mapping[str, Any]) -> "Padded":
        """What `places` told."""
        starts, lengths = np.array(value["starts"]), np.array(value["lengths"])
        return cls(np.empty(0, np.float32), value["n_samples"], starts, lengths, value["piece_of_word"])


def pad(recording: Recording, noise: NoiseClips, *, rate: int, seed: int) -> Padded:
    """Lay one to three seconds of one clip at -50 to -35 dB before, after and between the pieces.

    Of the places between pieces at least one is taken, each with probability 0.3. All draws depend on seed and id.
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
