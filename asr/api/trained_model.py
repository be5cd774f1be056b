"""Result of a training from Python."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from asr.acoustic.model_file import SpeechModel
from asr.api.described_model import RecognizerOptions
from asr.api.recognizer import Recognizer
from asr.runs.outcome import Outcome
from asr.training.report import PAGE, RESULTS
from asr.util.counted_text import count
from asr.util.display import html_table
from discriminants.util.paths import is_file


@dataclass(frozen=True, repr=False)
class TrainedModel:
    """Result of a training.

    Attributes
    ----------
    model : Path or None
        File of the hybrid, or of the mixtures with `until="gmm"`. None if no file can hold the hybrid's classifier.
    baseline, grammar, work_dir : Path
        Files of the Gaussian mixtures and of the n-gram of the transcripts, and their directory.
    outcome : Outcome
        Number of training utterances (`n_done`), and unusable utterances with reasons (`failures`).
    in_memory : SpeechModel or None
        The hybrid if no file can hold its classifier.
    """

    model: Path | None
    baseline: Path
    grammar: Path
    work_dir: Path
    outcome: Outcome
    in_memory: SpeechModel | None = None

    def load(self, **options: Unpack[RecognizerOptions]) -> Recognizer:
        """Return a recognizer of the hybrid; keywords as in `Recognizer.load`."""
        if self.in_memory is not None:
            return Recognizer(self.in_memory, **options)
        assert self.model is not None  # otherwise the model is in memory
        return Recognizer.load(self.model, **options)

    def __repr__(self) -> str:
        rates = [f"{row['system']} {row['wer']:.2f} %" for row in self._results()]
        errors = f"; errors on held-out speech: {', '.join(rates)}" if rates else ""
        return f"<TrainedModel {self.work_dir}: {count(self.outcome.n_done, 'utterance')}{errors}>"

    def _results(self) -> list[dict[str, Any]]:
        path = self.work_dir / RESULTS
        return json.loads(path.read_text(encoding="utf-8")) if is_file(path) else []

    def _repr_html_(self) -> str:
        """Return the error rates on held-out speech, for notebooks."""
        names = ("system", "wer", "wer_low", "wer_high", "words", "errors")
        return html_table(
            f"Training on {count(self.outcome.n_done, 'utterance')}: errors on held-out speech",
            ("System", "WER %", "95 % from", "to", "Words", "Errors"),
            [[row[name] for name in names] for row in self._results()],
            [f"Report: {self.work_dir / PAGE}"],
        )
