"""Phone HMMs with their acoustic model: all that alignment and search need to know of sound."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from asr.alignment.pause_model import GUIDANCE, PauseSounds
from asr.hmm.topology import Topology
from asr.util.errors import DecodeError


class AcousticModel(Protocol):
    """Natural log-likelihood, up to a term common to all states of a frame, of every state for every frame."""

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """State scores, float32 (n_frames, n_states), of frames, float32 (n_frames, n_features)."""
        ...


@dataclass(frozen=True)
class PhoneHmm:
    """Topology, self-loop probabilities of the units, float64 (n_units,), and the states' acoustic model.

    `pauses` is what pauses of such frames sound like; None where nothing was learnt of it.
    """

    topology: Topology
    acoustic_model: AcousticModel
    self_loops: np.ndarray
    pauses: PauseSounds | None = None

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

    def recording_scores(self, frames: np.ndarray) -> np.ndarray:
        """As `log_likelihood`, of all frames of one recording: less for speech where its own noise is heard."""
        scores = self.log_likelihood(frames)
        if self.pauses is not None:
            n_silence = len(self.topology.silence_states)
            scores[:, n_silence:] += GUIDANCE * np.minimum(self.pauses.of_recording(frames), 0.0)[:, None]
        return scores
