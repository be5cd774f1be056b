"""`asr train`: train a GMM-HMM and a hybrid from a data directory and a lexicon."""

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import asr
from asr.acoustic.hybrid_training import HybridSettings, classifier_of
from asr.acoustic.model_file import SearchSettings, SpeechModel, save_model
from asr.acoustic.model_metadata import HeldOutErrors, Provenance
from asr.corpus.data_directory import DataDirectory, Problem, read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.features.level import utterance_levels
from asr.grammar import ArpaModel, arpa_grammar, estimate_ngram, write_arpa
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon, read_lexicon
from asr.recognition.vocabulary import vocabulary_line
from asr.runs.outcome import FAILED, Outcome, account
from asr.runs.progress import counted
from asr.runs.run import Run, log_stage, require_run_or_empty
from asr.training.aligner_stages import train_aligner, with_context, with_maps
from asr.training.config import TrainingConfig, check_same_static
from asr.training.dataset import Dataset, build_static, left_out, load_dataset, trainable
from asr.training.fingerprint import training_sample
from asr.training.gmm_stages import AlignedGmms, TrainedSystem, TrainingContext, with_search
from asr.training.hybrid_stages import check_copies, train_hybrid_system
from asr.training.input_checks import check_inputs, codes_line, log_findings
from asr.training.report import report_run
from asr.training.stage_dependencies import depends
from asr.training.transcript_check import find_suspects
from asr.training.tuning.beam import SWEPT_ACTIVE, choose_width
from asr.training.tuning.confidence import confidence_on
from asr.training.tuning.folds import folds
from asr.training.tuning.search import FoldScores, TuningResult, tune
from asr.util.counted_text import count, duration
from asr.util.errors import printable
from asr.util.files import atomic_write
from asr.validation.directory import LISTS
from asr.validation.report import Report
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.paths import exists, is_dir

log = logging.getLogger(__name__)

FRAMES_A_CENTER, MIN_FOLD_CENTERS, DEFAULT_CENTERS = 40, 200, 1000


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
    problems: list[Problem]  # reasons for leaving out the others
    source: Literal["audio", "archive"]
    resumed: bool  # whether an earlier start has computed the features


def train(
    data: Path,
    lexicon: Path,
    work_dir: Path,
    *,
    root: Path | None = None,
    config: TrainingConfig | Path | Mapping[str, Any] | None = None,
    classifier: str | None = None,
    strip_stress: bool | None = None,
    seed: int | None = None,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    rebuild_changed: bool = False,
    check_samples: bool = True,
) -> Outcome:
    """Train a recognizer and write `work_dir/model.safetensors`.

    Other files: `gmm.safetensors` (the baseline with the largest mixtures), `grammar.arpa` (the n-gram of the training
    transcripts, default grammar of both models), `report.html` and `results.json` (errors of both models on the
    held-out speech of the tuning), and `suspects.tsv` (unusual transcripts). Finished stages are reused. Returns an
    outcome with the unusable utterances.

    All inputs are validated before the first stage, and the findings are logged. Errors in a `config` file are reported
    with the others. Validation reads the audio unless `check_samples` is false or an earlier start has computed the
    features.

    Raises
    ------
    AsrError
        A subclass, with the cause in one sentence.
    """
    require_run_or_empty(work_dir)  # before the audio is read
    resumed = is_dir(work_dir / "stages" / "features")
    report, checked = check_inputs(
        data,
        lexicon,
        config,
        root=root,
        classifier=classifier,
        strip_stress=strip_stress,
        seed=seed,
        samples_too=check_samples and not resumed,
        despite_settings=False,
        workers=workers,
    )
    log_findings(report, of_lists=resumed)
    inputs = _read_inputs(data, lexicon, checked, report, root, resumed)
    with _open_run(work_dir, inputs, rebuild_changed) as run:
        context = TrainingContext(run, inputs.lexicon, inputs.config, inputs.source, workers)
        dataset, problems = _extract_features(context, inputs)
        context = with_maps(with_context(context, dataset), dataset)
        arpa = _write_grammar(context, dataset)
        mixtures = train_aligner(context, "gmm", dataset)
        models = _ModelFiles(work_dir, arpa, _provenance(dataset, mixtures, inputs.config.features))
        models.save_untuned(mixtures.largest, inputs.config.gmm_search)
        tuned = _tune(context, dataset)
        models.save("gmm", mixtures.largest, tuned)
        check = find_suspects(context, "transcripts", dataset, mixtures)
        hybrid = train_hybrid_system(
            context, "hybrid", dataset, mixtures, inputs.config.hybrid, inputs.config.hybrid_features
        )
        model = models.save("model", hybrid, tuned)
        notes = (*report.remarks, *_vocabulary_notes(model, dataset))
        report_run(
            context, dataset, mixtures, hybrid, tuned.search, tuned.hypotheses, check,
            remarks=tuned.remarks, notes=notes,
        )  # fmt: skip
        log.info("models in %s: model.safetensors (hybrid), gmm.safetensors (mixtures)", work_dir)
        log.info("report.html has the details, suspects.tsv and failed.tsv list utterances to check")
    problems += [Problem(name, code, f"not aligned: {reason}") for name, (code, reason) in mixtures.failed.items()]
    account(inputs.listed, [name for name in dataset.static.ids if name not in mixtures.failed], problems, work_dir)
    return Outcome(len(dataset.static) - len(mixtures.failed), problems)


def _read_inputs(
    data: Path, lexicon: Path, config: TrainingConfig, report: Report, root: Path | None, resumed: bool
) -> _Inputs:
    """Read the validated inputs; raise errors that prevent training."""
    # Raise errors now that would otherwise appear after hours of training.
    classifier_of(config.hybrid)
    check_same_static(config.features, config.hybrid_features)
    pronunciations = read_lexicon(lexicon, strip_stress=config.lexicon.strip_stress)
    for note in filter(None, (pronunciations.stress, pronunciations.numbers)):
        log.debug("%s", printable(note))
    Topology(pronunciations.phones, config.states_per_phone)
    given = read_data_directory(data, root=root)
    corpus, problems = trainable(given, pronunciations)
    archive = any(utterance.archive is not None for utterance in corpus.utterances)
    source: Literal["audio", "archive"] = "archive" if archive else "audio"
    if archive:
        log.info("%s", printable(f"{data / 'feats.scp'}: the models will accept such features only, not audio"))
    check_copies(config.hybrid, source)
    return _Inputs(data, lexicon, config, pronunciations, report, given.listed, corpus, problems, source, resumed)


def _open_run(work_dir: Path, inputs: _Inputs, rebuild_changed: bool) -> Run:
    return Run.open(
        work_dir,
        command=sys.argv,
        configuration=inputs.config.model_dump(mode="json"),
        inputs={"data": inputs.corpus.digest(), "lexicon": inputs.lexicon.digest()},
        files={"lexicon": inputs.lexicon_file, **{name: inputs.data / name for name in LISTS}},
        seed=inputs.config.seed,
        rebuild_changed=rebuild_changed,
        depends=depends,
    )


def _extract_features(context: TrainingContext, inputs: _Inputs) -> tuple[Dataset, list[Problem]]:
    """Stage "features": return the data set and all utterances left out so far."""
    work_dir, config, corpus = context.run.directory, inputs.config, inputs.corpus
    if not inputs.resumed:  # lists the unusable utterances before the features exist
        known = [Problem(name, *fault) for name, fault in inputs.report.left_out.items()]
        account(inputs.listed, [name for name in inputs.listed if name not in inputs.report.left_out], known, work_dir)

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


def _write_grammar(context: TrainingContext, dataset: Dataset) -> str:
    path = context.run.directory / "grammar.arpa"
    write_arpa(_ngram(dataset, context), path)
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class _ModelFiles:
    """Model files of a work directory, with their grammar and provenance."""

    work_dir: Path
    arpa: str
    provenance: Provenance

    def save(self, name: str, trained: TrainedSystem, tuned: "_TunedSearches") -> SpeechModel:
        """Write `NAME.safetensors` with the tuned search."""
        model = with_search(trained.load(), tuned.search[name], self.arpa)
        model = replace(model, trained_on=self.provenance, held_out=tuned.errors.get(name))
        if model.speakers is not None:
            model = replace(model, speakers=replace(model.speakers, search=tuned.search["gmm"]))
        save_model(self.work_dir / f"{name}.safetensors", model)
        return model

    def save_untuned(self, trained: TrainedSystem, search: SearchSettings) -> None:
        """Write the mixtures before tuning, unless the file exists because it may be tuned already."""
        if not exists(self.work_dir / "gmm.safetensors"):
            self.save("gmm", trained, _TunedSearches({"gmm": search}))
            log.debug("%s: gmm.safetensors can be used already; tuning will change its search", self.work_dir)


def _vocabulary_notes(model: SpeechModel, dataset: Dataset) -> Iterator[str]:
    """Yield a note on the model's vocabulary, and one on transcripts of a fixed length."""
    yield vocabulary_line(model, dataset.references.values())
    lengths = set(map(len, dataset.references.values()))
    if len(lengths) == 1:
        (length,) = lengths
        yield (
            f"every transcript has {count(length, 'word')}: if this holds for the speech to be recognized, use the "
            f"grammar of {count(length, 'word')} (--grammar {length}, grammar='{length}'), which makes fewer errors"
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


def _ngram(dataset: Dataset, context: TrainingContext) -> ArpaModel:
    return estimate_ngram(dataset.references.values(), context.config.ngram_order, vocabulary=context.lexicon.words)


Hypotheses = dict[str, tuple[str, ...]]
NAMES = {"gmm": "mixtures", "model": "hybrid"}  # names in messages


class _TunedSearches(NamedTuple):
    """Search settings and held-out results, if any, by name of the model."""

    search: Mapping[str, SearchSettings]
    hypotheses: Mapping[str, Hypotheses] = {}
    remarks: Mapping[str, list[str]] = {}
    errors: Mapping[str, HeldOutErrors] = {}


def _tune(context: TrainingContext, dataset: Dataset) -> _TunedSearches:
    """Tune with fold models trained without the held-out speakers; `held-out.json` has the errors."""
    config = context.config
    defaults = {"gmm": config.gmm_search, "model": config.hybrid_search}
    if config.tuning.held_out == 0 or len(dataset.static) < 2:
        return _TunedSearches(defaults)
    parts = folds(dataset, config.tuning.held_out, config.tuning.words, config.seed)
    fold_models: dict[str, list[tuple[TrainedSystem, Dataset]]] = {name: [] for name in defaults}
    of_fold = replace(context, of_fold=True)
    for number, (inner, held_out) in enumerate(parts, 1):
        done = context.run.is_done(f"tuning-{number}-hybrid")
        mixtures = train_aligner(of_fold, f"tuning-{number}-gmm", inner)
        hybrid = train_hybrid_system(
            of_fold,
            f"tuning-{number}-hybrid",
            inner,
            mixtures,
            _for_folds(config.hybrid, inner.static.n_frames),
            config.hybrid_features,
        )
        for name, trained in (("gmm", mixtures.largest), ("model", hybrid)):
            fold_models[name].append((trained, held_out))
        if not done:
            _log_fold(context, number, len(parts))

    def build(directory: Path) -> str:
        graphs = [
            compile_graph(context.lexicon, arpa_grammar(_ngram(inner, context)), trained.topology)
            for (inner, _), (trained, _) in zip(parts, fold_models["gmm"], strict=True)
        ]
        kept = context.run.checkpoint("tuning-search")
        found, recognized = {}, {}
        for name, of_folds in fold_models.items():
            scored = [
                FoldScores.of(trained.load(), held_out, graph, context.workers, kept)
                for (trained, held_out), graph in zip(of_folds, graphs, strict=True)
            ]
            tuned = tune(scored, config.tuning, max_active=SWEPT_ACTIVE if config.tuning.tune_beam else 0)
            search = choose_width(scored, tuned.search) if config.tuning.tune_beam else tuned.search
            search = search.model_copy(update={"confidence": confidence_on(scored, search)})
            found[name], recognized[name] = _record(tuned, search), tuned.hypotheses
        (directory / "hypotheses.json").write_text(json.dumps(recognized, sort_keys=True))
        (directory / "search.json").write_text(json.dumps(found, sort_keys=True))
        chosen = {NAMES[name]: one["search"] for name, one in found.items()}
        return "scale and penalty: " + ", ".join(
            f"{name} {one['lm_scale']:g} and {one['insertion_penalty']:g}" for name, one in chosen.items()
        )

    directory = context.stage("tuning-search", build)
    found = json.loads((directory / "search.json").read_text())
    with atomic_write(context.run.directory / "held-out.json") as temporary:
        temporary.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    written = json.loads((directory / "hypotheses.json").read_text())
    return _TunedSearches(
        {name: SearchSettings(**found[name]["search"]) for name in defaults},
        {name: {utterance: tuple(words) for utterance, words in of.items()} for name, of in written.items()},
        {name: found[name]["remarks"] for name in defaults},
        {name: _errors(found[name]) for name in defaults if found[name]["words"]},
    )


def _log_fold(context: TrainingContext, number: int, n_folds: int) -> None:
    """Log the time of a fold's models and the estimated time of the other folds.

    The first fold includes one-time work such as compilation, so it only gives an upper bound.
    """
    seconds = [_seconds_of(context, f"tuning-{fold}-") for fold in range(1, number + 1)]
    each = sum(seconds[1:]) / (number - 1) if number > 1 else seconds[0]
    left = duration((n_folds - number) * each)
    summary = "" if number == n_folds else f"{'at most' if number == 1 else 'about'} {left} for the other folds"
    log_stage(f"tuning fold {number} of {n_folds}", seconds[-1], summary)


def _seconds_of(context: TrainingContext, begins: str) -> float:
    """Return the total wall-clock seconds of finished stages with this prefix."""
    run = context.run
    return sum(run.stage_time(name).wall for name in run.done_stages() if name.startswith(begins))


def _record(tuned: TuningResult, search: SearchSettings) -> dict[str, Any]:
    counts = tuned.report.totals
    return {
        "search": search.model_dump(),
        "words": counts.words,
        "errors": counts.errors,
        "substitutions": counts.substitutions,
        "deletions": counts.deletions,
        "insertions": counts.insertions,
        "wer": tuned.report.wer,
        "standard_error": tuned.standard_error,
        "remarks": list(tuned.remarks),
    }


def _errors(record: Mapping[str, Any]) -> HeldOutErrors:
    words, errors, standard_error = (record[key] for key in ("words", "errors", "standard_error"))
    return HeldOutErrors(words=words, errors=errors, standard_error=round(standard_error, 2), cross_validated=True)


def _for_folds(settings: HybridSettings, n_frames: int) -> HybridSettings:
    """Return settings of fold models, which only tune the search: no realignment and fewer basis centers.

    The default of 1000 centers is reduced to one per `FRAMES_A_CENTER` frames.
    """
    parameters = dict(settings.parameters)
    if settings.classifier == "kernel-logistic" and not {"n_centers", "n_candidates"} & parameters.keys():
        n_centers = max(MIN_FOLD_CENTERS, n_frames // FRAMES_A_CENTER)
        if n_centers < DEFAULT_CENTERS:
            parameters |= {"n_centers": n_centers, "n_candidates": 3 * n_centers}
    return settings.model_copy(update={"realignments": 0, "parameters": parameters})
