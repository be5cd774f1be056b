"""Table 4.2 of Andelić (2007) on 100 real utterances of Resource Management with given states, phones as words.

    python -m recipes.rm1.sample --data-dir DIR --work-dir W [--jobs N]

DIR is read by `recipes.rm1.sample_data`. The systems of `recipes.systems.table_4_2` and the one-vs-rest systems of
`recipes.rm1` are trained on the given states, without realignment. The frame error compares the most probable state,
by posterior, with the given one. The phone error uses a loop of all phones with a bigram of the training phones and
optional silence between them. Silence does not count as a phone. Language-model scale and penalty are chosen with fold
models, trained without held-out speakers. Kernel widths are those of `table_4_2`, chosen earlier on held-out training
speakers of this set.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SearchSettings, SpeechModel, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.decode.graph_compiler import compile_graph
from asr.features.frontend import FrontEnd
from asr.grammar.arpa_automaton import arpa_grammar
from asr.grammar.ngram import estimate_ngram
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import count_transitions, estimate_self_loops
from asr.recognition.decoder import recognize
from asr.runs.run import Run
from asr.runs.workers import open_workers
from asr.scoring.wer import score_utterances
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from asr.training.gmm_stages import AlignedGmms, TrainedSystem, TrainingContext
from asr.training.hybrid_stages import train_hybrid_system
from asr.training.tuning.folds import hold_out
from asr.training.tuning.search import FoldScores, tune
from asr.util.errors import ConfigError
from discriminants.util.blas_threads import one_blas_thread
from recipes.recipe import parse_arguments, run_recipe
from recipes.rm1.__main__ import kernel_logistic
from recipes.rm1.cepstra import FEATURES
from recipes.rm1.sample_data import Labelled, read_sample
from recipes.rm1.sample_report import Scored, frame_report, print_rows, verdicts, write_rows
from recipes.specifications import HybridSpecification, MixtureSpecification, one_stream_of
from recipes.systems import COMPONENTS, table_4_2

log = logging.getLogger("recipes.rm1.sample")

CONFIG = TrainingConfig(
    features=FEATURES,
    gmm_search=SearchSettings(lm_scale=4.0, max_active=2000),
    hybrid_search=SearchSettings(lm_scale=2.0, max_active=2000),
    tuning=TuningSettings(held_out=0.2),
)


def systems() -> tuple[MixtureSpecification, tuple[HybridSpecification, ...]]:
    """Return the mixtures and hybrids to compare."""
    (mixtures,), hybrids = table_4_2(FEATURES)
    spliced = FEATURES.model_copy(update={"normalize": "speaker", "context": 7, "lda_dimension": 60})
    ours = (
        HybridSpecification("ovr", kernel_logistic("ovr"), spliced),
        HybridSpecification("ovr-gmm", kernel_logistic("ovr", mixtures=COMPONENTS), spliced),
    )
    return mixtures, (*hybrids, *ours)


def train_on_states(
    shop: TrainingContext, prefix: str, data: Labelled, part: Dataset, mixtures: MixtureSpecification
) -> AlignedGmms:
    """Run stage `PREFIX-gmm-N`: train mixtures on the given states of these utterances."""
    states, n_components = data.states_of(part), max(mixtures.components)
    counts = [count_transitions(data.states[name], shop.topology) for name in part.static.ids]

    def build(directory: Path) -> None:
        front_end = FrontEnd(mixtures.features).fit(part.static)
        frames = front_end.transform(part.static).frames
        grown = mixtures_of_states(frames, states, shop.topology.n_states, n_components, workers=shop.workers)
        hmm = PhoneHmm(shop.topology, grown, estimate_self_loops(*np.sum(counts, axis=0)))
        model = SpeechModel(hmm, front_end, shop.lexicon, shop.config.gmm_search, shop.source)
        save_model(directory / "gmm.safetensors", model)

    name = f"{prefix}-{mixtures.system(n_components)}"
    directory = shop.run.stage(name, build)
    trained = TrainedSystem(directory / "gmm.safetensors", shop.run.stage_time(name).wall, {})
    return AlignedGmms({n_components: trained}, states, {})


def phone_loop(shop: TrainingContext, part: Dataset) -> StateGraph:
    """Build the graph of all phones with a bigram of these utterances' phones."""
    model = estimate_ngram(part.references.values(), 2, vocabulary=shop.lexicon.phones)
    return compile_graph(shop.lexicon, arpa_grammar(model), shop.topology)


def choose_search(
    shop: TrainingContext, name: str, fold_model: TrainedSystem, held_out: Dataset, graph: StateGraph
) -> SearchSettings:
    """Run stage `search-NAME`: choose scale and penalty of the fold model with the fewest errors on held-out
    speakers.
    """

    def build(directory: Path) -> None:
        tuned = tune([FoldScores.of(fold_model.load(), held_out, graph, shop.workers)], shop.config.tuning)
        search, wrong = tuned.search, tuned.report.wer
        log.info(
            "%s: scale %g, penalty %g; %.1f %% phone error on held-out speakers",
            name, search.lm_scale, search.insertion_penalty, wrong,
        )  # fmt: skip
        for remark in tuned.remarks:
            log.warning("%s: %s", name, remark)
        (directory / "search.json").write_text(search.model_dump_json(), encoding="utf-8")

    directory = shop.run.stage(f"search-{name}", build)
    return SearchSettings.model_validate_json((directory / "search.json").read_text(encoding="utf-8"))


def log_posteriors(model: SpeechModel, frames: np.ndarray, log_priors: np.ndarray) -> np.ndarray:
    """Compute log posteriors of all states up to a constant, (n_frames, n_states); mixtures use the state priors."""
    acoustic = model.hmm.acoustic_model
    if isinstance(acoustic, HybridAcousticModel):
        return acoustic.log_posterior(frames)
    return acoustic.log_likelihood(frames) + log_priors


def state_shares(shop: TrainingContext, states: np.ndarray) -> np.ndarray:
    """Return the natural log of state priors, float32 (n_states,); each count is raised by one for unseen states."""
    counts = np.bincount(states, minlength=shop.topology.n_states) + 1
    return np.log(counts / counts.sum()).astype(np.float32)


def test(
    shop: TrainingContext, name: str, trained: TrainedSystem, search: SearchSettings, data: Labelled, graph: StateGraph,
    log_priors: np.ndarray,
) -> Scored:  # fmt: skip
    """Run stage `test-NAME`: count wrong frames and recognize phones of every test utterance."""
    dataset = data.dataset

    def build(directory: Path) -> None:
        model = trained.load()
        with one_blas_thread():
            table = model.front_end.transform(dataset.static)
            log_posteriors(model, table.frames[:100], log_priors)  # trigger compilation
            started = time.process_time()
            best = log_posteriors(model, table.frames, log_priors).argmax(axis=1)
            shop.run.note_time("scoring", time.process_time() - started)
        wrong = {key: int((best[table.rows(key)] != data.states[key]).sum()) for key in table.ids}
        found = recognize(model, dataset.static, graph, search, workers=shop.workers)
        for key, fault in sorted(found.failed.items()):
            log.warning("%s: not decoded: %s", key, fault.message)
        record = {"wrong_frames": wrong, "phones": found.hypotheses}
        (directory / "test.json").write_text(json.dumps(record, sort_keys=True), encoding="utf-8")

    directory = shop.run.stage(f"test-{name}", build)
    record = json.loads((directory / "test.json").read_text(encoding="utf-8"))
    scoring = max(1e-3, shop.run.stage_time(f"test-{name}").parts["scoring"])  # times are stored in milliseconds
    scored = Scored(
        name,
        frame_report(dataset, record["wrong_frames"]),
        score_utterances(dataset.references, record["phones"], speakers=dataset.utterance_speaker),
        trained.seconds,
        dataset.static.n_frames / scoring,
        search,
    )
    log.info("%s: %.1f %% of the frames wrong, %.1f %% phone error", name, scored.frames.wer, scored.phones.wer)
    return scored


def options(group: argparse._ArgumentGroup) -> None:
    """Add the options specific to this recipe."""
    group.add_argument("--data-dir", type=Path, required=True, help="folder of the cepstra, states and phones")


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", needs_corpus=False, options=options)
    if arguments.cluster is not None:
        raise ConfigError("--cluster is not useful for 100 utterances. Use --jobs")
    lexicon, data = read_sample(arguments.given["data_dir"])
    mixtures, hybrids = systems()
    configuration = {
        "training": CONFIG.model_dump(mode="json"),
        "mixtures": [mixtures.name, list(mixtures.components)],
        "hybrids": {
            hybrid.name: [hybrid.settings.model_dump(mode="json"), hybrid.features.model_dump(mode="json")]
            for hybrid in hybrids
        },
    }
    inputs = {"lexicon": lexicon.digest(), **{split: labelled.digest() for split, labelled in data.items()}}
    with (
        open_workers(arguments.jobs) as workers,
        Run.open(
            arguments.work_dir,
            command=sys.argv,
            configuration=configuration,
            inputs=inputs,
            seed=CONFIG.seed,
            rebuild_changed=arguments.rebuild_changed,
        ) as run,
    ):
        scored = compare(TrainingContext(run, lexicon, CONFIG, "archive", workers), data, mixtures, hybrids)
    write_rows(arguments.work_dir / "results.json", scored)
    print_rows(scored)
    print("\n".join(("", *verdicts(scored))))


def compare(
    shop: TrainingContext,
    data: Mapping[str, Labelled],
    mixtures: MixtureSpecification,
    hybrids: Sequence[HybridSpecification],
) -> list[Scored]:
    """Evaluate each system: train a fold model, choose its search settings, train the system and test it."""
    everything = data["train"].dataset
    inner, held_out = hold_out(everything, shop.config.tuning.held_out, shop.config.seed)
    log.info("%d of %d training speakers are held out", len(held_out.speakers), len(everything.speakers))
    inner_loop, loop = phone_loop(shop, inner), phone_loop(shop, everything)
    log_priors = state_shares(shop, data["train"].states_of(everything))
    parts = {"fold": inner, "all": everything}
    given = {prefix: train_on_states(shop, prefix, data["train"], part, mixtures) for prefix, part in parts.items()}

    def met(name: str, fold_model: TrainedSystem, trained: TrainedSystem) -> Scored:
        search = choose_search(shop, name, fold_model, held_out, inner_loop)
        return test(shop, name, trained, search, data["test"], loop, log_priors)

    scored = [met(mixtures.system(max(mixtures.components)), given["fold"].largest, given["all"].largest)]
    trained: dict[tuple[str, str], TrainedSystem] = {}
    for number, hybrid in enumerate(hybrids):
        one_stream = one_stream_of(hybrid, hybrids[:number])
        for prefix, part in parts.items():
            trained[prefix, hybrid.name] = train_hybrid_system(
                shop,
                f"{prefix}-{hybrid.name}",
                part,
                given[prefix],
                hybrid.settings,
                hybrid.features,
                one_stream=None if one_stream is None else trained[prefix, one_stream],
            )
        scored.append(met(hybrid.name, *(trained[prefix, hybrid.name] for prefix in parts)))
    return scored


if __name__ == "__main__":
    run_recipe(main)
