"""Phone HMMs with their acoustic model: all that alignment and search need to know of sound."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from asr.errors import DecodeError
from asr.hmm.topology import Topology


class AcousticModel(Protocol):
    """Natural log-likelihood, up to a term common to all states of a frame, of every state for every frame."""

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """State scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        ...


@dataclass(frozen=True)
class PhoneHmm:
    """Topology, self-loop probabilities of the units, float64 (n_units,), and the states' acoustic model."""

    topology: Topology
    acoustic_model: AcousticModel
    self_loops: np.ndarray

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """State scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features).

        Raises
        ------
        DecodeError
            If a score is no number: a search would compare with it in vain.
        """
        scores = self.acoustic_model.log_likelihood(frames)
        if not scores.max(initial=-np.inf) < np.inf:
            raise DecodeError("the acoustic model gives these frames scores that are no numbers")
        return scores
