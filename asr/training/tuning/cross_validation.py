"""Tuning of the search by cross-validation over the training speakers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.acoustic.model_metadata import HeldOutErrors
from asr.decode.graph_compiler import compile_graph
from asr.grammar import ArpaModel, arpa_grammar, estimate_ngram
from asr.runs.run import log_stage
from asr.training.aligner_stages import train_aligner
from asr.training.dataset import Dataset
from asr.training.gmm_stages import TrainedSystem, TrainingContext
from asr.training.hybrid_stages import train_hybrid_system
from asr.training.tuning.beam import SWEPT_ACTIVE, choose_width
from asr.training.tuning.confidence import confidence_on
from asr.training.tuning.folds import folds
from asr.training.tuning.search import FoldScores, TuningResult, tune
from asr.util.counted_text import duration
from asr.util.files import atomic_write

FRAMES_A_CENTER, MIN_FOLD_CENTERS, DEFAULT_CENTERS = 40, 200, 1000


@dataclass(frozen=True)
class TunedSearch:
    """Search of a model, and the results of its fold models on held-out speech, if any."""

    search: SearchSettings
    hypotheses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    errors: HeldOutErrors | None = None


def cross_validate(context: TrainingContext, dataset: Dataset) -> dict[str, TunedSearch]:
    """Stages `tuning-...`: tune the searches of "gmm" and "model" with fold models; `held-out.json` has the errors.

    Without held-out speech, these are the searches of the settings.
    """
    config = context.config
    if config.tuning.held_out == 0 or len(dataset.static) < 2:
        return {"gmm": TunedSearch(config.gmm_search), "model": TunedSearch(config.hybrid_search)}
    parts = folds(dataset, config.tuning.held_out, config.tuning.words, config.seed)
    fold_models = [_train_fold(context, number, len(parts), inner) for number, (inner, _) in enumerate(parts, 1)]

    def build(directory: Path) -> str:
        graphs = [
            compile_graph(context.lexicon, arpa_grammar(ngram(inner, context)), trained["gmm"].topology)
            for (inner, _), trained in zip(parts, fold_models, strict=True)
        ]
        cache = context.run.checkpoint("tuning-search")
        found, recognized = {}, {}
        for name in ("gmm", "model"):
            scored = [
                FoldScores.of(trained[name].load(), held_out, graph, context.workers, cache)
                for (_, held_out), trained, graph in zip(parts, fold_models, graphs, strict=True)
            ]
            tuned = tune(scored, config.tuning, max_active=SWEPT_ACTIVE if config.tuning.tune_beam else 0)
            search = choose_width(scored, tuned.search) if config.tuning.tune_beam else tuned.search
            search = search.model_copy(update={"confidence": confidence_on(scored, search)})
            found[name], recognized[name] = _record(tuned, search), tuned.hypotheses
        (directory / "hypotheses.json").write_text(json.dumps(recognized, sort_keys=True))
        (directory / "search.json").write_text(json.dumps(found, sort_keys=True))
        return "scale, penalty: " + "; ".join(
            "{} {lm_scale:g}, {insertion_penalty:g}".format(shown, **found[name]["search"])
            for name, shown in (("gmm", "mixtures"), ("model", "hybrid"))
        )

    directory = context.stage("tuning-search", build)
    found = json.loads((directory / "search.json").read_text())
    recognized = json.loads((directory / "hypotheses.json").read_text())
    with atomic_write(context.run.directory / "held-out.json") as temporary:
        temporary.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return {name: _tuned_search(found[name], recognized[name]) for name in ("gmm", "model")}


def ngram(dataset: Dataset, context: TrainingContext) -> ArpaModel:
    """Estimate the default grammar from transcripts."""
    transcripts = context.marked(dataset.references.values())
    return estimate_ngram(transcripts, context.config.ngram_order, vocabulary=context.lexicon.words)


def _train_fold(context: TrainingContext, number: int, n_folds: int, inner: Dataset) -> dict[str, TrainedSystem]:
    """Return mixtures and hybrid of a fold."""
    of_fold, config, name = replace(context, of_fold=True), context.config, f"tuning-{number}-hybrid"
    done = context.run.is_done(name)
    mixtures = train_aligner(of_fold, f"tuning-{number}-gmm", inner)
    settings = _for_folds(config.hybrid, inner.static.n_frames)
    hybrid = train_hybrid_system(of_fold, name, inner, mixtures, settings, config.hybrid_features)
    if not done:
        _log_fold(context, number, n_folds)
    return {"gmm": mixtures.largest, "model": hybrid}


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
        **{name: getattr(counts, name) for name in ("words", "errors", "substitutions", "deletions", "insertions")},
        "wer": tuned.report.wer,
        "standard_error": tuned.standard_error,
        "remarks": list(tuned.remarks),
    }


def _tuned_search(record: Mapping[str, Any], hypotheses: Mapping[str, Sequence[str]]) -> TunedSearch:
    words, errors, standard_error = (record[key] for key in ("words", "errors", "standard_error"))
    held_out = HeldOutErrors(words=words, errors=errors, standard_error=round(standard_error, 2), cross_validated=True)
    search = SearchSettings(**record["search"])
    hypotheses = {name: tuple(words) for name, words in hypotheses.items()}
    return TunedSearch(search, hypotheses, record["remarks"], held_out if words else None)


def _for_folds(settings: HybridSettings, n_frames: int) -> HybridSettings:
    """Return settings of fold models, which only tune the search: no realignment and fewer basis centers.

    The default of 1000 centers is reduced to one per `FRAMES_A_CENTER` frames.
    """
    parameters = dict(settings.parameters)
    if settings.classifier_name == "kernel-logistic" and not {"n_centers", "n_candidates"} & parameters.keys():
        n_centers = max(MIN_FOLD_CENTERS, n_frames // FRAMES_A_CENTER)
        if n_centers < DEFAULT_CENTERS:
            parameters |= {"n_centers": n_centers, "n_candidates": 3 * n_centers}
    return settings.model_copy(update={"realignments": 0, "parameters": parameters})
