"""Result of a training from Python."""

from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from asr.acoustic.model_file import SpeechModel
from asr.api.described_model import RecognizerOptions
from asr.api.recognizer import Recognizer
from asr.runs.outcome import Outcome


@dataclass(frozen=True)
class TrainedModel:
    """Result of a training.

    Attributes
    ----------
    model, baseline, grammar, work_dir : Path
        Files of the hybrid, of the Gaussian mixtures and of the n-gram of the transcripts, and their directory. With
        `until="gmm"`, `model` is the file of the mixtures.
    outcome : Outcome
        Number of training utterances (`n_done`), and unusable utterances with reasons (`failures`).
    in_memory : SpeechModel or None
        The hybrid if no file can hold its classifier; the file `model` does not exist then.
    """

    model: Path
    baseline: Path
    grammar: Path
    work_dir: Path
    outcome: Outcome
    in_memory: SpeechModel | None = None

    def load(self, **options: Unpack[RecognizerOptions]) -> Recognizer:
        """Return a recognizer of the hybrid; keywords as in `Recognizer.load`."""
        if self.in_memory is not None:
            return Recognizer(self.in_memory, **options)
        return Recognizer.load(self.model, **options)
