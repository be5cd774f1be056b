"""The commands `asr train`, `tune`, `align`, `combine`, `validate` and others as functions.

Paths are strings or `pathlib` paths. `jobs` is the number of cores on this machine, by default all. `cluster` is the
address of a dask scheduler whose workers are used instead. Results do not depend on either.
"""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, TypeAlias

from asr.acoustic.classifiers import Classifier
from asr.acoustic.model_file import describe_model, load_model
from asr.alignment.boundary_comparison import read_hand_labels
from asr.alignment.label_files import label_formats
from asr.alignment.score_files import SCORES, SUSPECTS
from asr.api.arguments import Transcripts, checked, given_transcripts, optional_path
from asr.api.recognizer import Recognizer
from asr.api.trained_model import TrainedModel as TrainedModel
from asr.commands.align import align as align_data
from asr.commands.combine import Combination
from asr.commands.combine import combine as combine_results
from asr.commands.features import extract_features as write_features
from asr.commands.segment import segment as segment_data
from asr.commands.tune import TunedModel, tune_model
from asr.corpus.given_frames import directory_with_frames
from asr.recognition.grammars import GrammarChoice
from asr.runs.cores import ALL_CORES
from asr.runs.outcome import Outcome
from asr.runs.workers import open_workers
from asr.training.config import TrainingConfig
from asr.training.given_settings import GivenSettings
from asr.training.input_checks import check_inputs
from asr.training.pipeline import train as train_models
from asr.util.errors import ConfigError, printable
from asr.util.files import atomic_write
from asr.validation import Report

log = logging.getLogger(__name__)

StrPath: TypeAlias = str | os.PathLike[str]
Settings: TypeAlias = TrainingConfig | StrPath | Mapping[str, Any] | None
"""Training settings: an object, the path of a TOML file, tables as in such a file, or None for the defaults."""


@checked
def train(
    data: StrPath,
    lexicon: StrPath,
    output: StrPath,
    *,
    frames: Mapping[str, Any] | None = None,
    config: Settings = None,
    classifier: str | Classifier | None = None,
    strip_stress: bool | None = None,
    seed: int | None = None,
    root: StrPath | None = None,
    jobs: int = ALL_CORES,
    cluster: str | None = None,
    rebuild_changed: bool = False,
    check_samples: bool = True,
    until: Literal["gmm", "hybrid"] = "hybrid",
) -> TrainedModel:
    """Train mixtures and a hybrid on a Kaldi data directory, like the command `asr train`.

    The same call resumes after an interruption, and returns at once if everything is finished. The logger "asr" gets
    one line per stage; `logging.basicConfig(level=logging.INFO)` shows them. Details have the level DEBUG.

    Raises an AsrError with the cause in one sentence.

    Parameters
    ----------
    lexicon : path, "graphemes" or "phones"
        Pronunciations. "graphemes": the words of the transcripts, with a phone for each letter. "graphemes:FILE": with
        a table of letters and their phones (`asr lexicon --multigraphs`). "phones": each word of the transcripts
        is a phone (`asr.lexicon.phone_units`).
    output : path
        Work directory for stages and models.
    frames : mapping of utterance id to array (n_frames, n_features), optional
        Features that replace the audio of `data`, which needs only `utt2spk` and `text`. Utterances of `text` without
        an array, or with another number of columns than most, are left out. `features.shift_ms` is the
        time between frames. The models recognize frames only.
    seed : int, optional
        Seed of all random choices, from 0 to 2**32 - 1; default: the one in the settings.
    rebuild_changed : bool
        Whether to rebuild stages in `output` that depend on changed settings or data.
    check_samples : bool
        Whether to read and check all audio before the first stage.
    until : "gmm" or "hybrid"
        Last model of the training. "gmm" ends after the Gaussian mixtures, which is enough to align. The same call
        with "hybrid" continues from there.

    Returns
    -------
    TrainedModel
        The paths of the models, and the utterances left out.

    Examples
    --------
    >>> import asr
    >>> trained = asr.train("data/train", "lexicon.txt", "runs/mine")  # doctest: +SKIP
    >>> trained.load().words  # doctest: +SKIP
    ('NO', 'ONE', 'SEVEN', 'TWO', 'WISE')
    """
    work_dir = Path(output)
    with ExitStack() as stack:
        workers = stack.enter_context(open_workers(jobs, cluster))
        given = Path(data) if frames is None else stack.enter_context(directory_with_frames(Path(data), frames))
        outcome, in_memory = train_models(
            given,
            Path(lexicon),
            work_dir,
            GivenSettings(_settings(config), classifier, strip_stress, seed),
            root=optional_path(root),
            workers=workers,
            rebuild_changed=rebuild_changed,
            check_samples=check_samples,
            until=until,
        )
    baseline = work_dir / "gmm.safetensors"
    hybrid = None if in_memory is not None else work_dir / "model.safetensors"
    return TrainedModel(
        baseline if until == "gmm" else hybrid,
        baseline,
        work_dir / "grammar.arpa",
        work_dir,
        outcome,
        in_memory,
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
    """Tune scale, penalty and width of a model's search on a data directory, like the command `asr tune`.

    The model file is not changed. Raises an AsrError as `asr.commands.tune.tune_model`.

    Parameters
    ----------
    model : path
        Model file.
    data : path
        Kaldi data directory, with speakers of neither the training nor the test set.
    output : path
        New model file with the tuned settings.
    others : path, optional
        Data directory of other speech and noise, to which rejection is fitted.
    stream_weights : bool
        Whether to choose the weight of the second stream too.
    overwrite : bool
        Whether `output` may exist.

    Returns
    -------
    TunedModel
        The settings before and after, and the word errors.

    Examples
    --------
    >>> import asr
    >>> tuned = asr.tune("model.safetensors", "data/test", "tuned.safetensors", jobs=1)
    >>> tuned.model.name
    'tuned.safetensors'
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
    model: StrPath | Recognizer | None,
    data: StrPath,
    output: StrPath,
    *,
    lexicon: StrPath | None = None,
    formats: str | Sequence[str] = (),
    compare: StrPath | None = None,
    upsample: bool = False,
    root: StrPath | None = None,
    jobs: int = ALL_CORES,
    cluster: str | None = None,
) -> Outcome:
    """Find the times of the words and phones of a data directory, like the command `asr align`.

    Writes `words.ctm`, `phones.ctm`, `states.npz` and, optionally, files of `formats` to the directory `output`. To
    align a single utterance without files, use `Recognizer.align`.

    Raises AlignmentError if no utterance could be aligned, and other subclasses of AsrError.

    Parameters
    ----------
    model : path, Recognizer or None
        None: Gaussian mixtures are trained on the very data, in `output/training`. The same call resumes an interrupted
        training; stages that depend on changed data are made again.
    lexicon : path, or "graphemes"
        Pronunciations, by default those of the model. Without a model they are needed. "graphemes": a phone for each
        letter.
    formats : str or list of str
        Further files for each recording: "textgrid", "elan", "csv", "json" or "audacity"; several in a list, or in one
        text with commas. TextGrids and ELAN files of `prepare` keep their tiers.
    compare : path, optional
        Hand labels of words: a TextGrid, a folder of TextGrids, or a CTM file. The log has the distances between the
        boundaries, and `output/compare.tsv` a table.

    Returns
    -------
    Outcome
        Number of aligned utterances (`n_done`), and the others with reasons (`failures`).

    Examples
    --------
    >>> import asr
    >>> asr.align("model.safetensors", "data/test", "aligned", jobs=1).failures
    []
    """
    formats = label_formats(formats)
    if model is None:
        return _align_with_own_model(Path(data), Path(output), lexicon, formats, compare, root, jobs, cluster)
    with open_workers(jobs, cluster) as workers:
        recognizer = model if isinstance(model, Recognizer) else Recognizer.load(model, upsample=upsample)
        return recognizer.align_directory(
            data, output, root=root, lexicon=lexicon, formats=formats, compare=compare, workers=workers
        )


@checked
def segment(
    data: StrPath,
    output: StrPath,
    *,
    alignment: StrPath | None = None,
    min_seconds: float = 2.0,
    max_seconds: float = 20.0,
    root: StrPath | None = None,
) -> Outcome:
    """Cut the recordings of a data directory at pauses, like the command `asr segment`.

    Raises CorpusError if nothing is left, and other subclasses of AsrError.

    Parameters
    ----------
    output : path
        Data directory to write, with `segments`.
    alignment : path, optional
        Output folder of `align` for `data`. Cuts lie between its words, and the parts have transcripts.
    min_seconds, max_seconds : float
        Durations of the parts.

    Returns
    -------
    Outcome
        Number of utterances that were cut (`n_done`), and the others with reasons (`failures`).

    Examples
    --------
    >>> import asr
    >>> asr.segment("data/test", "parts", min_seconds=1.0, max_seconds=5.0).failures
    []
    """
    return segment_data(
        Path(data),
        Path(output),
        root=optional_path(root),
        alignment=optional_path(alignment),
        min_seconds=min_seconds,
        max_seconds=max_seconds,
    )


@checked
def combine(
    systems: Iterable[StrPath],
    output: StrPath,
    *,
    weights: Sequence[float] | Literal["auto"] | None = None,
    null: float | None = None,
    text: Transcripts | None = None,
) -> Combination:
    """Combine the results of several systems for the same utterances, like the command `asr combine`.

    Raises an AsrError with the cause in one sentence.

    Parameters
    ----------
    systems : paths
        Results directories of `asr decode`, at least two.
    output : path
        Directory for `hyp.txt` and `hyp.ctm`.
    weights : list of float, or "auto"
        Weight of each system, equal by default. "auto" fits weights and `null` to `text`.
    null : float, optional
        Factor on the probability that a place has no word; 1 by default.
    text : path or mapping
        Transcripts of the utterances, for "auto". Do not use a test set.

    Returns
    -------
    Combination
        With `n_done`, `failures`, `weights` and `null`, and with "auto" the errors of the choice in `chosen`.

    Examples
    --------
    >>> import asr
    >>> for name in ("model", "gmm"):
    ...     _ = asr.Recognizer.load(f"{name}.safetensors", confidence=True).decode(name, data="data/test")
    >>> asr.combine(["model", "gmm"], "combined").weights
    (0.5, 0.5)
    """
    return combine_results(
        [Path(system) for system in systems],
        Path(output),
        weights=weights,
        null=null,
        text=None if text is None else given_transcripts(text),
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
    """Validate a corpus, its lexicon and settings, like the command `asr validate`.

    The report has `errors` and `warnings` (findings with code, place, line and message), a `summary` of the corpus, and
    conversions to text (`lines()`) and JSON (`as_json()`). No files are written.

    Returns
    -------
    Report
        All findings, and a summary of the corpus.

    Examples
    --------
    >>> import asr
    >>> asr.validate("data/train", "lexicon.txt", config={"features": {"sample_rate": 8000}}, jobs=1).errors
    ()
    """
    with open_workers(jobs) as workers:
        report, _ = check_inputs(
            Path(data),
            Path(lexicon),
            GivenSettings(_settings(config), strip_stress=strip_stress),
            root=optional_path(root),
            tests=[Path(test) for test in tests],
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
    """Compute the static features of a data directory, like the command `asr features`.

    Returns
    -------
    Outcome
        Number of utterances done (`n_done`), and the others with reasons (`failures`).

    Examples
    --------
    >>> import asr
    >>> asr.extract_features("data/test", "features", config={"features": {"sample_rate": 8000}}, jobs=1).failures
    []
    """
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
def describe(model: StrPath | Recognizer) -> dict[str, Any]:
    """Describe a model, like the command `asr info`.

    Raises ModelFormatError if the file is damaged.

    Returns
    -------
    dict
        Description of the model and its training data, as `asr info --json` prints it.

    Examples
    --------
    >>> import asr
    >>> asr.describe("model.safetensors")["kind"]
    'hybrid'
    """
    return model.info() if isinstance(model, Recognizer) else describe_model(Path(model))


def _align_with_own_model(
    data: Path,
    output: Path,
    lexicon: StrPath | None,
    formats: str | Sequence[str],
    compare: StrPath | None,
    root: StrPath | None,
    jobs: int,
    cluster: str | None,
) -> Outcome:
    """Train mixtures on the data, align it with them, and copy the scores of the transcripts from the training.

    The training scores each transcript with models that were trained without it; the final model fits all of them.
    """
    if lexicon is None:
        raise ConfigError(
            "no model and no lexicon. Expected --model FILE (model=), or --lexicon FILE (lexicon=) to train a model on "
            "the data. Use --lexicon graphemes without a pronunciation dictionary."
        )
    if compare is not None:
        read_hand_labels(Path(compare))  # reports errors before the training
    work_dir = output / "training"
    log.info("%s", printable(f"training a model on {data} in {work_dir}"))
    trained = train(data, lexicon, work_dir, root=root, jobs=jobs, cluster=cluster, rebuild_changed=True, until="gmm")
    for path in (work_dir / "stages" / "transcripts" / SCORES, work_dir / SUSPECTS):
        with atomic_write(output / path.name) as temporary:
            temporary.write_bytes(path.read_bytes())
    with open_workers(jobs, cluster) as workers:
        outcome = align_data(
            load_model(trained.baseline),
            data,
            output,
            root=optional_path(root),
            lexicon=Path(lexicon),
            formats=formats,
            check=False,
            compare=optional_path(compare),
            workers=workers,
        )
    log.info("%s", printable(f"{output / SUSPECTS} lists the transcripts to check first"))
    return outcome


def _settings(config: Settings) -> TrainingConfig | Path | Mapping[str, Any] | None:
    return config if config is None or isinstance(config, TrainingConfig | Mapping) else Path(config)
