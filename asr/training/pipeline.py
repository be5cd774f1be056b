"""`asr train`: train a GMM-HMM and a hybrid from a data directory and a lexicon."""

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

import asr
from asr.acoustic.classifier_trial import why_not_storable
from asr.acoustic.hybrid_training import classifier_of
from asr.acoustic.model_file import SearchSettings, SpeechModel, save_model
from asr.acoustic.model_metadata import Provenance
from asr.corpus.data_directory import LISTS, DataDirectory, read_data_directory
from asr.features.config import FeatureConfig
from asr.features.level import utterance_levels
from asr.grammar import write_arpa
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon, read_lexicon
from asr.lexicon.named import file_of, is_named, lexicon_by_name
from asr.recognition.unknown_words import unknown_phone, write_unknown_words
from asr.recognition.vocabulary import vocabulary_line
from asr.runs.outcome import FAILED, Outcome, account, require_some
from asr.runs.progress import counted
from asr.runs.run import Run, require_run_or_empty
from asr.training.aligner_stages import train_aligner, with_context, with_maps
from asr.training.config import TrainingConfig, check_same_static
from asr.training.dataset import Dataset, build_static, left_out, load_dataset, trainable
from asr.training.fingerprint import training_sample
from asr.training.given_alignment import GivenAlignment, read_alignment
from asr.training.given_settings import GivenSettings
from asr.training.gmm_stages import AlignedGmms, TrainedSystem, TrainingContext, with_search
from asr.training.hybrid_stages import check_copies, train_hybrid_system
from asr.training.input_checks import check_inputs, codes_line, log_findings
from asr.training.report import report_run
from asr.training.transcript_check import find_suspects
from asr.training.tuning.cross_validation import TunedSearch, cross_validate, ngram
from asr.util.counted_text import count, duration
from asr.util.errors import ConfigError, Issue, printable
from asr.validation.report import Report
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists, is_dir

_OF_HYBRIDS = ("hybrid", "hybrid_features", "hybrid_search")
_OF_FOLDS = ("tuning.held_out", "tuning.words")
_OF_PLAIN_FRAMES = ("gmm", "turned", "tied")


def depends(stage: str, name: str) -> bool:
    """Whether a stage of `asr train` depends on a setting ("hybrid.classifier") or an input ("data", "lexicon").

    Dependencies are inherited by later stages. Unknown names count as dependencies.
    """
    table, parts = name.partition(".")[0], stage.split("-")
    if stage == "features":
        return table in ("features", "data")
    if stage == "tuning-search":
        return True
    if table == "ngram_order":  # grammar of the tuning's search
        return False
    if table == "tuning":
        return parts[0] == "tuning" and name in _OF_FOLDS
    if table == "speakers":  # the transforms are estimated from plain mixtures
        return parts[-1] not in _OF_PLAIN_FRAMES
    if table in _OF_HYBRIDS:
        return "hybrid" in parts
    return True


log = logging.getLogger(__name__)

_DETAILS = "details in report.html, utterances to check in suspects.tsv and failed.tsv"


@dataclass(frozen=True)
class _Inputs:
    """Training inputs, checked before the first stage."""

    data: Path
    lexicon_file: Path
    config: TrainingConfig
    lexicon: Lexicon
    report: Report  # report of the validation
    listed: Sequence[str]  # all utterances of the data directory
    corpus: DataDirectory  # the usable utterances
    problems: list[Issue]  # reasons for leaving out the others
    source: Literal["audio", "archive"]
    alignment: GivenAlignment | None  # phone boundaries for training
    resumed: bool  # whether an earlier start has computed the features
    in_memory: bool  # whether no file can hold the classifier


def train(
    data: Path | DataDirectory,
    lexicon: Path,
    work_dir: Path,
    settings: GivenSettings,
    *,
    root: Path | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    rebuild_changed: bool = False,
    check_samples: bool = True,
    until: Literal["gmm", "hybrid"] = "hybrid",
    only_report: bool = False,
) -> tuple[Outcome, SpeechModel | None]:
    """Train a recognizer and write `work_dir/model.safetensors`.

    Other files: `gmm.safetensors` (the baseline with the largest mixtures), `grammar.arpa` (the n-gram of the training
    transcripts, default grammar of both models), `report.html` and `results.json` (errors of both models on the
    held-out speech of the tuning), `suspects.tsv` (unusual transcripts) and `unknown-words.tsv` (words without a
    pronunciation, with counts). Finished stages are reused. Returns an outcome with the unusable utterances, and the
    model if no file can hold its classifier, which was given as an object. There is no `model.safetensors` then.

    `data` may be a directory that was read already; its lists then lack the utterances of its `problems`.

    Unknown words train a phone `spn` of their own (`asr.recognition.unknown_words`). The models and the n-gram lack
    these words, so each one is an error of the tuning. An utterance without a known word is left out.

    All inputs are validated before the first stage, and the findings are logged, with the errors of a file of settings.
    Validation reads the audio unless `check_samples` is false or an earlier start has computed the features.
    `until="gmm"` ends after the mixtures: no search is tuned, and no hybrid is trained. `only_report` writes the report
    of a finished training again; the models stay.

    Raises
    ------
    AsrError
        A subclass, with the cause in one sentence.
    """
    require_run_or_empty(work_dir)  # before the audio is read
    resumed = is_dir(work_dir / "stages" / "features")
    folder = _given_folder(data)
    report, checked = check_inputs(
        folder,
        lexicon,
        settings,
        root=root,
        samples_too=check_samples and not resumed,
        despite_settings=False,
        workers=workers,
    )
    log_findings(report, of_lists=resumed)
    for remark in report.remarks:
        log.info("%s", printable(remark))
    in_memory = until == "hybrid" and _stays_in_memory(checked)
    inputs = _read_inputs(data, lexicon, checked, report, root, resumed, in_memory)
    in_memory_model = None
    with _open_run(work_dir, inputs, rebuild_changed) as run:
        run.only_finished = only_report
        context = TrainingContext(
            run,
            inputs.lexicon,
            inputs.config,
            inputs.source,
            workers,
            given=inputs.alignment,
            in_memory=inputs.in_memory,
        )
        dataset, problems = _extract_features(context, inputs)
        context = _with_unknown_words(context, dataset)
        context = with_maps(with_context(context, dataset), dataset)
        arpa = _write_grammar(context, dataset)
        mixtures = train_aligner(context, "gmm", dataset)
        models = _ModelFiles(work_dir, arpa, _provenance(dataset, mixtures, inputs.config.features), only_report)
        if until == "gmm":
            _finish_mixtures(context, dataset, mixtures, models, report.remarks)
        else:
            model = _train_hybrid(context, dataset, mixtures, models, report.remarks)
            in_memory_model = model if inputs.in_memory else None
    problems += [
        Issue(one.code, f"not aligned: {one.message}", utterances=(name,)) for name, one in mixtures.failed.items()
    ]
    account(inputs.listed, [name for name in dataset.static.ids if name not in mixtures.failed], problems, work_dir)
    return Outcome(len(dataset.static) - len(mixtures.failed), problems), in_memory_model


def _given_folder(data: Path | DataDirectory) -> Path:
    """Return the path of a data directory; log the utterances that its lists no longer have.

    Raises CorpusError if none is usable.
    """
    if isinstance(data, Path):
        return data
    require_some(data.path, data.utterances, data.problems)
    if data.problems:
        first = data.problems[0]
        number = count(len(data.problems), "utterance")
        log.warning("%s", printable(f"{number} left out; the first: {first.utterance}: {first.message}"))
    return data.path


def _stays_in_memory(config: TrainingConfig) -> bool:
    """Try the classifier; return whether it is an object that no file can hold, after a warning.

    Raises ConfigError if it cannot be trained, or is named and cannot be saved.
    """
    features = config.hybrid_features
    reason = why_not_storable(
        config.hybrid, features.lda_dimension or features.spliced_dimension or 1, seed=config.seed
    )
    if reason is None:
        return False
    message = (
        f"classifier {config.hybrid.classifier_name!r} cannot be saved in a model file: {reason}. Define its methods "
        "learnt_state and restore_state"
    )
    if isinstance(config.hybrid.classifier, str):
        raise ConfigError(message)
    log.warning("%s. This hybrid stays in memory: use load() of the result", printable(message))
    return True


def _finish_mixtures(
    context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms, models: "_ModelFiles", notes: Sequence[str]
) -> None:
    """Write the mixtures, unless their search is tuned already; check the transcripts, and write the report."""
    untuned = {"gmm": TunedSearch(context.config.gmm_search)}
    if not context.run.is_done("tuning-search"):
        models.save("gmm", mixtures.largest, untuned)
    check = find_suspects(context, "transcripts", dataset, mixtures)
    report_run(context, dataset, mixtures, None, untuned, check, notes)
    log.info("written to %s: gmm.safetensors (mixtures)", context.run.directory)
    log.info(_DETAILS)


def _train_hybrid(
    context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms, models: "_ModelFiles", notes: Sequence[str]
) -> SpeechModel:
    """Tune the search, train the hybrid, and write both models and the report; return the hybrid."""
    config = context.config
    models.save_untuned(mixtures.largest, config.gmm_search)
    tuned = cross_validate(context, dataset)
    models.save("gmm", mixtures.largest, tuned)
    check = find_suspects(context, "transcripts", dataset, mixtures)
    hybrid = train_hybrid_system(context, "hybrid", dataset, mixtures, config.hybrid, config.hybrid_features)
    model = models.save("model", hybrid, tuned)
    report_run(context, dataset, mixtures, hybrid, tuned, check, (*notes, *_vocabulary_notes(model, dataset)))
    written = "" if context.in_memory else "model.safetensors (hybrid), "
    log.info("written to %s: %sgmm.safetensors (mixtures)", context.run.directory, written)
    log.info(_DETAILS)
    return model


def _read_inputs(
    data: Path | DataDirectory,
    lexicon: Path,
    config: TrainingConfig,
    report: Report,
    root: Path | None,
    resumed: bool,
    in_memory: bool,
) -> _Inputs:
    """Read the validated inputs; raise errors that prevent training."""
    # Raise errors now that would otherwise appear after hours of training.
    classifier_of(config.hybrid)
    check_same_static(config.features, config.hybrid_features)
    given = data if isinstance(data, DataDirectory) else read_data_directory(data, root=root)
    if is_named(lexicon):
        pronunciations = lexicon_by_name(lexicon, [utterance.words or () for utterance in given.utterances])
    else:
        pronunciations = read_lexicon(lexicon, strip_stress=config.lexicon.strip_stress)
    for note in filter(None, (pronunciations.stress, pronunciations.numbers)):
        log.debug("%s", printable(note))
    Topology(pronunciations.phones, config.states_per_phone)
    corpus, problems = trainable(given, pronunciations)
    archive = any(utterance.archive is not None for utterance in corpus.utterances)
    source: Literal["audio", "archive"] = "archive" if archive else "audio"
    if archive:
        log.info("%s", printable(f"{given.path / 'feats.scp'}: the models will accept such features only, not audio"))
    check_copies(config.hybrid, source)
    alignment = read_alignment(Path(config.alignment), pronunciations) if config.alignment else None
    return _Inputs(
        given.path,
        lexicon,
        config,
        pronunciations,
        report,
        given.listed,
        corpus,
        problems,
        source,
        alignment,
        resumed,
        in_memory,
    )


def _open_run(work_dir: Path, inputs: _Inputs, rebuild_changed: bool) -> Run:
    return Run.open(
        work_dir,
        command=sys.argv,
        configuration=inputs.config.model_dump(mode="json"),
        inputs={
            "data": inputs.corpus.digest(),
            "lexicon": inputs.lexicon.digest(),
            **({} if inputs.alignment is None else {"alignment": inputs.alignment.digest()}),
        },
        files={
            **file_of(inputs.lexicon_file),
            **{name: inputs.data / name for name in LISTS},
        },
        seed=inputs.config.seed,
        rebuild_changed=rebuild_changed,
        depends=depends,
    )


def _extract_features(context: TrainingContext, inputs: _Inputs) -> tuple[Dataset, list[Issue]]:
    """Stage "features": return the data set and all utterances left out so far."""
    work_dir, config, corpus = context.run.directory, inputs.config, inputs.corpus
    if not inputs.resumed:  # lists the unusable utterances before the features exist
        known = {one.utterance: one for one in inputs.problems} | inputs.report.left_out
        account(inputs.listed, [name for name in inputs.listed if name not in known], list(known.values()), work_dir)

    def build_features(directory: Path) -> None:
        with counted(len(corpus.utterances), "features") as finished:
            build_static(
                directory, corpus, config.features, silent_too=False, workers=context.workers, progress=finished
            )

    features = context.stage("features", build_features)
    dataset = load_dataset(features, corpus, config.features)
    summary = (
        f"{count(len(dataset.static), 'utterance')}, {count(len(dataset.speakers), 'speaker')}, "
        f"{duration(dataset.seconds)} of speech, {count(sum(map(len, dataset.references.values())), 'word')}"
    )
    log.info("corpus: %s, %d Hz", summary, config.features.sample_rate)
    problems = [*inputs.problems, *left_out(features)]
    account(inputs.listed, dataset.static.ids, problems, work_dir)
    if inputs.resumed and problems:
        message = f"{count(len(problems), 'utterance')} of {len(inputs.listed):,} left out"
        log.warning("%s: %s; %s lists them", message, codes_line(problems), work_dir / FAILED)
    return dataset, problems


def _with_unknown_words(context: TrainingContext, dataset: Dataset) -> TrainingContext:
    """Return the context with the unknown words of the transcripts; count them in a file and a line of the log."""
    counts = context.lexicon.out_of_vocabulary(dataset.references.values())
    write_unknown_words(context.run.directory, counts, unknown_phone(context.lexicon.phones))
    return replace(context, unknown=tuple(sorted(counts)))


def _write_grammar(context: TrainingContext, dataset: Dataset) -> str:
    path = context.run.directory / "grammar.arpa"
    write_arpa(ngram(dataset, context), path)
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class _ModelFiles:
    """Model files of a work directory, with their grammar and provenance."""

    work_dir: Path
    arpa: str
    provenance: Provenance
    written: bool = False  # whether the files are complete, so that they stay

    def save(self, name: str, trained: TrainedSystem, tuned: Mapping[str, TunedSearch]) -> SpeechModel:
        """Write `NAME.safetensors` with the tuned search; return the model.

        No file is written if it is `written`, or if the model stays in memory.
        """
        model = with_search(trained.load(), tuned[name].search, self.arpa)
        model = replace(model, trained_on=self.provenance, held_out=tuned[name].errors)
        if model.speakers is not None:
            model = replace(model, speakers=replace(model.speakers, search=tuned["gmm"].search))
        path = self.work_dir / f"{name}.safetensors"
        if trained.in_memory is not None:
            path.unlink(missing_ok=True)  # of an earlier classifier
        elif not self.written:
            save_model(path, model)
        return model

    def save_untuned(self, trained: TrainedSystem, search: SearchSettings) -> None:
        """Write the mixtures before tuning, unless the file exists because it may be tuned already."""
        if not exists(self.work_dir / "gmm.safetensors"):
            self.save("gmm", trained, {"gmm": TunedSearch(search)})
            log.debug("%s: gmm.safetensors can be used already; tuning will change its search", self.work_dir)


def _vocabulary_notes(model: SpeechModel, dataset: Dataset) -> Iterator[str]:
    """Yield a note on the model's vocabulary, and one on transcripts of a fixed length."""
    yield vocabulary_line(model, dataset.references.values())
    lengths = set(map(len, dataset.references.values()))
    if len(lengths) == 1:
        (length,) = lengths
        yield (
            f"every transcript has {count(length, 'word')}: if the speech to be recognized has too, the grammar "
            f"--grammar {length} (grammar='{length}') makes fewer errors"
        )


def _provenance(dataset: Dataset, mixtures: AlignedGmms, config: FeatureConfig) -> Provenance:
    used = dataset.where(lambda name, _: name not in mixtures.failed)
    levels = utterance_levels(used.static, config) if len(used.static) else None
    return Provenance(
        utterances=len(used.static),
        speakers=len(used.speakers),
        words=sum(map(len, used.references.values())),
        seconds=round(used.seconds, 2),
        level_db=None if levels is None else round(float(np.median(levels)), 1),
        version=asr.__version__,
        sample=training_sample(used),
    )
