"""The common plot of the recipes: train mixtures and hybrids, tune on held-out speakers, decode the test, compare."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from asr.acoustic.gmm_training import Transform
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.decode.graph_compiler import compile_graph
from asr.experiments.combination import recognize_together
from asr.experiments.results import Kind, ResultRow, Unit, result_row
from asr.features.config import FeatureConfig
from asr.grammar import Grammar
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.recognition.decoder import recognize
from asr.recognition.input_network import AdaptationSettings, recognize_adapted
from asr.runs.run import Run
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
from asr.training.hybrid_stages import frame_accuracy, train_hybrid_system
from asr.training.tuning.folds import hold_out
from asr.training.tuning.search import tune_search
from asr.util.errors import Fault
from discriminants.parallel.workers import LocalWorkers, SerialWorkers, Workers

log = logging.getLogger(__name__)

MakeGrammars = Callable[[Dataset], Mapping[str, Grammar]]


@dataclass(frozen=True)
class MixtureSpecification:
    """A family of mixtures to be compared: what their names begin with, their frames, and which ones are shown.

    With `tied_states` they are of so many states of phones in context, and grow from the alignment by the last family
    of the phones' own states, whose frames they see, turned by `transform` if there is one (`TiedGmmSettings`). With
    `maps` they have the states of the family before them, and its frames mapped by speaker.
    """

    name: str
    features: FeatureConfig
    components: tuple[int, ...]
    tied_states: int = 0
    transform: Transform = "none"
    maps: bool = False

    def system(self, n_components: int) -> str:
        """`gmm-8` and the like."""
        return f"{self.name}-{n_components}"


@dataclass(frozen=True)
class HybridSpecification:
    """A hybrid to be compared: its name in tables, its classifier and its frames.

    Two with the same settings and frames are trained once, and one that only has a second stream more takes the other's
    classifier.
    """

    name: str
    settings: HybridSettings
    features: FeatureConfig
    kind: Kind = "discriminant"
    adaptation: AdaptationSettings | None = None
    """Adapts the model to every speaker whom it recognizes."""
    aligner: str = ""
    """The family of mixtures whose states it has, and the maps of speakers if there are any; unless given, the last of
    the phones' own states and unmapped frames."""
    tried: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """By name (letters, digits, "-" and "_"), parameters of the classifier that are tried in place of those in
    `settings`: the system is the one with the fewest errors of held-out speakers, over all grammars."""

    def candidates(self) -> list["HybridSpecification"]:
        """One specification for everything that is tried, with a name of its own; itself where nothing is."""
        if not self.tried:
            return [self]
        return [
            replace(
                self,
                name=f"{self.name}-{name}",
                settings=self.settings.model_copy(update={"parameters": {**self.settings.parameters, **parameters}}),
                tried={},
            )
            for name, parameters in self.tried.items()
        ]


@dataclass(frozen=True)
class System:
    """A system trained on all training material, with what held-out speakers said of its fold model.

    Where there is a development set, its speakers are the held-out ones and the system is its own fold model.

    Attributes
    ----------
    search : mapping of grammar name to SearchSettings
    held_out_errors : mapping of grammar name to int
        Word errors of the fold model, trained without the held-out speakers, on them.
    frame_accuracy : float or None
        Of the fold model on the held-out speakers' frames, in %; None for mixtures.
    """

    name: str
    kind: Kind
    trained: TrainedSystem
    search: Mapping[str, SearchSettings]
    held_out_errors: Mapping[str, int]
    frame_accuracy: float | None
    adaptation: AdaptationSettings | None = None
    in_context: bool = False
    """Whether its states depend on the neighbours of a phone."""
    chosen: str = ""
    """Which of the things that were tried it is, if there were several: the errors above had a part in that choice."""
    parts: tuple["System", ...] = ()
    """Whose confusion networks vote, if it is a combination; the rest is then that of the first, the errors apart."""


@dataclass(frozen=True)
class Decoded:
    """A test split decoded by one system under one grammar."""

    system: System
    grammar: str
    hypotheses: Mapping[str, tuple[str, ...]]
    references: Mapping[str, tuple[str, ...]]
    speakers: Mapping[str, str]
    cpu_seconds: float
    audio_seconds: float


def train_and_tune(
    context: TrainingContext,
    name: str,
    dataset: Dataset,
    mixtures: Sequence[MixtureSpecification],
    hybrids: Sequence[HybridSpecification],
    make_grammars: MakeGrammars,
    *,
    dev: Dataset | None = None,
) -> list[System]:
    """Train all systems; their search settings come from fold models trained without some of the speakers.

    With a development set they come from the systems themselves, on that set.

    Parameters
    ----------
    name : str
        Beginning of the names of the stages.
    mixtures : sequence of MixtureSpecification
        A hybrid is trained on the alignment by one of them, with its most components.
    make_grammars : callable
        Gives the grammars by name for training material: those that are estimated come from it alone.
    dev : Dataset, optional
        Utterances of speakers who are neither in `material` nor in a test set.
    """
    usual = _usual_aligner(mixtures)
    tried = [candidate for hybrid in hybrids for candidate in hybrid.candidates()]
    if dev is None:
        inner, held_out = hold_out(dataset, context.config.tuning.held_out, context.config.seed)
        fold_models, aligners = _train_all(context, f"{name}-tuning", inner, mixtures, tried)
        tuned = _tune_all(
            context, f"{name}-tuning", fold_models, tried, aligners, usual, held_out, make_grammars(inner)
        )
        chosen = _choose(hybrids, tuned)
        trained, _ = _train_all(context, name, dataset, mixtures, [one for one in tried if one.name in chosen.values()])
    else:
        trained, aligners = _train_all(context, name, dataset, mixtures, tried)
        tuned = _tune_all(context, f"{name}-tuning", trained, tried, aligners, usual, dev, make_grammars(dataset))
        chosen = _choose(hybrids, tuned)
    kinds: dict[str, Kind] = {hybrid.name: hybrid.kind for hybrid in hybrids}
    adaptations = _adaptations(hybrids)
    found = {family.system(n): family.system(n) for family in mixtures for n in family.components} | chosen
    return [
        System(
            system,
            kinds.get(system, "gmm"),
            trained[candidate],
            {grammar: SearchSettings(**value["search"]) for grammar, value in tuned[candidate]["grammars"].items()},
            {grammar: value["errors"] for grammar, value in tuned[candidate]["grammars"].items()},
            tuned[candidate]["frame_accuracy"],
            adaptations.get(system),
            tuned[candidate]["in_context"],
            candidate.removeprefix(f"{system}-") if candidate != system else "",
        )
        for system, candidate in found.items()
    ]


def _choose(hybrids: Sequence[HybridSpecification], tuned: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """For every hybrid the name of its candidate with the fewest errors; of several, the first."""
    chosen = {}
    for hybrid in hybrids:
        errors = {
            candidate.name: sum(value["errors"] for value in tuned[candidate.name]["grammars"].values())
            for candidate in hybrid.candidates()
        }
        chosen[hybrid.name] = min(errors, key=errors.__getitem__)
        if len(errors) > 1:
            every = ", ".join(f"{name} {count}" for name, count in errors.items())
            log.info("%s is %s; errors on held-out speakers: %s", hybrid.name, chosen[hybrid.name], every)
    return chosen


def _adaptations(hybrids: Sequence[HybridSpecification]) -> dict[str, AdaptationSettings]:
    return {hybrid.name: hybrid.adaptation for hybrid in hybrids if hybrid.adaptation is not None}


def choose_primary(systems: Iterable[System]) -> str:
    """Name of the discriminant with the fewest held-out errors over all grammars (and folds, if there are several)."""
    errors: dict[str, int] = {}
    for system in systems:
        if system.kind == "discriminant":
            errors[system.name] = errors.get(system.name, 0) + sum(system.held_out_errors.values())
    for name, count in errors.items():
        log.info("%s: %d errors on held-out speakers", name, count)
    return min(errors, key=lambda name: (errors[name], name))


def combined(
    context: TrainingContext, name: str, systems: Sequence[System], dev: Dataset, grammars: Mapping[str, Grammar]
) -> System:
    """Several systems as one, with the errors that it makes on the development set, and no choice made by them.

    Parameters
    ----------
    name : str
        Of the combination, and of its stage.
    systems : sequence of System
        The first gives everything that is not of all.
    """
    together = replace(
        systems[0],
        name=name,
        trained=replace(systems[0].trained, seconds=sum(system.trained.seconds for system in systems), curves={}),
        held_out_errors={},
        parts=tuple(systems),
    )

    def build(directory: Path) -> None:
        errors = {}
        for grammar_name, grammar in grammars.items():
            graphs = _graphs(context, grammar, [system.trained for system in systems])
            words, _, _ = _recognized(together, dev, graphs, grammar_name, context.workers)
            report = score_utterances(dev.references, words)
            errors[grammar_name] = report.errors
            log.info("%s, %s: %d errors, %.2f %% WER", name, grammar_name, report.errors, report.wer)
        (directory / "errors.json").write_text(json.dumps(errors, indent=1))

    directory = context.run.stage(f"{name}-held-out", build)
    return replace(together, held_out_errors=json.loads((directory / "errors.json").read_text()))


def decode_test(
    context: TrainingContext,
    name: str,
    systems: Sequence[System],
    test: Dataset,
    grammars: Mapping[str, Grammar],
) -> list[Decoded]:
    """Decode a test split with every system under every grammar, on one core or on a cluster; one stage each."""
    # The time of one core is that of one that nothing else keeps busy.
    workers = SerialWorkers() if isinstance(context.workers, LocalWorkers) else context.workers
    decoded = []
    for grammar_name, grammar in grammars.items():
        graphs = _graphs(context, grammar, [part.trained for system in systems for part in system.parts or (system,)])
        for system in systems:
            stage = f"{name}-decode-{system.name}-{grammar_name}"
            directory = context.run.stage(
                stage,
                partial(
                    _decode,
                    run=context.run,
                    system=system,
                    test=test,
                    graphs=graphs,
                    grammar=grammar_name,
                    workers=workers,
                ),
            )
            decoded.append(
                Decoded(
                    system,
                    grammar_name,
                    read_transcripts(directory / "hyp.txt"),
                    test.references,
                    test.utterance_speaker,
                    context.run.stage_time(stage).parts["decoding"],
                    test.seconds,
                )
            )
    return decoded


Graphs = Mapping[Topology, StateGraph]


def _graphs(context: TrainingContext, grammar: Grammar, systems: Iterable[TrainedSystem]) -> Graphs:
    """The graph of the grammar for the states of each system; one for all that have the same."""
    topologies = dict.fromkeys(system.topology for system in systems)
    return {topology: compile_graph(context.lexicon, grammar, topology) for topology in topologies}


def _decode(
    directory: Path, run: Run, system: System, test: Dataset, graphs: Graphs, grammar: str, workers: Workers
) -> None:
    words, failed, cpu_seconds = _recognized(system, test, graphs, grammar, workers)
    for utterance, fault in sorted(failed.items()):
        log.warning("%s: not decoded: %s", utterance, fault.reason)
    write_transcripts(directory / "hyp.txt", words)
    run.note_time("decoding", cpu_seconds)


def _recognized(
    system: System, test: Dataset, graphs: Graphs, grammar: str, workers: Workers
) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, Fault], float]:
    """Words, why some utterances have none, and the processor time."""
    if system.parts:
        parts = [(part.trained.load, part.search[grammar], graphs[part.trained.topology]) for part in system.parts]
        return recognize_together(parts, test, workers)
    model, search, graph = system.trained.load(), system.search[grammar], graphs[system.trained.topology]
    if system.adaptation is None:
        found = recognize(model, test.static, graph, search, workers=workers)
    else:
        found = recognize_adapted(model, test.static, graph, search, system.adaptation, workers=workers)
    return found.hypotheses, found.failed, found.cpu_seconds


def pool(parts: Sequence[Decoded]) -> tuple[ScoreReport, float]:
    """Score decoded parts of one test as one; returns the report and CPU seconds per second of audio."""
    report = score_utterances(
        {name: words for part in parts for name, words in part.references.items()},
        {name: words for part in parts for name, words in part.hypotheses.items()},
        speakers={name: speaker for part in parts for name, speaker in part.speakers.items()},
    )
    return report, sum(part.cpu_seconds for part in parts) / sum(part.audio_seconds for part in parts)


def pooled_row(
    parts: Sequence[Decoded], *, split: str, primary: str, unit: Unit = "mono"
) -> tuple[ResultRow, ScoreReport]:
    """The result row of one system under one grammar, pooled over the folds of a split."""
    report, rtf = pool(parts)
    first = parts[0].system
    accuracies = [part.system.frame_accuracy for part in parts if part.system.frame_accuracy is not None]
    row = result_row(
        report,
        system=first.name,
        kind=first.kind,
        unit="tri" if first.in_context else unit,
        primary=first.name == primary,
        grammar=parts[0].grammar,
        split=split,
        decode_rtf=rtf,
        train_seconds=sum(part.system.trained.seconds for part in parts),
        frame_accuracy=sum(accuracies) / len(accuracies) if accuracies else None,
    )
    return row, report


def _train_all(
    context: TrainingContext,
    name: str,
    dataset: Dataset,
    mixtures: Sequence[MixtureSpecification],
    hybrids: Sequence[HybridSpecification],
) -> tuple[dict[str, TrainedSystem], dict[str, TrainedSystem]]:
    """All systems by name, and by family the mixtures that align for hybrids."""
    trained: dict[str, TrainedSystem] = {}
    aligners: dict[str, AlignedGmms] = {}
    for number, family in enumerate(mixtures):
        stage = f"{name}-{family.name}"
        if family.maps:
            grown = train_mapped_mixtures(context, stage, dataset, aligners[mixtures[number - 1].name])
        elif family.tied_states:
            settings = context.config.tied_gmm.model_copy(update={"transform": family.transform})
            config = context.config.model_copy(update={"tied_states": family.tied_states, "tied_gmm": settings})
            first = aligners[_usual_aligner(mixtures[:number])]
            grown = train_tied_mixtures(replace(context, config=config), stage, dataset, first)
        else:
            grown = train_mixtures(context, stage, dataset, family.features)
        aligners[family.name] = grown
        trained |= {family.system(n): grown.models[n] for n in family.components}
    for number, hybrid in enumerate(hybrids):
        before = hybrids[:number]
        fold_model = _same_frames_and(hybrid.settings, hybrid, before)
        one_stream = one_stream_of(hybrid, before)
        trained[hybrid.name] = (
            train_hybrid_system(
                context,
                f"{name}-{hybrid.name}",
                dataset,
                aligners[hybrid.aligner or _usual_aligner(mixtures)],
                hybrid.settings,
                hybrid.features,
                one_stream=None if one_stream is None else trained[one_stream],
            )
            if fold_model is None
            else trained[fold_model]
        )
    return trained, {family: found.largest for family, found in aligners.items()}


def _usual_aligner(mixtures: Sequence[MixtureSpecification]) -> str:
    """Name of the last family of the phones' own states and unmapped frames."""
    return [family.name for family in mixtures if not (family.tied_states or family.maps)][-1]


def one_stream_of(hybrid: HybridSpecification, before: Sequence[HybridSpecification]) -> str | None:
    """Name of an earlier hybrid that only lacks this one's second stream, so that its classifier serves both."""
    return _same_frames_and(hybrid.settings.one_stream, hybrid, before)


def _same_frames_and(
    settings: HybridSettings, hybrid: HybridSpecification, before: Sequence[HybridSpecification]
) -> str | None:
    return next(
        (
            first.name
            for first in before
            if (first.features, first.aligner, first.settings) == (hybrid.features, hybrid.aligner, settings)
        ),
        None,
    )


def _tune_all(
    context: TrainingContext,
    name: str,
    fold_models: Mapping[str, TrainedSystem],
    hybrids: Sequence[HybridSpecification],
    aligners: Mapping[str, TrainedSystem],
    usual: str,
    held_out: Dataset,
    grammars: Mapping[str, Grammar],
) -> dict[str, dict[str, Any]]:
    adaptations = _adaptations(hybrids)
    aligner_of = {hybrid.name: hybrid.aligner or usual for hybrid in hybrids}
    stage = f"{name}-search"

    def build(directory: Path) -> None:
        graphs = {name: _graphs(context, grammar, fold_models.values()) for name, grammar in grammars.items()}
        states = {
            aligner: aligned_states(context, aligners[aligner], held_out)
            for aligner in dict.fromkeys(aligner_of.values())
        }
        record = {}
        for system, fold_model in fold_models.items():
            model = fold_model.load()
            by_grammar = {}
            for grammar_name, by_topology in graphs.items():
                graph = by_topology[fold_model.topology]
                kept = context.run.checkpoint(stage)
                tuned = tune_search(model, held_out, graph, context.config.tuning, workers=context.workers, kept=kept)
                search, errors, wer = tuned.search, tuned.report.errors, tuned.report.wer
                if system in adaptations:
                    adapted = recognize_adapted(
                        model, held_out.static, graph, search, adaptations[system], workers=context.workers
                    )
                    report = score_utterances(held_out.references, adapted.hypotheses)
                    errors, wer = report.errors, report.wer
                log.info(
                    "%s, %s: scale %g, penalty %g; %d errors, %.2f %% WER on held-out speakers",
                    system, grammar_name, search.lm_scale, search.insertion_penalty, errors, wer,
                )  # fmt: skip
                by_grammar[grammar_name] = {"search": search.model_dump(), "errors": errors, "wer": wer}
            record[system] = {
                "grammars": by_grammar,
                "in_context": model.hmm.topology.tying is not None,
                "frame_accuracy": frame_accuracy(model, held_out, states[aligner_of[system]])
                if system in aligner_of
                else None,
            }
        (directory / "tuned.json").write_text(json.dumps(record, indent=1))

    directory = context.run.stage(stage, build)
    return json.loads((directory / "tuned.json").read_text())
