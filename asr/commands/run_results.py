"""Results of a run of `asr align` or `asr decode`, read from its output folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from asr.alignment.ctm import is_uncalibrated, read_ctm
from asr.alignment.recording_labels import Label
from asr.alignment.score_files import SCORES, SUSPECTS, read_reasons, read_scores
from asr.recognition.hypotheses import HYPOTHESES, TIMES
from asr.runs.run import RECORD
from asr.scoring.files import read_transcripts
from asr.scoring.wer import UtteranceScore
from asr.training.finished_run import held_out_words
from asr.util.errors import CorpusError
from discriminants.util.paths import is_file

WORDS, PHONES = "words.ctm", "phones.ctm"

Labels = Mapping[str, Sequence[Label]]


@dataclass(frozen=True)
class RunResults:
    """Words of a run with their times, by utterance, and the values that judge them."""

    name: str
    words: Labels
    phones: Labels = field(default_factory=dict)  # empty for recognized words
    hypotheses: Mapping[str, Sequence[str]] | None = None  # recognized words; None for an alignment
    errors: Mapping[str, UtteranceScore] = field(default_factory=dict)  # of recognized words with a reference
    scores: Mapping[str, float] = field(default_factory=dict)  # of alignments, see `asr.alignment.transcript_scores`
    trust: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)  # of suspicious utterances, by printable name
    uncalibrated: bool = False  # whether the words have confidences that are not calibrated

    @property
    def names(self) -> set[str]:
        """Ids of all utterances."""
        return {*self.words, *(self.hypotheses or ())}

    def spoken(self, name: str) -> tuple[str, ...]:
        """Return the words of an utterance."""
        known = self.words.get(name)
        return tuple((self.hypotheses or {}).get(name, ()) if known is None else (label.text for label in known))


def is_training(folder: Path) -> bool:
    """Whether a folder is the work directory of a training, and has no other results."""
    return is_file(folder / RECORD) and not (is_file(folder / WORDS) or is_file(folder / TIMES))


def read_run(folder: Path) -> RunResults:
    """Read an output folder: `words.ctm` of `asr align`, otherwise `hyp.ctm` of `asr decode`.

    `phones.ctm`, `scores.tsv`, `suspects.tsv` and `hyp.txt` are optional. Confidences of the CTM files become the
    trust of the labels. The work directory of a training has the words of its held-out speech, without times. Raises
    CorpusError if there is neither file, or one is invalid.
    """
    name = folder.resolve().name
    if is_file(folder / WORDS):
        phones = _read_labels(folder / PHONES) if is_file(folder / PHONES) else {}
        scores, trust = read_scores(folder / SCORES) if is_file(folder / SCORES) else ({}, {})
        reasons = read_reasons(folder / SUSPECTS) if is_file(folder / SUSPECTS) else {}
        return RunResults(name, _read_labels(folder / WORDS), phones, None, {}, scores, trust, reasons)
    if is_file(folder / TIMES):
        words = _read_labels(folder / TIMES)
        found = {utterance: tuple(label.text for label in labels) for utterance, labels in words.items()}
        hypotheses = read_transcripts(folder / HYPOTHESES, format="kaldi") if is_file(folder / HYPOTHESES) else found
        return RunResults(name, words, hypotheses=hypotheses, uncalibrated=is_uncalibrated(folder / TIMES))
    if is_training(folder):
        return RunResults(name, {}, hypotheses=held_out_words(folder))
    raise CorpusError(
        f"{folder}: has neither {WORDS} nor {TIMES}. Expected the output folder of asr align or asr decode, or a work "
        "directory of asr train."
    )


def _read_labels(path: Path) -> dict[str, list[Label]]:
    found: dict[str, list[Label]] = {}
    for row in read_ctm(path):
        label = Label(row.start, row.start + row.duration, row.label, row.confidence)
        found.setdefault(row.utterance, []).append(label)
    return found
