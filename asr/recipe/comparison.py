"""The common plot of the recipes: train mixtures and hybrids, tune on held-out speakers, decode the test, compare."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.align.aligned_table import align_table
from asr.decode.graph_compiler import compile_graph
from asr.features.config import FeatureConfig
from asr.grammar import Grammar
from asr.hmm.state_graph import StateGraph
from asr.recipe.material import Material
from asr.recipe.recognition import recognise
from asr.recipe.results import Kind, ResultRow, result_row
from asr.recipe.systems import Trained, Workshop, frame_accuracy, train_hybrid_system, train_mixtures
from asr.recipe.tuning import hold_out, tune_search
from asr.score.files import read_transcripts, write_transcripts
from asr.score.wer import ScoreReport, score_utterances

log = logging.getLogger(__name__)

MakeGrammars = Callable[[Material], Mapping[str, Grammar]]


@dataclass(frozen=True)
class MixtureSpecification:
    """A family of mixtures to be compared: what their names begin with, their frames, and which ones are shown."""

    name: str
    features: FeatureConfig
    components: tuple[int, ...]

    def system(self, n_components: int) -> str:
        """`gmm-8` and the like."""
        return f"{self.name}-{n_components}"


@dataclass(frozen=True)
class HybridSpecification:
    """A hybrid to be compared: its name in tables, its classifier and its frames."""

    name: str
    settings: HybridSettings
    features: FeatureConfig
    kind: Kind = "discriminant"


@dataclass(frozen=True)
class System:
    """A system trained on all training material, with what the held-out speakers said of its twin.

    Attributes
    ----------
    search : mapping of grammar name to SearchSettings
    held_out_errors : mapping of grammar name to int
        Word errors of the twin, trained without the held-out speakers, on them.
    frame_accuracy : float or None
        Of the twin on the held-out speakers' frames, in %; None for mixtures.
    """

    name: str
    kind: Kind
    trained: Trained
    search: Mapping[str, SearchSettings]
    held_out_errors: Mapping[str, int]
    frame_accuracy: float | None


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
    workshop: Workshop,
    name: str,
    material: Material,
    mixtures: Sequence[MixtureSpecification],
    hybrids: Sequence[HybridSpecification],
    make_grammars: MakeGrammars,
) -> list[System]:
    """Train all systems; their search settings come from twins trained without some of the speakers.

    Parameters
    ----------
    name : str
        Beginning of the names of the stages.
    mixtures : sequence of MixtureSpecification
        The hybrids are trained on the alignment by the last of them, with its most components.
    make_grammars : callable
        Gives the grammars by name for training material: those that are estimated come from it alone.
    """
    inner, held_out = hold_out(material, workshop.config.tuning.held_out, workshop.config.seed)
    twins, aligner = _train_all(workshop, f"{name}-tuning", inner, mixtures, hybrids)
    tuned = _tune_all(workshop, f"{name}-tuning", twins, aligner, held_out, make_grammars(inner))
    trained, _ = _train_all(workshop, name, material, mixtures, hybrids)
    kinds: dict[str, Kind] = {hybrid.name: hybrid.kind for hybrid in hybrids}
    return [
        System(
            system,
            kinds.get(system, "gmm"),
            trained[system],
            {grammar: SearchSettings(**value["search"]) for grammar, value in tuned[system]["grammars"].items()},
            {grammar: value["errors"] for grammar, value in tuned[system]["grammars"].items()},
            tuned[system]["frame_accuracy"],
        )
        for system in trained
    ]


def choose_primary(systems: Iterable[System]) -> str:
    """Name of the discriminant with the fewest held-out errors over all grammars (and folds, if there are several)."""
    errors: dict[str, int] = {}
    for system in systems:
        if system.kind == "discriminant":
            errors[system.name] = errors.get(system.name, 0) + sum(system.held_out_errors.values())
    for name, count in errors.items():
        log.info("%s: %d errors on held-out training speakers", name, count)
    return min(errors, key=lambda name: (errors[name], name))


def decode_test(
    workshop: Workshop,
    name: str,
    systems: Sequence[System],
    test: Material,
    grammars: Mapping[str, Grammar],
) -> list[Decoded]:
    """Decode a test split with every system under every grammar, on one core; one stage each."""
    decoded = []
    for grammar_name, grammar in grammars.items():
        graph = compile_graph(workshop.lexicon, grammar, workshop.topology)
        for system in systems:
            directory = workshop.run.stage(
                f"{name}-decode-{system.name}-{grammar_name}",
                partial(_decode, system=system, test=test, graph=graph, grammar=grammar_name),
            )
            decoded.append(
                Decoded(
                    system,
                    grammar_name,
                    read_transcripts(directory / "hyp.txt"),
                    test.references,
                    test.utterance_speaker,
                    json.loads((directory / "time.json").read_text()),
                    test.seconds,
                )
            )
    return decoded


def _decode(directory: Path, system: System, test: Material, graph: StateGraph, grammar: str) -> None:
    found = recognise(system.trained.load(), test.static, graph, system.search[grammar])
    for utterance, reason in sorted(found.failed.items()):
        log.warning("%s: not decoded: %s", utterance, reason)
    write_transcripts(directory / "hyp.txt", found.hypotheses)
    (directory / "time.json").write_text(json.dumps(found.cpu_seconds))


def pool(parts: Sequence[Decoded]) -> tuple[ScoreReport, float]:
    """Score decoded parts of one test as one; returns the report and CPU seconds per second of audio."""
    report = score_utterances(
        {name: words for part in parts for name, words in part.references.items()},
        {name: words for part in parts for name, words in part.hypotheses.items()},
        speakers={name: speaker for part in parts for name, speaker in part.speakers.items()},
    )
    return report, sum(part.cpu_seconds for part in parts) / sum(part.audio_seconds for part in parts)


def pooled_row(parts: Sequence[Decoded], *, split: str, primary: str) -> tuple[ResultRow, ScoreReport]:
    """The result row of one system under one grammar, pooled over the folds of a split."""
    report, rtf = pool(parts)
    first = parts[0].system
    accuracies = [part.system.frame_accuracy for part in parts if part.system.frame_accuracy is not None]
    row = result_row(
        report,
        system=first.name,
        kind=first.kind,
        unit="mono",
        primary=first.name == primary,
        grammar=parts[0].grammar,
        split=split,
        decode_rtf=rtf,
        train_seconds=sum(part.system.trained.seconds for part in parts),
        frame_accuracy=sum(accuracies) / len(accuracies) if accuracies else None,
    )
    return row, report


def _train_all(
    workshop: Workshop,
    name: str,
    material: Material,
    mixtures: Sequence[MixtureSpecification],
    hybrids: Sequence[HybridSpecification],
) -> tuple[dict[str, Trained], Trained]:
    """All systems by name, and the one that aligned for the hybrids."""
    trained: dict[str, Trained] = {}
    for family in mixtures:
        grown = train_mixtures(workshop, f"{name}-{family.name}", material, family.features)
        trained |= {family.system(n): grown.models[n] for n in family.components}
    for hybrid in hybrids:
        trained[hybrid.name] = train_hybrid_system(
            workshop, f"{name}-{hybrid.name}", material, grown, hybrid.settings, hybrid.features
        )
    return trained, grown.largest


def _tune_all(
    workshop: Workshop,
    name: str,
    twins: Mapping[str, Trained],
    aligner: Trained,
    held_out: Material,
    grammars: Mapping[str, Grammar],
) -> dict[str, dict]:  # type: ignore[type-arg]
    def build(directory: Path) -> None:
        graphs = {
            grammar_name: compile_graph(workshop.lexicon, grammar, workshop.topology)
            for grammar_name, grammar in grammars.items()
        }
        largest = aligner.load()
        aligned = align_table(
            largest.hmm.log_likelihood,
            largest.front_end.transform(held_out.static),
            held_out.graphs(workshop.lexicon, workshop.topology),
            workshop.topology,
            largest.hmm.self_loops,
            jobs=workshop.jobs,
        )
        record = {}
        for system, twin in twins.items():
            model = twin.load()
            by_grammar = {}
            for grammar_name, graph in graphs.items():
                search, errors, wer = tune_search(model, held_out, graph, workshop.config.tuning, jobs=workshop.jobs)
                log.info(
                    "%s, %s: scale %g, penalty %g; %d errors, %.2f %% WER on held-out speakers",
                    system, grammar_name, search.lm_scale, search.insertion_penalty, errors, wer,
                )  # fmt: skip
                by_grammar[grammar_name] = {"search": search.model_dump(), "errors": errors, "wer": wer}
            record[system] = {
                "grammars": by_grammar,
                "frame_accuracy": frame_accuracy(model, held_out, aligned.states) if model.kind == "hybrid" else None,
            }
        (directory / "tuned.json").write_text(json.dumps(record, indent=1))

    directory = workshop.run.stage(f"{name}-search", build)
    return json.loads((directory / "tuned.json").read_text())
