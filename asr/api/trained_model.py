"""Result of a training from Python."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from asr.acoustic.model_file import SpeechModel
from asr.api.described_model import RecognizerOptions
from asr.api.recognizer import Recognizer
from asr.runs.outcome import Outcome
from asr.training.report import PAGE, RESULTS
from asr.util.counted_text import count
from asr.util.html_table import html_table
from discriminants.util.paths import is_file


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

    def _repr_html_(self) -> str:
        """Return the error rates on held-out speech, for notebooks."""
        path = self.work_dir / RESULTS
        rows = json.loads(path.read_text(encoding="utf-8")) if is_file(path) else []
        names = ("system", "wer", "wer_low", "wer_high", "words", "errors")
        return html_table(
            f"Training on {count(self.outcome.n_done, 'utterance')}: errors on held-out speech",
            ("System", "WER %", "95 % from", "to", "Words", "Errors"),
            [[row[name] for name in names] for row in rows],
            [f"Report: {self.work_dir / PAGE}"],
        )
