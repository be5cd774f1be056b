"""The commands as functions: what `asr train`, `tune`, `align`, `combine`, `validate` and the others do.

Paths may be text or `pathlib` paths. `jobs` is the number of this machine's cores to work on, all of them by default;
`cluster` the address of a dask scheduler, to work on its machines instead. Results do not depend on either.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

from asr.acoustic.model_file import describe_model
from asr.api.arguments import checked, optional_path
from asr.api.recognizer import Recognizer, RecognizerOptions
from asr.commands.combine import Combination
from asr.commands.combine import combine as combine_results
from asr.commands.features import extract_features as write_features
from asr.commands.tune import TunedModel, tune_model
from asr.recognition.grammars import GrammarChoice
from asr.runs.cores import ALL_CORES
from asr.runs.outcome import Outcome
from asr.runs.workers import open_workers
from asr.scoring.files import read_transcripts, read_utt2spk
from asr.scoring.letter_case import without_case
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.config import TrainingConfig
from asr.training.input_checks import check_inputs
from asr.training.pipeline import train as train_models
from asr.util.errors import CorpusError, printable
from asr.util.unicode_text import nfc
from asr.validation import Report

StrPath: TypeAlias = str | os.PathLike[str]
Settings: TypeAlias = TrainingConfig | StrPath | Mapping[str, Any] | None
"""Settings of a training: an object, the path of a TOML file, tables as such a file has them, None for the defaults."""
Transcripts: TypeAlias = StrPath | Mapping[str, str | Sequence[str]] | Iterable[str | Sequence[str]]
"""The path of a transcript file; words, or text, by utterance; or texts, one an utterance."""


@dataclass(frozen=True)
class TrainedModel:
    """What a training made.

    Attributes
    ----------
    model, baseline, grammar, work_dir : Path
        The hybrid's file, that of the Gaussian mixtures, the n-gram of the transcripts, and the directory of all.
    outcome : Outcome
        How many utterances were trained on (`n_done`), and those that could not be used, each with its reason
        (`failures`).
    """

    model: Path
    baseline: Path
    grammar: Path
    work_dir: Path
    outcome: Outcome

    def load(self, **options: Unpack[RecognizerOptions]) -> Recognizer:
        """A recognizer of the hybrid; keywords as of `Recognizer.load`."""
        return Recognizer.load(self.model, **options)


@checked
def train(
    data: StrPath,
    lexicon: StrPath,
    output: StrPath,
    *,
    config: Settings = None,
    classifier: str | None = None,
    strip_stress: bool | None = None,
    seed: int | None = None,
    root: StrPath | None = None,
    jobs: int = ALL_CORES,
    cluster: str | None = None,
    rebuild_changed: bool = False,
    check_samples: bool = True,
) -> TrainedModel:
    """Train mixtures and a hybrid on a Kaldi data directory, as the command `asr train`.

    The same call again goes on after an interruption; where all is done it returns at once. Progress goes to the
    logger "asr"; `logging.basicConfig(level=logging.INFO)` shows it.

    Parameters
    ----------
    output : path
        The work directory, where the run keeps its stages and models.
    strip_stress : bool, optional
        Whether stress digits of the lexicon's phones are removed; by default if the phones are the CMU dictionary's.
    seed : int, optional
        Of everything that is drawn, from 0 to 2**32 - 1; by default the one in the settings.
    rebuild_changed : bool
        Where `output` was begun with other settings or data, make again what depends on them.
    check_samples : bool
        Whether to read all audio to check it before the first stage.

    Raises
    ------
    AsrError
        One of its kinds, with the cause in one sentence.
    """
    work_dir = Path(output)
    with open_workers(jobs, cluster) as workers:
        outcome = train_models(
            Path(data),
            Path(lexicon),
            work_dir,
            root=optional_path(root),
            config=_settings(config),
            classifier=classifier,
            strip_stress=strip_stress,
            seed=seed,
            workers=workers,
            rebuild_changed=rebuild_changed,
            check_samples=check_samples,
        )
    return TrainedModel(
        work_dir / "model.safetensors",
        work_dir / "gmm.safetensors",
        work_dir / "grammar.arpa",
        work_dir,
        outcome,
    )


@checked
def tune(
    model: StrPath,
    data: StrPath,
    output: StrPath,
    *,
    grammar: GrammarChoice = None,
    root: StrPath | None = None,
    others: StrPath | None = None,
    stream_weights: bool = False,
    overwrite: bool = False,
    jobs: int = ALL_CORES,
    cluster: str | None = None,
) -> TunedModel:
    """Choose scale, penalty and width of the search of a finished model on a data directory, as the command `asr tune`.

    See `asr.commands.tune.tune_model` for parameters and errors. The model stays as it is; `output` is a new
    model file with the settings chosen.
    """
    with open_workers(jobs, cluster) as workers:
        return tune_model(
            Path(model),
            Path(data),
            Path(output),
            grammar=grammar,
            root=optional_path(root),
            others=optional_path(others),
            stream_weights=stream_weights,
            overwrite=overwrite,
            workers=workers,
        )


@checked
def align(
    model: StrPath | Recognizer,
    data: StrPath,
    output: StrPath,
    *,
    lexicon: StrPath | None = None,
    textgrid: bool = False,
    upsample: bool = False,
    root: StrPath | None = None,
    jobs: int = ALL_CORES,
    cluster: str | None = None,
) -> Outcome:
    """Find the times of the words and phones of a data directory, as the command `asr align`.

    Writes `words.ctm`, `phones.ctm`, `states.npz` and, if asked for, TextGrids to the directory `output`.
    `Recognizer.align` aligns one utterance without files.

    Raises
    ------
    AsrError
        One of its kinds; AlignmentError if no utterance at all could be aligned.
    """
    with open_workers(jobs, cluster) as workers:
        recognizer = model if isinstance(model, Recognizer) else Recognizer.load(model, upsample=upsample)
        return recognizer.align_directory(data, output, root=root, lexicon=lexicon, textgrid=textgrid, workers=workers)


@checked
def combine(
    systems: Iterable[StrPath],
    output: StrPath,
    *,
    weights: Sequence[float] | Literal["auto"] | None = None,
    null: float | None = None,
    text: Transcripts | None = None,
) -> Combination:
    """Combine what several systems recognized in the same utterances, as the command `asr combine`.

    Parameters
    ----------
    systems : paths
        Directories with the results of `asr decode`, two or more.
    output : path
        The directory where `hyp.txt` and `hyp.ctm` go.
    weights : list of float, or "auto"
        How much each system counts, by default all alike. "auto" chooses weights and `null` on `text`.
    null : float, optional
        What the probability that nothing was said at a place is multiplied by; 1 by default.
    text : path or mapping
        Transcripts of the utterances, for "auto". Never those of a test.

    Returns
    -------
    Combination
        With `n_done`, `failures`, `weights` and `null`, and with "auto" what was `chosen`, with the errors.

    Raises
    ------
    AsrError
        One of its kinds, with the cause in one sentence.
    """
    return combine_results(
        [Path(system) for system in systems],
        Path(output),
        weights=weights,
        null=null,
        text=None if text is None else _transcripts(text),
    )


@checked
def validate(
    data: StrPath,
    lexicon: StrPath,
    *,
    config: Settings = None,
    root: StrPath | None = None,
    tests: Iterable[StrPath] = (),
    strip_stress: bool | None = None,
    jobs: int = ALL_CORES,
) -> Report:
    """List what is wrong with a corpus, its lexicon and settings, as the command `asr validate`.

    The report has `errors` and `warnings`, each a finding with code, place, line and message, a `summary` of the
    corpus, and the whole as text (`lines()`) or for JSON (`as_json()`). Nothing is written.
    """
    with open_workers(jobs) as workers:
        report, _ = check_inputs(
            Path(data),
            Path(lexicon),
            _settings(config),
            root=optional_path(root),
            tests=[Path(test) for test in tests],
            strip_stress=strip_stress,
            workers=workers,
        )
    return report


@checked
def extract_features(
    data: StrPath,
    output: StrPath,
    *,
    config: Settings = None,
    upsample: bool = False,
    root: StrPath | None = None,
    jobs: int = ALL_CORES,
    cluster: str | None = None,
) -> Outcome:
    """Compute the static features of a data directory once, as the command `asr features`."""
    with open_workers(jobs, cluster) as workers:
        return write_features(
            Path(data),
            Path(output),
            root=optional_path(root),
            config=_settings(config),
            upsample=upsample,
            workers=workers,
        )


@checked
def score(
    reference: Transcripts,
    hypothesis: Transcripts,
    *,
    speakers: StrPath | Mapping[str, str] | None = None,
    ignore_case: bool = False,
) -> ScoreReport:
    """Count the word errors of what was recognized, as the command `asr score`.

    Parameters
    ----------
    reference, hypothesis : path, mapping or list
        Two files (Kaldi's text, NIST's trn or HTK's MLF), words by utterance, or texts in the same order.
    speakers : path or mapping
        The speaker of every utterance, or the path of a `utt2spk`.
    ignore_case : bool
        Whether words that differ in letter case alone are the same.

    Returns
    -------
    ScoreReport
        With `wer` and `ser` in %, `errors`, `substitutions`, `deletions`, `insertions`, `words`, and the alignment of
        every utterance. `asr.scoring.bootstrap.wer_interval` draws its confidence interval.

    Raises
    ------
    CorpusError
        When a file cannot be read, two lists differ in length, or the two share no utterance.
    """
    references, hypotheses = _transcripts(reference), _transcripts(hypothesis)
    if _is_list(reference) and _is_list(hypothesis) and len(references) != len(hypotheses):
        raise CorpusError(f"{len(references)} references and {len(hypotheses)} hypotheses; give one for each")
    if references.keys().isdisjoint(hypotheses):
        said, found = _named(reference, "the reference"), _named(hypothesis, "the hypothesis")
        ours, theirs = (printable(repr(next(iter(one)))) if one else "none" for one in (hypotheses, references))
        raise CorpusError(
            f"{found}: has no utterance of {said}, there are {ours} and so on here and {theirs} and so on there; give "
            "two files of the same corpus, with the same names of utterances"
        )
    if ignore_case:
        references, hypotheses = without_case(references), without_case(hypotheses)
    of_utterance: Mapping[str, str] | None = None
    if isinstance(speakers, Mapping):
        of_utterance = {nfc(name): speaker for name, speaker in speakers.items()}
    elif speakers is not None:
        of_utterance = read_utt2spk(Path(speakers))
    return score_utterances(references, hypotheses, speakers=of_utterance)


@checked
def describe(model: StrPath | Recognizer) -> dict[str, Any]:
    """What a model or its file holds, as the command `asr info`; ModelFormatError when it is no whole model."""
    return model.info() if isinstance(model, Recognizer) else describe_model(Path(model))


def _settings(config: Settings) -> TrainingConfig | Path | Mapping[str, Any] | None:
    return config if config is None or isinstance(config, TrainingConfig | Mapping) else Path(config)


def _is_list(transcripts: Transcripts) -> bool:
    return not isinstance(transcripts, str | os.PathLike | Mapping)


def _transcripts(given: Transcripts) -> dict[str, tuple[str, ...]]:
    if isinstance(given, str | os.PathLike):
        return read_transcripts(Path(given))
    by_utterance = given if isinstance(given, Mapping) else {str(number): text for number, text in enumerate(given)}
    return {
        nfc(name): tuple(map(nfc, said.split() if isinstance(said, str) else said))
        for name, said in by_utterance.items()
    }


def _named(given: Transcripts, otherwise: str) -> str:
    return str(given) if isinstance(given, str | os.PathLike) else otherwise
