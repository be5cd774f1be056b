"""Shared steps of the recipes: train mixtures and hybrids, tune on held-out speakers, decode the test set, compare."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from asr.acoustic.model_file import SearchSettings
from asr.decode.graph_compiler import compile_graph
from asr.grammar import Grammar
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.recognition.decoder import recognize
from asr.recognition.input_network import AdaptationSettings, recognize_adapted
from asr.runs.log import LOG
from asr.runs.run import Run
from asr.scoring.files import read_transcripts, write_transcripts
from asr.scoring.fold import folded_transcripts
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.aligner_stages import realigned, train_first_mixtures, train_mapped_mixtures
from asr.training.dataset import Dataset
from asr.training.gmm_stages import (
    AlignedGmms,
    TrainedSystem,
    TrainingContext,
    aligned_states,
    train_tied_mixtures,
)
from asr.training.hybrid_stages import frame_accuracy, train_hybrid_system
from asr.training.tuning.folds import hold_out
from asr.training.tuning.search import FoldScores, tune
from asr.util.counted_text import count
from asr.util.errors import Issue
from discriminants.parallel.workers import LocalWorkers, SerialWorkers, Workers
from recipes.combination import recognize_together
from recipes.results import Kind, ResultRow, Unit, result_row
from recipes.specifications import HybridSpecification, MixtureSpecification, one_stream_of, same_frames_and

log = logging.getLogger(__name__)

MakeGrammars = Callable[[Dataset], Mapping[str, Grammar]]


@dataclass(frozen=True)
class System:
    """A system trained on all training material, with the results of its fold model for held-out speakers.

    With a development set, its speakers are the held-out ones and the system is its own fold model.
    """

    name: str
    kind: Kind
    trained: TrainedSystem
    search: Mapping[str, SearchSettings]  # by name of the grammar
    held_out_errors: Mapping[str, int]
    """Word errors of the fold model on the held-out speakers, by name of the grammar."""
    frame_accuracy: float | None  # in %, of the fold model on held-out speakers; None for mixtures
    adaptation: AdaptationSettings | None = None
    in_context: bool = False
    """Whether its states are context-dependent."""
    chosen: str = ""
    """Chosen alternative, if there were several; the errors above are then biased by the choice."""
    parts: tuple["System", ...] = ()
    """Systems of a combination; other fields except the errors are those of the first."""


@dataclass(frozen=True)
class Decoded:
    """A test split decoded by one system with one grammar."""

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
    fold: Mapping[str, str] = MappingProxyType({}),
) -> list[System]:
    """Train all systems; tune their search on fold models, trained without the held-out speakers.

    With a development set, the systems are tuned on it directly.

    Parameters
    ----------
    name : str
        Prefix of the names of stages.
    mixtures : sequence of MixtureSpecification
        A hybrid is trained on the alignment by one of them, with its most components.
    make_grammars : callable
        Returns grammars by name; estimated ones must use only the given training material.
    dev : Dataset, optional
        Utterances of speakers who are neither in `dataset` nor in a test set.
    fold : mapping of str to str
        Classes of words for counting errors (`asr.scoring.fold`).
    """
    usual, tuning = _usual_aligner(mixtures), f"{name}-tuning"
    tried = [candidate for hybrid in hybrids for candidate in hybrid.candidates()]
    if dev is None:
        inner, held_out = hold_out(dataset, context.config.tuning.held_out, context.config.seed)
        trained, aligners = _train_all(replace(context, of_fold=True), tuning, inner, mixtures, tried)
        n_models, n_held_out = count(len(trained), "model"), count(len(held_out.speakers), "speaker")
        log.info("%s: %s trained without %s", tuning, n_models, n_held_out)
    else:
        inner, held_out = dataset, dev
        trained, aligners = _train_all(context, name, dataset, mixtures, tried)
    tuned = _tune_all(context, tuning, trained, tried, aligners, usual, held_out, make_grammars(inner), fold)
    chosen = _choose(hybrids, tuned)
    if dev is None:
        trained, _ = _train_all(context, name, dataset, mixtures, [one for one in tried if one.name in chosen.values()])
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
    """Return the name of each hybrid's alternative with the fewest errors, the first in a tie."""
    chosen = {}
    for hybrid in hybrids:
        errors = {
            candidate.name: sum(value["errors"] for value in tuned[candidate.name]["grammars"].values())
            for candidate in hybrid.candidates()
        }
        chosen[hybrid.name] = min(errors, key=errors.__getitem__)
        if len(errors) > 1:
            every = ", ".join(f"{name} {n}" for name, n in errors.items())
            log.info("%s is %s; errors on held-out speakers: %s", hybrid.name, chosen[hybrid.name], every)
    return chosen


def _adaptations(hybrids: Sequence[HybridSpecification]) -> dict[str, AdaptationSettings]:
    return {hybrid.name: hybrid.adaptation for hybrid in hybrids if hybrid.adaptation is not None}


def choose_primary(systems: Iterable[System]) -> str:
    """Return the name of the discriminant with the fewest held-out errors over all grammars and folds."""
    errors: dict[str, int] = {}
    for system in systems:
        if system.kind == "discriminant":
            errors[system.name] = errors.get(system.name, 0) + sum(system.held_out_errors.values())
    for name, n_errors in errors.items():
        log.debug("%s: %d errors on held-out speakers", name, n_errors)
    return min(errors, key=lambda name: (errors[name], name))


def combined(
    context: TrainingContext, name: str, systems: Sequence[System], dev: Dataset, grammars: Mapping[str, Grammar]
) -> System:
    """Return a combination of systems with its errors on the development set, which are not used for a choice.

    Parameters
    ----------
    name : str
        Name of the combination and its stage.
    systems : sequence of System
        The first gives the other fields.
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

    directory = context.stage(f"{name}-held-out", build)
    return replace(together, held_out_errors=json.loads((directory / "errors.json").read_text()))


def decode_test(
    context: TrainingContext,
    name: str,
    systems: Sequence[System],
    test: Dataset,
    grammars: Mapping[str, Grammar],
) -> list[Decoded]:
    """Decode a test split with all systems and grammars, on one core or on a cluster; one stage each."""
    # Times are measured on one core without other load.
    workers = SerialWorkers() if isinstance(context.workers, LocalWorkers) else context.workers
    decoded = []
    for grammar_name, grammar in grammars.items():
        graphs = _graphs(context, grammar, [part.trained for system in systems for part in system.parts or (system,)])
        for system in systems:
            stage = f"{name}-decode-{system.name}-{grammar_name}"
            directory = context.stage(
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
    """Return the grammar's graph for each system's states, shared between systems with the same states."""
    topologies = dict.fromkeys(system.topology for system in systems)
    return {topology: compile_graph(context.lexicon, grammar, topology) for topology in topologies}


def _decode(
    directory: Path, run: Run, system: System, test: Dataset, graphs: Graphs, grammar: str, workers: Workers
) -> None:
    words, failed, cpu_seconds = _recognized(system, test, graphs, grammar, workers)
    for number, (utterance, fault) in enumerate(sorted(failed.items())):
        log.log(logging.DEBUG if number else logging.WARNING, "%s: not decoded: %s", utterance, fault.message)
    if len(failed) > 1:
        log.warning("%s not decoded; listed in %s", count(len(failed), "utterance"), LOG)
    write_transcripts(directory / "hyp.txt", words)
    run.note_time("decoding", cpu_seconds)


def _recognized(
    system: System, test: Dataset, graphs: Graphs, grammar: str, workers: Workers
) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, Issue], float]:
    """Return words, faults of the other utterances, and the processor time."""
    if system.parts:
        parts = [(part.trained.load, part.search[grammar], graphs[part.trained.topology]) for part in system.parts]
        return recognize_together(parts, test, workers)
    model, search, graph = system.trained.load(), system.search[grammar], graphs[system.trained.topology]
    if system.adaptation is None:
        found = recognize(model, test.static, graph, search, workers=workers)
    else:
        found = recognize_adapted(model, test.static, graph, search, system.adaptation, workers=workers)
    return found.hypotheses, found.failed, found.cpu_seconds


def pool(parts: Sequence[Decoded], fold: Mapping[str, str] = MappingProxyType({})) -> tuple[ScoreReport, float]:
    """Score decoded parts of a test as a whole; return the report and CPU seconds per second of audio."""
    report = score_utterances(
        {name: words for part in parts for name, words in folded_transcripts(fold, part.references).items()},
        {name: words for part in parts for name, words in folded_transcripts(fold, part.hypotheses).items()},
        speakers={name: speaker for part in parts for name, speaker in part.speakers.items()},
    )
    return report, sum(part.cpu_seconds for part in parts) / sum(part.audio_seconds for part in parts)


def pooled_row(
    parts: Sequence[Decoded],
    *,
    split: str,
    primary: str,
    unit: Unit = "mono",
    fold: Mapping[str, str] = MappingProxyType({}),
) -> tuple[ResultRow, ScoreReport]:
    """Return the result row of one system with one grammar, pooled over the folds of a split.

    `fold` gives classes of words, which are scored instead of the words.
    """
    report, rtf = pool(parts, fold)
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
    """Return all systems by name, and the aligning mixtures by family."""
    trained: dict[str, TrainedSystem] = {}
    aligners: dict[str, AlignedGmms] = {}
    for number, family in enumerate(mixtures):
        stage = f"{name}-{family.name}"
        if family.maps:
            before = mixtures[number - 1]
            first = aligners[before.name] if before.tied_states else realigned(context, dataset, aligners[before.name])
            grown = train_mapped_mixtures(context, stage, dataset, first)
        elif family.tied_states:
            settings = context.config.tied_gmm.model_copy(update={"transform": family.transform})
            config = context.config.model_copy(update={"tied_states": family.tied_states, "tied_gmm": settings})
            first = realigned(context, dataset, aligners[_usual_aligner(mixtures[:number])])
            grown = train_tied_mixtures(replace(context, config=config), stage, dataset, first)
        else:
            grown = train_first_mixtures(context, stage, dataset, family.features)
        aligners[family.name] = grown
        trained |= {family.system(n): grown.models[n] for n in family.components}
    for number, hybrid in enumerate(hybrids):
        earlier = hybrids[:number]
        fold_model = same_frames_and(hybrid.settings, hybrid, earlier)
        one_stream = one_stream_of(hybrid, earlier)
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
    """Return the name of the last context-independent family without speaker transforms."""
    return [family.name for family in mixtures if not (family.tied_states or family.maps)][-1]


def _tune_all(
    context: TrainingContext,
    name: str,
    fold_models: Mapping[str, TrainedSystem],
    hybrids: Sequence[HybridSpecification],
    aligners: Mapping[str, TrainedSystem],
    usual: str,
    held_out: Dataset,
    grammars: Mapping[str, Grammar],
    fold: Mapping[str, str],
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
                scores = FoldScores.of(model, held_out, graph, context.workers, kept)
                tuned = tune([scores], context.config.tuning, fold=fold)
                search, errors, wer = tuned.search, tuned.report.errors, tuned.report.wer
                if system in adaptations:
                    adapted = recognize_adapted(
                        model, held_out.static, graph, search, adaptations[system], workers=context.workers
                    )
                    report = score_utterances(
                        folded_transcripts(fold, held_out.references), folded_transcripts(fold, adapted.hypotheses)
                    )
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

    directory = context.stage(stage, build)
    return json.loads((directory / "tuned.json").read_text())
