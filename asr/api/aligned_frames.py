"""Frames of an alignment, for its picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from asr.api.sound import Audio, load_samples
from asr.hmm.topology import Topology
from asr.util.errors import ConfigError


@dataclass(frozen=True)
class AlignedFrames:
    """Posteriors of the states of an alignment, in the order in which it reaches them, and its audio."""

    posteriors: np.ndarray  # float32 (n_frames, n_rows)
    rows: np.ndarray  # int64 (n_frames,); column of each frame's state
    phones: Sequence[str]  # phone of each column
    borders: Sequence[float]  # n_frames + 1 times in seconds
    rate: int  # Hz, of the model
    audio: Audio | None  # None for a file object, which has been read

    def samples(self, audio: Audio | None) -> np.ndarray:
        """Return the samples of the given audio or the alignment's own, float32 (n,) at `rate` Hz, 16-bit scale."""
        given = self.audio if audio is None else audio
        if given is None:
            raise ConfigError("the audio was a file object, which was read. Use plot(audio=...)")
        return load_samples(given, self.rate)


def state_rows(
    scores: np.ndarray, states: np.ndarray, topology: Topology
) -> tuple[np.ndarray, np.ndarray, Sequence[str]]:
    """Return the first three fields of `AlignedFrames` for a path.

    Parameters
    ----------
    scores : float32 (n_frames, n_states)
        Log-likelihoods of the states.
    states : int32 (n_frames,)
        States of the path.
    """
    reached, first, rows = np.unique(states, return_index=True, return_inverse=True)
    order = np.argsort(first)
    shown = reached[order]
    names = [topology.phone_names[phone] for phone in topology.unit_phone[shown].tolist()]
    return softmax(scores, axis=1)[:, shown], np.argsort(order)[rows], names
