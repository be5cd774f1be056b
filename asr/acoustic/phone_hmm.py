"""Phone HMMs with their acoustic model, for alignment and search."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from asr.alignment.pause_model import GUIDANCE, PauseSounds
from asr.hmm.topology import Topology
from asr.util.errors import DecodeError


class AcousticModel(Protocol):
    """State log-likelihoods (natural log) for every frame, up to a term common to all states of a frame."""

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return state scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        ...


@dataclass(frozen=True)
class PhoneHmm:
    """Topology, acoustic model and transition probabilities of phone HMMs."""

    topology: Topology
    acoustic_model: AcousticModel
    self_loops: np.ndarray  # float64 (n_units,)
    pauses: PauseSounds | None = None  # None if no pause model was trained

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return state scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features).

        Raises DecodeError if a score is NaN or infinite.
        """
        scores = self.acoustic_model.log_likelihood(frames)
        if not scores.max(initial=-np.inf) < np.inf:
            raise DecodeError("the acoustic model returns scores that are not numbers for these frames")
        return scores

    def recording_scores(self, frames: np.ndarray) -> np.ndarray:
        """Score all frames of one recording, with lower scores for speech in the recording's own noise."""
        scores = self.log_likelihood(frames)
        if self.pauses is not None:
            n_silence = len(self.topology.silence_states)
            scores[:, n_silence:] += GUIDANCE * np.minimum(self.pauses.of_recording(frames), 0.0)[:, None]
        return scores
