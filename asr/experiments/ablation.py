"""Ablation of hybrids: cross-validation over training speakers, one change per row.

In each fold, mixtures and hybrid are trained without the held-out speakers and recognize them, with a grammar made
without their sentences. Errors are summed over all speakers, with the best scale and penalty for the row.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from asr.acoustic.composite import CompositeAcousticModel
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.acoustic.speaker_adaptive_training import SpeakerSettings
from asr.decode.graph_compiler import compile_graph
from asr.experiments.recipe import Recipe
from asr.features.augmentation import Augmentation
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.grammar import Grammar
from asr.hmm.state_graph import StateGraph
from asr.recognition.search import BATCH_FRAMES
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.scoring.bootstrap import compare_systems
from asr.scoring.files import read_transcripts, write_transcripts
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.aligner_stages import train_mapped_mixtures
from asr.training.dataset import Dataset
from asr.training.gmm_stages import (
    AlignedGmms,
    TrainedSystem,
    TrainingContext,
    aligned_states,
    train_mixtures,
    train_tied_mixtures,
)
from asr.training.hybrid_stages import train_hybrid_system, train_mixtures_of_states, train_on_sequences
from asr.training.tuning.search import score_batch, search_batch
from asr.util.files import atomic_write, write_array
from discriminants.parallel.threads import in_threads

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Row:
    """One model of the table, as differences from the base."""

    name: str
    # `settings`, `parameters`, `frames`: changed settings of the hybrid, its classifier's parameters and its features.
    # Another classifier does not inherit the base's parameters.
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    frames: Mapping[str, Any] = field(default_factory=dict)
    average: int = 1  # number of models with different dictionaries whose posteriors are averaged
    prior_exponent: float | None = None  # replaces the base's; the trained models are shared
    heard_in: Augmentation | None = None
    """Modification of the held-out speech. The row is then compared with `base` under the same modification."""
    mixtures_alone: int = 0  # Gaussians per state of mixtures used instead of the hybrid; 0 for the hybrid
    tied_states: int = 0  # number of context-dependent tied states; 0 for context-independent states
    speakers: SpeakerSettings | None = None  # speaker transforms of the row's frames; none by default
    searches: Sequence[SearchSettings] = ()
    """Replaces the shared ones; densities of high-dimensional frames need larger grammar scales."""


@dataclass(frozen=True)
class Ablation:
    """Settings shared by all rows of a table."""

    # `hybrid`, `frames`: the base
    hybrid: HybridSettings
    frames: FeatureConfig
    aligner: FeatureConfig  # features of the mixtures that align for the hybrids
    searches: Sequence[SearchSettings]
    make_grammar: Callable[[Dataset, Dataset], Grammar]
    """Returns a fold's grammar from the training and held-out material."""
    n_folds: int = 5

    def settings(self, row: Row, number: int = 0) -> HybridSettings:
        """Return the settings of one of the row's averaged models."""
        changed = "classifier" in row.settings
        parameters = dict(row.parameters) if changed else {**self.hybrid.parameters, **row.parameters}
        if number:
            parameters["random_state"] = number
        return HybridSettings.model_validate({**self.hybrid.model_dump(), "parameters": parameters, **row.settings})

    def features(self, row: Row) -> FeatureConfig:
        """Return the settings of a row's features."""
        return FeatureConfig.model_validate({**self.frames.model_dump(), **row.frames})

    def prior_exponent(self, row: Row) -> float:
        """Return the row's exponent, or the base's."""
        return self.hybrid.prior_exponent if row.prior_exponent is None else row.prior_exponent

    def searches_of(self, row: Row) -> Sequence[SearchSettings]:
        """Return the row's searches, or the shared ones."""
        return row.searches or self.searches

    def stage_name(self, row: Row) -> str:
        """Return a name that identifies the settings of a row's model."""
        features = self.features(row)
        if row.mixtures_alone:
            return f"mixtures-{row.mixtures_alone}-{_digest(features.model_dump_json())}"
        return stage_name(self.settings(row), features)


def stage_name(settings: HybridSettings, features: FeatureConfig) -> str:
    """Return a name that identifies the settings of a model."""
    text = settings.model_dump_json() + features.model_dump_json()
    return f"model-{_digest(text)}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Fold:
    """Training speakers with mixtures and alignment; held-out speakers with alignment and grammar."""

    name: str
    inner: Dataset
    mixtures: AlignedGmms
    held_out: Dataset
    grammar: Grammar
    states: np.ndarray
    graph: StateGraph

    def in_context(self, context: TrainingContext, n_states: int) -> "Fold":
        """Stages: return the fold with mixtures, alignments and graph of tied states."""
        name = f"{self.name}-tied-{n_states}"
        config = context.config.model_copy(update={"context": 3, "tied_states": n_states})
        mixtures = train_tied_mixtures(replace(context, config=config), f"{name}-gmm", self.inner, self.mixtures)
        return _fold(context, name, self.inner, mixtures, self.held_out, self.grammar)

    def mapped(self, context: TrainingContext, settings: SpeakerSettings) -> "Fold":
        """Stages: return the fold with mixtures and alignments of speaker-transformed frames."""
        config = context.config.model_copy(update={"speakers": settings})
        name, mixtures = f"{self.name}-{_digest(settings.model_dump_json())}", self.mixtures
        for number in range(1, settings.rounds + 1):
            stage = f"{name}-mapped-{number}"
            mixtures = train_mapped_mixtures(replace(context, config=config), stage, self.inner, mixtures)
        return _fold(context, name, self.inner, mixtures, self.held_out, self.grammar)


@dataclass(frozen=True)
class Average:
    """Average of hybrids with the same states and frames, by mean posteriors."""

    models: Sequence[HybridAcousticModel | CompositeAcousticModel]
    prior_exponent: float

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """Return log of the mean of P(s|x), float32 (n_frames, n_states)."""
        total = self.models[0].log_posterior(frames)
        for model in self.models[1:]:
            np.logaddexp(total, model.log_posterior(frames), out=total)
        return total - np.float32(np.log(len(self.models)))

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return scaled log-likelihoods, float32 (n_frames, n_states)."""
        return self.log_posterior(frames) - np.float32(self.prior_exponent) * self.models[0].log_priors


@dataclass(frozen=True)
class ScoredMixtures:
    """Mixtures with state priors, float32 (n_states,), which give posteriors."""

    mixtures: AcousticModel
    log_priors: np.ndarray

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """Return log P(s|x), float32 (n_frames, n_states), by Bayes' rule."""
        joint = self.mixtures.log_likelihood(frames) + self.log_priors
        joint -= np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return joint

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return state scores, float32 (n_frames, n_states)."""
        return self.mixtures.log_likelihood(frames)


def run_ablation(
    recipe: Recipe, ablation: Ablation, rows: Sequence[Row], chosen: Sequence[str], numbers: Sequence[int] | None = None
) -> str:
    """Measure the chosen rows and their references; return the table in Markdown.

    `numbers` restricts the folds (from 0). A row is compared with the first row whose speech has the same modification.
    `ablation.json` in the work directory is rewritten after each row.
    """
    context = recipe.context
    dataset = recipe.dataset("train")
    numbers = range(ablation.n_folds) if numbers is None else numbers
    folds = [make_fold(context, ablation, number, dataset) for number in numbers]
    held_out = [speaker for fold in folds for speaker in fold.held_out.speakers]
    changes = {row.heard_in for row in rows if row.name in chosen}
    bases: dict[Augmentation | None, ScoreReport] = {}
    records: list[dict[str, Any]] = []
    for row in rows:
        is_base = row.heard_in in changes and row.heard_in not in bases
        if not is_base and row.name not in chosen:
            continue
        heard = dataset if row.heard_in is None else recipe.dataset("train", row.heard_in)
        record, report = measure(context, ablation, folds, heard.of_speakers(held_out), row)
        base = bases.setdefault(row.heard_in, report)
        difference = compare_systems(report, base, unit="speaker").difference
        records.append({**record, "interval": [difference.low, difference.high]})
        log.info("%s: %d errors, %.2f %% WER", row.name, record["errors"], record["wer"])
        with atomic_write(recipe.work_dir / "ablation.json") as temporary:
            temporary.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    recipe.resources.close()
    return table(records)


def make_fold(context: TrainingContext, ablation: Ablation, number: int, dataset: Dataset) -> Fold:
    """Run the stages of a fold that all rows share."""
    name = f"fold{number}"
    drawn = np.random.default_rng(context.config.seed).permutation(dataset.speakers)
    speakers = set(drawn[number :: ablation.n_folds].tolist())
    held_out = dataset.of_speakers(speakers)
    inner = dataset.of_speakers(set(dataset.speakers) - speakers)
    mixtures = train_mixtures(context, f"{name}-gmm", inner, ablation.aligner)
    return _fold(context, name, inner, mixtures, held_out, ablation.make_grammar(inner, held_out))


def _fold(
    context: TrainingContext, name: str, inner: Dataset, mixtures: AlignedGmms, held_out: Dataset, grammar: Grammar
) -> Fold:
    """Stage: align the held-out speech with the mixtures."""

    def build(directory: Path) -> None:
        write_array(directory / "states.npy", aligned_states(context, mixtures.largest, held_out))

    states = np.load(context.stage(f"{name}-held-out", build) / "states.npy", allow_pickle=False)
    graph = compile_graph(context.lexicon, grammar, mixtures.topology)
    return Fold(name, inner, mixtures, held_out, grammar, states, graph)


def train_model(context: TrainingContext, ablation: Ablation, fold: Fold, row: Row, number: int) -> TrainedSystem:
    """Stages: train one of a row's models, with the one without its second stream if any; or its mixtures."""
    features = ablation.features(row)
    if row.mixtures_alone:
        name = f"{fold.name}-{ablation.stage_name(row)}"
        return train_mixtures_of_states(context, name, fold.inner, fold.mixtures, row.mixtures_alone, features)

    def train(settings: HybridSettings, one_stream: TrainedSystem | None = None) -> TrainedSystem:
        name = f"{fold.name}-{stage_name(settings, features)}"
        return train_hybrid_system(context, name, fold.inner, fold.mixtures, settings, features, one_stream=one_stream)

    settings = ablation.settings(row, number)
    on_frames = settings.model_copy(update={"smbr_epochs": 0})
    trained = train(on_frames, train(settings.one_stream) if settings.mixtures else None)
    if not settings.n_sequence_epochs:
        return trained
    name = f"{fold.name}-{stage_name(settings, features)}"
    return train_on_sequences(context, name, fold.inner, fold.mixtures, trained, settings)


def recognize_fold(context: TrainingContext, ablation: Ablation, fold: Fold, heard: Dataset, row: Row) -> Path:
    """Stage: evaluate a row's models in one fold: held-out cross-entropy, and words under each search.

    `heard` are the held-out utterances, possibly with modified audio.
    """
    trained = [train_model(context, ablation, fold, row, number) for number in range(row.average)]
    exponent, searches = ablation.prior_exponent(row), ablation.searches_of(row)

    def build(directory: Path) -> None:
        models = [one.load() for one in trained]
        model = models[0]
        loaded = [m.hmm.acoustic_model for m in models]
        hybrids = [m for m in loaded if isinstance(m, HybridAcousticModel | CompositeAcousticModel)]
        acoustic = (
            _with_priors(loaded[0], fold, model.hmm.topology.n_states)
            if row.mixtures_alone
            else Average(hybrids, exponent)
        )
        hmm = PhoneHmm(model.hmm.topology, acoustic, model.hmm.self_loops)
        model = replace(model, hmm=hmm)
        maps, _ = recognized_maps(model, heard.static, fold.graph, workers=context.workers)
        frames = frames_of(model, heard.static, maps)
        posteriors = acoustic.log_posterior(frames.frames)
        states = np.concatenate([fold.states[fold.held_out.static.rows(name)] for name in frames.ids])
        used = np.flatnonzero(states >= 0)
        record = {
            "frames": len(used),
            "loss": -float(posteriors[used, states[used]].sum(dtype=np.float64)),
            "correct": int((posteriors[used].argmax(axis=1) == states[used]).sum()),
        }
        context.run.note_time("training", sum(one.seconds for one in trained))
        (directory / "frames.json").write_text(json.dumps(record))
        for number, hypotheses in enumerate(recognize_all(context, fold.graph, model, frames, searches)):
            write_transcripts(directory / f"hyp-{number}.txt", hypotheses)

    change = "" if row.heard_in is None else f"-{row.heard_in.name}"
    searched = _digest("".join(search.model_dump_json() for search in searches))
    stage = ablation.stage_name(row)
    name = f"{fold.name}-{stage}-{row.average}-{exponent:g}{change}-searches-{searched}".replace(".", "_")
    return context.stage(name, build)


def _with_priors(mixtures: AcousticModel, fold: Fold, n_states: int) -> ScoredMixtures:
    """Estimate priors from the fold's training frames; a state without frames counts as one frame."""
    used = fold.mixtures.states[fold.mixtures.states >= 0]
    shares = np.maximum(np.bincount(used, minlength=n_states), 1) / len(used)
    return ScoredMixtures(mixtures, np.log(shares).astype(np.float32))


def recognize_all(
    context: TrainingContext,
    graph: StateGraph,
    model: SpeechModel,
    frames: FrameTable,
    searches: Sequence[SearchSettings],
) -> list[dict[str, list[str]]]:
    """Return words by search and utterance; frames are scored once."""
    batches = frames.batches(BATCH_FRAMES)
    workers = in_threads(context.workers)
    shared = workers.share((model.hmm, graph))
    hypotheses: list[dict[str, list[str]]] = [{} for _ in searches]
    scores = workers.map(score_batch, batches, shared)
    for batch, found in zip(batches, workers.map(search_batch, scores, shared, searches), strict=True):
        for of_search, words in zip(hypotheses, found, strict=True):
            of_search.update(zip(batch.ids, words, strict=True))
    return hypotheses


def measure(
    context: TrainingContext, ablation: Ablation, folds: Sequence[Fold], heard: Dataset, row: Row
) -> tuple[dict[str, Any], ScoreReport]:
    """Return a row's results over all folds, and its words scored with the best search.

    `heard` are all utterances in the form to be recognized.
    """
    if row.tied_states:
        folds = [fold.in_context(context, row.tied_states) for fold in folds]
    if row.speakers is not None:
        folds = [fold.mapped(context, row.speakers) for fold in folds]
    directories = [
        recognize_fold(context, ablation, fold, heard.of_speakers(fold.held_out.speakers), row) for fold in folds
    ]
    searches = ablation.searches_of(row)
    reports = []
    for number in range(len(searches)):
        hypotheses: dict[str, tuple[str, ...]] = {}
        for directory in directories:
            hypotheses |= read_transcripts(directory / f"hyp-{number}.txt")
        reports.append(score_utterances(heard.references, hypotheses, speakers=heard.utterance_speaker))
    best = min(range(len(reports)), key=lambda number: reports[number].errors)
    frames = [json.loads((directory / "frames.json").read_text()) for directory in directories]
    n_frames = sum(part["frames"] for part in frames)
    return {
        "name": row.name,
        "errors": reports[best].errors,
        "words": reports[best].words,
        "wer": reports[best].wer,
        "lm_scale": searches[best].lm_scale,
        "insertion_penalty": searches[best].insertion_penalty,
        "cross_entropy": sum(part["loss"] for part in frames) / n_frames,
        "frame_accuracy": 100.0 * sum(part["correct"] for part in frames) / n_frames,
        "train_seconds": sum(context.run.stage_time(path.name).parts["training"] for path in directories) / len(folds),
    }, reports[best]


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Format the table in Markdown, one line per row."""
    lines = [
        f"| row | errors of {records[0]['words']} | WER % | against base, 95 % | frame accuracy % | cross-entropy "
        "| train s a fold |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for record in records:
        low, high = record["interval"]
        lines.append(
            f"| {record['name']} | {record['errors']} | {record['wer']:.2f} | {low:+.2f} to {high:+.2f} | "
            f"{record['frame_accuracy']:.1f} | {record['cross_entropy']:.3f} | {record['train_seconds']:.0f} |"
        )
    return "\n".join(lines)
