"""Choice of the search's scale and penalty on held-out training speech."""

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import MAX_PENALTY, MAX_SCALE, SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.features.frame_table import FrameTable
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import StateGraph
from asr.recognition.search import BATCH_FRAMES, search_words
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.runs.checked_file import read_sealed, write_sealed
from asr.runs.progress import Progress, counted
from asr.scoring.bootstrap import wer_standard_error
from asr.scoring.fold import folded_transcripts
from asr.scoring.repeated_counts import RepeatedCounts
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.config import TuningSettings
from asr.training.dataset import Dataset
from asr.training.tuning.folds import units_of
from asr.training.tuning.grid import ErrorGrid, GridChoice, choose, worth_trying
from asr.util.errors import RunError
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

_PARTS = 5  # of the held-out speakers: each is recognized with the choice of the others
_EXTENSIONS = 3  # extensions of the grid's end while errors still fall towards it

Hypotheses: TypeAlias = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class FoldScores:
    """Fold model, its held-out speech, and the speech's state scores, sent to the workers once for all searches."""

    model: SpeechModel
    held_out: Dataset
    graph: StateGraph  # graph of a grammar that is also estimated without the held-out speech
    batches: Sequence[FrameTable]
    scores: list[list[np.ndarray]]
    shared: object
    workers: Workers
    cache: Path | None = None
    checksum: str = ""

    @classmethod
    def of(
        cls,
        model: SpeechModel,
        held_out: Dataset,
        graph: StateGraph,
        workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
        cache: Path | None = None,
    ) -> "FoldScores":
        """Compute the scores, in threads of this process for local workers.

        `cache` is a directory for the results of searches, such as `asr.runs.run.Run.checkpoint` returns.
        """
        workers, static = in_threads(workers), held_out.static
        with counted(2 * len(static), "speaker transforms: steps") as finished:
            maps, _ = recognized_maps(model, static, graph, workers=workers, progress=finished)
        with threadpool_limits(1):
            batches = frames_of(model, static, maps).batches(BATCH_FRAMES)
        shared = workers.share((model.hmm, graph))
        scores: list[list[np.ndarray]] = []
        with Progress(len(static), "speech scored: utterances") as bar:
            for of_batch in workers.map(score_batch, batches, shared):
                scores.append(of_batch)
                bar.advance(len(of_batch))
        of_graph = [getattr(graph, field.name) for field in fields(graph)]
        decisive = [model.hmm.self_loops, model.hmm.topology.unit_state, of_graph, scores]
        checksum = "" if cache is None else joblib.hash(decisive)
        return cls(model, held_out, graph, batches, scores, shared, workers, cache, checksum)

    def recognized(self, searches: Sequence[SearchSettings], only: Container[str] | None = None) -> list[Hypotheses]:
        """Return words by search and utterance, optionally of some utterances; no words if no path survives."""
        chosen = [
            [(name, scores) for name, scores in zip(batch.ids, own, strict=True) if only is None or name in only]
            for batch, own in zip(self.batches, self.scores, strict=True)
        ]
        names = [name for batch in chosen for name, _ in batch]
        file = None
        if self.cache is not None:
            file = self.cache / f"{joblib.hash([self.checksum, [one.model_dump() for one in searches], names])}.json"
            with suppress(RunError):  # missing or damaged
                return [
                    {name: tuple(words) for name, words in found.items()}
                    for found in read_sealed(file, "a cached search", "it is repeated")["words"]
                ]
        words: list[Hypotheses] = [{} for _ in searches]
        batches = [[scores for _, scores in batch] for batch in chosen]
        with Progress(len(names), f"{len(searches)} searches: utterances") as bar:
            results = self.workers.map(search_batch, batches, self.shared, searches)
            for batch, found in zip(chosen, results, strict=True):
                for of_search, of_batch in zip(words, found, strict=True):
                    of_search |= {name: tuple(said) for (name, _), said in zip(batch, of_batch, strict=True)}
                bar.advance(len(batch))
        if file is not None:
            write_sealed(file, {"words": words})
        return words


def recognize_all(
    scored: Sequence[FoldScores], searches: Sequence[SearchSettings], only: Container[str] | None = None
) -> list[Hypotheses]:
    """Return words by search and utterance for all fold models; `only` as in `FoldScores.recognized`."""
    found: list[Hypotheses] = [{} for _ in searches]
    for each in scored:
        for of_all, hypotheses in zip(found, each.recognized(searches, only), strict=True):
            of_all.update(hypotheses)
    return found


def score_batch(batch: FrameTable, constants: tuple[PhoneHmm, StateGraph]) -> list[np.ndarray]:
    """Return the state scores of every utterance."""
    hmm, _ = constants
    return [hmm.recording_scores(batch.utterance(number)) for number in range(len(batch))]


def search_batch(
    batch: list[np.ndarray], constants: tuple[PhoneHmm, StateGraph], searches: Sequence[SearchSettings]
) -> list[list[list[str]]]:
    """Return words by search and utterance; no words if no path survives."""
    hmm, graph = constants
    return [
        [
            list(without_filler(segment.label for segment in search_words(hmm, scores, graph, search) or ()))
            for scores in batch
        ]
        for search in searches
    ]


@dataclass(frozen=True)
class TuningResult:
    """Search chosen on held-out speech, and its results."""

    search: SearchSettings
    hypotheses: Hypotheses
    """Words of each held-out utterance with a search chosen without its speaker (without the utterance, if speakers
    are few), so the errors have no selection bias.
    """
    report: ScoreReport  # scores of the hypotheses; the speaker is the resampling unit (speaker or utterance)
    remarks: tuple[str, ...]  # remarks on the choice

    @property
    def standard_error(self) -> float:
        """Bootstrap standard error over speakers of the word error rate, in percentage points; 0 without words."""
        several = self.report.words and len(self.report.speakers()) > 1
        return wer_standard_error(self.report, unit="speaker") if several else 0.0


def tune(
    scored: Sequence[FoldScores],
    settings: TuningSettings,
    *,
    max_active: int = 0,
    fold: Mapping[str, str] = MappingProxyType({}),
) -> TuningResult:
    """Choose language-model scale and insertion penalty from the word errors of all fold models.

    The grid is evaluated outwards from the initial settings, as far as it matters, and weighted by
    `asr.training.tuning.grid`. If the best search lies on an edge, the grid is extended, at most a few times.

    Parameters
    ----------
    scored : sequence of FoldScores
        Fold models with the same initial search settings and distinct utterances.
    max_active : int
        Upper limit of the settings' `max_active` during the comparison; 0: none.
    fold : mapping of str to str
        Classes of words, which are counted instead of the words (`asr.scoring.fold`).
    """
    own = scored[0].model.search
    own_penalty = own.insertion_penalty / own.lm_scale if own.lm_scale else 0.0
    compared = own.model_copy(update={"max_active": min(filter(None, (own.max_active, max_active)), default=0)})
    spoken = {name: words for each in scored for name, words in each.held_out.references.items()}
    references = folded_transcripts(fold, spoken)
    units = units_of({name: speaker for each in scored for name, speaker in each.held_out.utterance_speaker.items()})
    counting = RepeatedCounts(references)
    scales, penalties = sorted(settings.scale_factors), sorted(settings.penalty_factors)
    counts: dict[tuple[float, float], np.ndarray] = {}

    def recognized(searches: Sequence[SearchSettings], only: Container[str] | None = None) -> list[Hypotheses]:
        return [folded_transcripts(fold, words) for words in recognize_all(scored, searches, only)]

    def evaluate() -> ErrorGrid:
        """Evaluate the pairs of scale and penalty that may matter, and were not evaluated before."""
        while True:
            grid = _grid(np.array([units[name] for name in references]), scales, penalties, counts)
            new = [(scales[i], penalties[j]) for i, j in np.argwhere(worth_trying(grid, own_penalty))]
            if not new:
                return grid
            found = recognized([_search(compared, *pair) for pair in new])
            counts.update(zip(new, map(counting.errors, found), strict=True))

    grid = evaluate()
    for _ in range(_EXTENSIONS):
        if not _extend(scales, penalties, choose(grid, own_penalty), own.lm_scale):
            break
        grid = evaluate()
    hypotheses: Hypotheses = {}
    for part in _parts(units, references):
        chosen = choose(grid.without(part), own_penalty)
        names = {name for name, unit in units.items() if unit in part}
        hypotheses |= recognized([_search(own, chosen.scale, chosen.penalty)], names)[0]
    report = score_utterances(references, hypotheses, speakers=units)
    choice = choose(grid, own_penalty)
    remarks = tuple(choice.remarks(sum(map(len, references.values())), own_penalty))
    return TuningResult(_search(own, choice.scale, choice.penalty), hypotheses, report, remarks)


def _search(own: SearchSettings, scale: float, penalty: float) -> SearchSettings:
    """Convert multiples of the initial scale, and of the scale, to search settings with three digits."""
    lm_scale = min(MAX_SCALE, scale * own.lm_scale)
    limited = min(max(penalty * lm_scale, -MAX_PENALTY), MAX_PENALTY)
    return own.model_copy(update={"lm_scale": float(f"{lm_scale:.3g}"), "insertion_penalty": float(f"{limited:.3g}")})


def _grid(
    units: np.ndarray,
    scales: Sequence[float],
    penalties: Sequence[float],
    counts: Mapping[tuple[float, float], np.ndarray],
) -> ErrorGrid:
    errors, imbalance = np.zeros((2, len(units), len(scales), len(penalties)), np.int64)
    tried = np.zeros((len(scales), len(penalties)), bool)
    for (scale, penalty), found in counts.items():
        at = scales.index(scale), penalties.index(penalty)
        (errors[:, *at], imbalance[:, *at]), tried[at] = found, True
    return ErrorGrid(units, np.array(scales), np.array(penalties), errors, imbalance, tried)


def _extend(scales: list[float], penalties: list[float], choice: GridChoice, lm_scale: float) -> bool:
    """Extend the grid at edges with the best search; return whether it changed."""
    extended = False
    for values, edge, geometric in ((scales, choice.at_edge[0], True), (penalties, choice.at_edge[1], False)):
        if not edge or len(values) < 2:
            continue
        inner, end = (values[-2], values[-1]) if edge > 0 else (values[1], values[0])
        beyond = end * end / inner if geometric else 2 * end - inner
        if beyond * lm_scale <= MAX_SCALE:
            values.insert(len(values) if edge > 0 else 0, beyond)
            extended = True
    return extended


def _parts(units: Mapping[str, str], references: Mapping[str, Sequence[Any]]) -> list[set[str]]:
    """Divide the units into parts with about equal numbers of words."""
    n_words = dict.fromkeys(sorted({units[name] for name in references}), 0)
    for name, words in references.items():
        n_words[units[name]] += len(words)
    order = sorted(n_words, key=lambda unit: -n_words[unit])
    n_parts = min(_PARTS, len(order))
    return [set(order[start::n_parts]) for start in range(n_parts)]
