"""What each part of the hybrid is worth on AN4: five-fold cross-validation over the training speakers.

    python -m recipes.an4.ablation --corpus-dir DIR --work-dir W [--rows NAME ...]

Every row changes one thing of the base. In each fold mixtures and hybrid are trained without a fifth of the speakers
and recognise them with the bigram of the other speakers' transcripts; errors are summed over all 5442 words, at the
one pair of scale and penalty that is best for the row. The test set is not read. `W/ablation.json` and the table on
standard output are written anew after every row.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.corpus.data_directory import read_data_directory
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.files import atomic_write
from asr.grammar import arpa_grammar, estimate_ngram
from asr.hmm.state_graph import StateGraph
from asr.lexicon import read_lexicon
from asr.recipe.config import TrainingConfig
from asr.recipe.material import Material, build_static, load_material, trainable
from asr.recipe.recognition import BATCH_FRAMES
from asr.recipe.run import Run
from asr.recipe.story import run_recipe
from asr.recipe.systems import Mixtures, Workshop, aligned_states, train_hybrid_system, train_mixtures
from asr.recipe.tuning import score_batch, search_batch
from asr.recipe.workers import open_workers
from asr.score.bootstrap import compare_systems
from asr.score.files import read_transcripts, write_transcripts
from asr.score.wer import ScoreReport, score_utterances
from discriminants.parallel.threads import in_threads
from recipes.an4.__main__ import BY_SPEAKER, FEATURES

log = logging.getLogger(__name__)

N_FOLDS = 5
ALIGNER = BY_SPEAKER
CONFIG = TrainingConfig(features=FEATURES)
SEARCHES = ((3.0, -4.0), (4.5, -4.0), (6.5, -4.0))  # language-model scales and insertion penalties
BEAM = 60.0

CENTRES = {"n_centers": 1000, "n_candidates": 2000}
PASSES = {"max_iter": 4}
PRIOR_EXPONENT = 0.7
BASE = HybridSettings(classifier="kernel-logistic", parameters={**CENTRES, **PASSES, "loss": "ovr"}, warps=())
PERCEPTRON = {"hidden_layer_sizes": [512], "batch_size": 512}
FRAMES = BY_SPEAKER.model_copy(update={"context": 7, "lda_dimension": 60})


@dataclass(frozen=True)
class Row:
    """One model of the table: what differs from the base.

    Attributes
    ----------
    settings, parameters, frames : mappings
        Changed settings of the hybrid, parameters of its classifier and settings of its frames.
    average : int
        Models with different dictionaries whose posteriors are averaged.
    prior_exponent : float
        The same trained models serve all exponents.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    frames: Mapping[str, Any] = field(default_factory=dict)
    average: int = 1
    prior_exponent: float = PRIOR_EXPONENT

    def hybrid(self, number: int) -> HybridSettings:
        """Settings of the model with this number among those that are averaged."""
        parameters = {**BASE.parameters, **self.parameters}
        if "classifier" in self.settings:
            parameters = dict(self.parameters)
        if number:
            parameters["random_state"] = number
        return BASE.model_copy(update={"parameters": parameters, **self.settings})

    @property
    def features(self) -> FeatureConfig:
        """Settings of the frames."""
        return FeatureConfig.model_validate({**FRAMES.model_dump(), **self.frames})

    def stage(self, number: int) -> str:
        """Name for the model with this number, another for other settings."""
        text = self.hybrid(number).model_dump_json() + self.features.model_dump_json()
        return f"model-{sha256(text.encode()).hexdigest()[:12]}"


ROWS = (
    Row("base"),
    Row("squared loss", {"classifier": "orols"}, CENTRES),
    Row("multinomial loss", parameters={"loss": "multinomial"}),
    Row("random centres", parameters={"selection": "random"}),
    Row("500 centres", parameters={"n_centers": 500, "n_candidates": 1000}),
    Row("2000 centres", parameters={"n_centers": 2000, "n_candidates": 4000}),
    Row("4000 centres", parameters={"n_centers": 4000, "n_candidates": 8000}),
    Row("8 passes", parameters={"max_iter": 8}),
    Row("width 6", parameters={"sigma": 6.0}),
    Row("width 13", parameters={"sigma": 13.0}),
    Row("ridge 1e-6", parameters={"alpha": 1e-6}),
    Row("ridge 1e-8", parameters={"alpha": 1e-8}),
    Row("context 3, LDA 40", frames={"context": 3, "lda_dimension": 40}),
    Row("context 5", frames={"context": 5}),
    Row("context 9", frames={"context": 9}),
    Row("LDA 40", frames={"lda_dimension": 40}),
    Row("no splicing, no LDA", frames={"context": 0, "lda_dimension": None}),
    Row("normalised over the corpus", frames={"normalise": "corpus"}),
    Row("normalised by utterance", frames={"normalise": "utterance"}),
    Row("warps 0.92, 1.08", {"warps": (0.92, 1.08)}),
    Row("warps 0.88 to 1.12", {"warps": (0.88, 0.94, 1.06, 1.12)}),
    Row("prior exponent 0.3", prior_exponent=0.3),
    Row("prior exponent 0.5", prior_exponent=0.5),
    Row("prior exponent 1", prior_exponent=1.0),
    Row("one realignment", {"realignments": 1}),
    Row("two realignments", {"realignments": 2}),
    Row("two models averaged", average=2),
    Row("second stream, 16 Gaussians", {"mixtures": 16}),
    Row("second stream, 32 Gaussians", {"mixtures": 32}),
    Row("perceptron (512), 4 passes", {"classifier": "mlp"}, {**PERCEPTRON, "max_iter": 4}),
    Row("perceptron (512), 8 passes", {"classifier": "mlp"}, {**PERCEPTRON, "max_iter": 8}),
    Row(
        "2000 centres, warps 0.92, 1.08",
        {"warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000},
    ),
    Row(
        "2000 centres, warps, 32 Gaussians",
        {"warps": (0.92, 1.08), "mixtures": 32},
        {"n_centers": 2000, "n_candidates": 4000},
    ),
    Row(
        "2000 centres, warps, multinomial",
        {"warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000, "loss": "multinomial"},
    ),
    Row(
        "2000 centres, warps, two averaged",
        {"warps": (0.92, 1.08)},
        {"n_centers": 2000, "n_candidates": 4000},
        average=2,
    ),
)


@dataclass(frozen=True)
class Fold:
    """Training speakers, their mixtures and alignment; held-out speakers, their alignment and grammar."""

    name: str
    inner: Material
    mixtures: Mixtures
    held_out: Material
    states: np.ndarray
    graph: StateGraph


@dataclass(frozen=True)
class Average:
    """Hybrids of the same states and frames as one: the mean of their posteriors."""

    models: Sequence[HybridAcousticModel]
    prior_exponent: float

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        """log of the mean of P(s|x), float32 (n_frames, n_states)."""
        total = self.models[0].log_posterior(frames)
        for model in self.models[1:]:
            np.logaddexp(total, model.log_posterior(frames), out=total)
        return total - np.float32(np.log(len(self.models)))

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Scaled log-likelihoods, float32 (n_frames, n_states)."""
        return self.log_posterior(frames) - np.float32(self.prior_exponent) * self.models[0].log_priors


def make_fold(workshop: Workshop, number: int, material: Material) -> Fold:
    """Stages of one fold that all rows share."""
    name = f"fold{number}"
    speakers = np.random.default_rng(CONFIG.seed).permutation(material.speakers)[number::N_FOLDS].tolist()
    held_out = material.of_speakers(speakers)
    inner = material.of_speakers(set(material.speakers) - set(speakers))
    mixtures = train_mixtures(workshop, f"{name}-gmm", inner, ALIGNER)

    def build(directory: Path) -> None:
        np.save(directory / "states.npy", aligned_states(workshop, mixtures.largest, held_out))

    states = np.load(workshop.run.stage(f"{name}-held-out", build) / "states.npy", allow_pickle=False)
    bigram = estimate_ngram(inner.references.values(), 2, vocabulary=workshop.lexicon.words)
    graph = compile_graph(workshop.lexicon, arpa_grammar(bigram), workshop.topology)
    return Fold(name, inner, mixtures, held_out, states, graph)


def recognise_fold(workshop: Workshop, fold: Fold, row: Row) -> Path:
    """Stage: the models of a row in one fold, their held-out cross-entropy and what they recognise in every search."""
    trained = [
        train_hybrid_system(
            workshop, f"{fold.name}-{row.stage(n)}", fold.inner, fold.mixtures, row.hybrid(n), row.features
        )
        for n in range(row.average)
    ]

    def build(directory: Path) -> None:
        models = [one.load() for one in trained]
        model = models[0]
        hybrids = [m.hmm.acoustic_model for m in models if isinstance(m.hmm.acoustic_model, HybridAcousticModel)]
        acoustic = Average(hybrids, row.prior_exponent)
        hmm = PhoneHmm(model.hmm.topology, acoustic, model.hmm.self_loops)
        model = SpeechModel(hmm, model.front_end, model.lexicon, model.search, model.source)
        posteriors = acoustic.log_posterior(model.front_end.transform(fold.held_out.static).frames)
        used = np.flatnonzero(fold.states >= 0)
        record = {
            "frames": len(used),
            "loss": -float(posteriors[used, fold.states[used]].sum(dtype=np.float64)),
            "correct": int((posteriors[used].argmax(axis=1) == fold.states[used]).sum()),
            "seconds": sum(one.seconds for one in trained),
        }
        (directory / "frames.json").write_text(json.dumps(record))
        for number, hypotheses in enumerate(recognise_all(workshop, fold, model)):
            write_transcripts(directory / f"hyp-{number}.txt", hypotheses)

    exponent = f"{row.prior_exponent:g}".replace(".", "_")
    name = f"{fold.name}-{row.stage(0)}-{row.average}-{exponent}-searches"
    return workshop.run.stage(name, build)


def recognise_all(workshop: Workshop, fold: Fold, model: SpeechModel) -> list[dict[str, list[str]]]:
    """Words of every held-out utterance in every search; frames are scored once."""
    batches = model.front_end.transform(fold.held_out.static).batches(BATCH_FRAMES)
    workers = in_threads(workshop.workers)
    shared = workers.share((model.hmm, fold.graph))
    searches = [
        model.search.model_copy(update={"lm_scale": lm_scale, "insertion_penalty": penalty, "beam": BEAM})
        for lm_scale, penalty in SEARCHES
    ]
    hypotheses: list[dict[str, list[str]]] = [{} for _ in searches]
    scores = workers.map(score_batch, batches, shared)
    for batch, found in zip(batches, workers.map(search_batch, scores, shared, searches), strict=True):
        for of_search, words in zip(hypotheses, found, strict=True):
            of_search.update(zip(batch.ids, words, strict=True))
    return hypotheses


def measure(workshop: Workshop, folds: Sequence[Fold], row: Row) -> tuple[dict[str, Any], ScoreReport]:
    """Figures of a row over all folds, and its words scored at the best of the searches."""
    directories = [recognise_fold(workshop, fold, row) for fold in folds]
    references = {name: words for fold in folds for name, words in fold.held_out.references.items()}
    speakers = {name: speaker for fold in folds for name, speaker in fold.held_out.utterance_speaker.items()}
    reports = []
    for number in range(len(SEARCHES)):
        hypotheses: dict[str, tuple[str, ...]] = {}
        for directory in directories:
            hypotheses |= read_transcripts(directory / f"hyp-{number}.txt")
        reports.append(score_utterances(references, hypotheses, speakers=speakers))
    best = min(range(len(SEARCHES)), key=lambda number: reports[number].errors)
    frames = [json.loads((directory / "frames.json").read_text()) for directory in directories]
    n_frames = sum(part["frames"] for part in frames)
    return {
        "name": row.name,
        "errors": reports[best].errors,
        "wer": reports[best].wer,
        "lm_scale": SEARCHES[best][0],
        "insertion_penalty": SEARCHES[best][1],
        "cross_entropy": sum(part["loss"] for part in frames) / n_frames,
        "frame_accuracy": 100.0 * sum(part["correct"] for part in frames) / n_frames,
        "train_seconds": sum(part["seconds"] for part in frames) / len(frames),
    }, reports[best]


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Markdown, one line a row."""
    lines = [
        "| row | errors of 5442 | WER % | against base, 95 % | frame accuracy % | cross-entropy | train s a fold |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for record in records:
        low, high = record["interval"]
        lines.append(
            f"| {record['name']} | {record['errors']} | {record['wer']:.2f} | {low:+.2f} to {high:+.2f} | "
            f"{record['frame_accuracy']:.1f} | {record['cross_entropy']:.3f} | {record['train_seconds']:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure the rows asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus-dir", type=Path, required=True, help="folder of the corpus")
    parser.add_argument("--work-dir", type=Path, required=True, help="where stages and tables are kept")
    names = [row.name for row in ROWS]
    parser.add_argument(
        "--rows", nargs="+", choices=names, default=names, metavar="NAME", help=f"of: {'; '.join(names)}"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes to work in")
    parser.add_argument("--cluster", metavar="tcp://HOST:PORT", help="work on this dask scheduler's machines instead")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    lexicon = read_lexicon(arguments.corpus_dir / "lexicon.txt")
    corpus, _ = trainable(read_data_directory(arguments.corpus_dir / "train"), lexicon)
    with (
        open_workers(arguments.jobs, arguments.cluster) as workers,
        Run.open(
            arguments.work_dir,
            command=sys.argv,
            configuration=CONFIG.model_dump(mode="json"),
            inputs={"train": corpus.digest(), "lexicon": lexicon.digest()},
            seed=CONFIG.seed,
        ) as run,
    ):
        workshop = Workshop(run, lexicon, CONFIG, "archive", workers)
        features = run.stage("features", lambda directory: build_static(directory, corpus, FEATURES, workers=workers))
        material = load_material(features, corpus, FEATURES)
        folds = [make_fold(workshop, number, material) for number in range(N_FOLDS)]
        base: ScoreReport | None = None
        records = []
        for row in sorted((row for row in ROWS if row.name in arguments.rows), key=lambda row: row.name != "base"):
            record, report = measure(workshop, folds, row)
            base = report if base is None else base
            difference = compare_systems(report, base, unit="speaker").difference
            records.append({**record, "interval": [difference.low, difference.high]})
            log.info("%s: %d errors, %.2f %% WER", row.name, record["errors"], record["wer"])
            with atomic_write(arguments.work_dir / "ablation.json") as temporary:
                temporary.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        print(table(records))


if __name__ == "__main__":
    run_recipe(main)
