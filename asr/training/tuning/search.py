"""Choice of the search's scale and penalty on held-out training speech."""

import logging
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import MAX_PENALTY, MAX_SCALE, SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.features.frame_table import FrameTable
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import StateGraph
from asr.recognition.search import BATCH_FRAMES, search_words
from asr.recognition.speaker_transforms import frames_of, recognized_maps
from asr.runs.progress import progress
from asr.scoring.bootstrap import wer_standard_error
from asr.scoring.repeated_counts import RepeatedCounts
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.config import TuningSettings
from asr.training.dataset import Dataset
from asr.training.tuning.cache import SearchCache, Words
from asr.training.tuning.grid import UNDECIDED, ErrorGrid, GridChoice, choose, is_far, worth_trying
from asr.util.counted_text import count
from asr.validation.corpus_size import MIN_SPEAKERS
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

_PARTS = 5  # of the held-out speakers: each is recognized with the choice of the others
_EXTENSIONS = 3  # extensions of the grid's end while errors still fall towards it


@dataclass(frozen=True)
class HeldOutModel:
    """Fold model with its held-out speech."""

    model: SpeechModel
    held_out: Dataset
    graph: StateGraph  # graph of a grammar that is also estimated without the held-out speech


@dataclass(frozen=True)
class TuningResult:
    """Search chosen on held-out speech, and its results."""

    search: SearchSettings
    hypotheses: Mapping[str, tuple[str, ...]]
    """Words of each held-out utterance with a search chosen without its speaker (without the utterance, if speakers
    are few), so the errors have no selection bias.
    """
    report: ScoreReport  # scores of the hypotheses; the speaker is the resampling unit (speaker or utterance)
    remarks: tuple[str, ...]  # remarks on the choice

    @property
    def standard_error(self) -> float:
        """Bootstrap standard error over speakers of the word error rate, in percentage points; 0 without words."""
        return wer_standard_error(self.report, unit="speaker") if self.report.words else 0.0


def tune_search(
    model: SpeechModel,
    held_out: Dataset,
    graph: StateGraph,
    settings: TuningSettings,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    kept: Path | None = None,
) -> TuningResult:
    """Choose language-model scale and insertion penalty of one model; see `tune`, and `FoldScores.of` for `kept`."""
    return tune(score_held_out([HeldOutModel(model, held_out, graph)], workers, kept), settings)


def tune(scored: Sequence["FoldScores"], settings: TuningSettings, *, most_active: int | None = None) -> TuningResult:
    """Choose language-model scale and insertion penalty from the word errors of all fold models.

    The grid is evaluated outwards from the initial settings, as far as it matters, and weighted by
    `asr.training.tuning.grid`. If the best search lies on an edge, the grid is extended, at most a few times.

    Parameters
    ----------
    scored : sequence of FoldScores
        Fold models with the same initial search settings and distinct utterances.
    most_active : int, optional
        Limit of hypotheses per frame (`max_active`) during the comparison; default: the settings' own limit.
    """
    fold_models = [each.fold_model for each in scored]
    own = fold_models[0].model.search
    own_penalty = own.insertion_penalty / own.lm_scale if own.lm_scale else 0.0
    active = own.max_active or math.inf  # 0 means no limit
    swept = own if most_active is None or active <= most_active else own.model_copy(update={"max_active": most_active})
    units = _units(fold_models)
    counting = RepeatedCounts(
        {name: words for fold_model in fold_models for name, words in fold_model.held_out.references.items()}
    )
    scales, penalties = sorted(settings.scale_factors), sorted(settings.penalty_factors)
    tried: dict[tuple[float, float], np.ndarray] = {}

    def measured() -> ErrorGrid:
        """Evaluate the pairs of scale and penalty that may matter; results are cached."""
        while True:
            surface = _surface(counting, units, scales, penalties, tried)
            new = [(scales[i], penalties[j]) for i, j in np.argwhere(worth_trying(surface, own_penalty))]
            if not new:
                return surface
            pairs = count(len(new), "pair")
            log.debug("trying %s of scale and penalty on %d words", pairs, surface.words.sum())
            searches = [_search(swept, *pair) for pair in new]
            with progress(len(counting.references), f"{pairs} tried: utterances") as bar:
                found = recognized_by_all(scored, searches, bar.advance)
            tried.update(zip(new, map(counting.errors, found), strict=True))

    surface = measured()
    choice = choose(surface, own_penalty)
    for _ in range(_EXTENSIONS):
        if not _extended(scales, penalties, choice, own):
            break
        surface = measured()
        choice = choose(surface, own_penalty)
    parts = _parts(surface)
    hypotheses: dict[str, tuple[str, ...]] = {}
    with progress(len(counting.references), "recognized with what others choose: utterances") as bar:
        for part in parts:
            chosen = choose(surface.without(part), own_penalty)
            search = _search(own, chosen.scale, chosen.penalty)
            names = {name for name, unit in units.items() if unit in part}
            hypotheses.update(recognized_by_all(scored, [search], bar.advance, names)[0])
    report = score_utterances(counting.references, hypotheses, speakers=units)
    search = _search(own, choice.scale, choice.penalty)
    remarks = (*_remarks(surface, choice), *far_remarks(own, search, is_far(choice, own_penalty)))
    return TuningResult(search, hypotheses, report, remarks)


@dataclass(frozen=True)
class FoldScores:
    """State scores of a fold model's held-out speech, sent to the workers once for all searches."""

    fold_model: HeldOutModel
    batches: Sequence[FrameTable]
    scores: list[list[np.ndarray]]
    shared: object
    workers: Workers
    kept: SearchCache | None = None

    @classmethod
    def of(
        cls,
        fold_model: HeldOutModel,
        workers: Workers,
        kept: Path | None = None,
        advance: Callable[[int], None] = lambda n: None,
    ) -> "FoldScores":
        """Compute the scores, in threads of this process for local workers.

        Search results are cached in the directory `kept`, if given. `advance` is called with numbers of finished steps,
        `n_steps` in total.
        """
        workers = in_threads(workers)
        n_mapped = 0

        def mapped(done: int) -> None:
            nonlocal n_mapped
            advance(done - n_mapped)
            n_mapped = done

        maps, _ = recognized_maps(
            fold_model.model, fold_model.held_out.static, fold_model.graph, workers=workers, progress=mapped
        )
        with threadpool_limits(1):
            batches = frames_of(fold_model.model, fold_model.held_out.static, maps).batches(BATCH_FRAMES)
        shared = workers.share((fold_model.model.hmm, fold_model.graph))
        scores: list[list[np.ndarray]] = []
        for batch, of_batch in zip(batches, workers.map(score_batch, batches, shared), strict=True):
            scores.append(of_batch)
            advance(len(batch))
        searches = None if kept is None else SearchCache(kept, fold_model.model.hmm, fold_model.graph, scores)
        return cls(fold_model, batches, scores, shared, workers, searches)

    @staticmethod
    def n_steps(fold_model: HeldOutModel) -> int:
        """Return the steps of `of`: one per utterance, three if the model uses speaker transforms."""
        return len(fold_model.held_out.static) * (1 if fold_model.model.speakers is None else 3)

    def recognized(
        self,
        searches: list[SearchSettings],
        only: Container[str] | None = None,
        advance: Callable[[int], None] = lambda n: None,
    ) -> list[dict[str, tuple[str, ...]]]:
        """Return words by search and utterance, optionally of some utterances; no words if no path survives.

        `advance` is called with numbers of utterances finished by all searches.
        """
        found: list[dict[str, tuple[str, ...]]] = [{} for _ in searches]
        wanted = [[only is None or name in only for name in batch.ids] for batch in self.batches]
        chosen = [
            [scores for scores, own in zip(of_batch, want, strict=True) if own]
            for of_batch, want in zip(self.scores, wanted, strict=True)
        ]

        def search(first: int) -> Iterator[Words]:
            return self.workers.map(search_batch, chosen[first:], self.shared, searches)

        how = [[search.model_dump() for search in searches], wanted]
        results = search(0) if self.kept is None else self.kept.through(how, search)
        for batch, want, words in zip(self.batches, wanted, results, strict=True):
            names = [name for name, own in zip(batch.ids, want, strict=True) if own]
            for of_search, per_utterance in zip(found, words, strict=True):
                of_search.update(zip(names, map(tuple, per_utterance), strict=True))
            advance(len(names))
        return found


def score_held_out(fold_models: Sequence[HeldOutModel], workers: Workers, kept: Path | None = None) -> list[FoldScores]:
    """Compute the state scores of all fold models, with a progress bar; `kept` as in `FoldScores.of`."""
    with progress(sum(map(FoldScores.n_steps, fold_models)), "speech scored: steps") as bar:
        return [FoldScores.of(fold_model, workers, kept, bar.advance) for fold_model in fold_models]


def recognized_by_all(
    scored: Sequence[FoldScores],
    searches: list[SearchSettings],
    advance: Callable[[int], None] = lambda n: None,
    only: Container[str] | None = None,
) -> list[dict[str, tuple[str, ...]]]:
    """Return words by search and utterance for all fold models; parameters as in `FoldScores.recognized`."""
    found: list[dict[str, tuple[str, ...]]] = [{} for _ in searches]
    for each in scored:
        for of_all, hypotheses in zip(found, each.recognized(searches, only, advance), strict=True):
            of_all.update(hypotheses)
    return found


def score_batch(batch: FrameTable, constants: tuple[PhoneHmm, StateGraph]) -> list[np.ndarray]:
    """Return the state scores of every utterance."""
    hmm, _ = constants
    return [hmm.recording_scores(batch.utterance(number)) for number in range(len(batch))]


def search_batch(
    batch: list[np.ndarray], constants: tuple[PhoneHmm, StateGraph], searches: list[SearchSettings]
) -> Words:
    """Return words by search and utterance; no words if no path survives."""
    hmm, graph = constants
    return [
        [
            list(without_filler(segment.label for segment in search_words(hmm, scores, graph, search) or ()))
            for scores in batch
        ]
        for search in searches
    ]


def _search(own: SearchSettings, scale: float, penalty: float) -> SearchSettings:
    """Convert multiples of the initial scale, and of the scale, to search settings."""
    lm_scale = min(MAX_SCALE, scale * own.lm_scale)
    limited = float(np.clip(penalty * lm_scale, -MAX_PENALTY, MAX_PENALTY))
    return own.model_copy(update={"lm_scale": _rounded(lm_scale), "insertion_penalty": _rounded(limited)})


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _units(fold_models: Iterable[HeldOutModel]) -> dict[str, str]:
    """Return the resampling unit of each utterance: its speaker, or itself if speakers are few."""
    speakers = {
        name: speaker for fold_model in fold_models for name, speaker in fold_model.held_out.utterance_speaker.items()
    }
    return speakers if len(set(speakers.values())) >= MIN_SPEAKERS else {name: name for name in speakers}


def _surface(
    counting: RepeatedCounts,
    units: Mapping[str, str],
    scales: Sequence[float],
    penalties: Sequence[float],
    tried: Mapping[tuple[float, float], np.ndarray],
) -> ErrorGrid:
    counts = np.zeros((2, len(counting.references), len(scales), len(penalties)), np.int64)
    known = np.zeros((len(scales), len(penalties)), bool)
    for at, scale in enumerate(scales):
        for of, penalty in enumerate(penalties):
            if (scale, penalty) in tried:
                counts[:, :, at, of], known[at, of] = tried[scale, penalty], True
    return ErrorGrid(
        np.array([units[name] for name in counting.references]),
        np.array([len(words) for words in counting.references.values()]),
        np.array(scales),
        np.array(penalties),
        errors=counts[0],
        imbalance=counts[1],
        tried=known,
    )


def _extended(scales: list[float], penalties: list[float], choice: GridChoice, own: SearchSettings) -> bool:
    """Extend the grid at edges with the best search; return whether it changed."""
    extended = False
    for values, edge, factor in ((scales, choice.at_edge[0], True), (penalties, choice.at_edge[1], False)):
        if not edge or len(values) < 2:
            continue
        inner, end = (values[-2], values[-1]) if edge > 0 else (values[1], values[0])
        beyond = end * end / inner if factor else 2 * end - inner
        if beyond * own.lm_scale > MAX_SCALE:
            continue
        values.insert(len(values) if edge > 0 else 0, beyond)
        extended = True
    return extended


def _parts(surface: ErrorGrid) -> list[set[str]]:
    """Divide the units into parts with about equal numbers of words."""
    names, number = np.unique(surface.units, return_inverse=True)
    words = np.bincount(number, surface.words)
    order = names[np.argsort(-words, kind="stable")].tolist()
    n_parts = min(_PARTS, len(order))
    return [set(order[start::n_parts]) for start in range(n_parts)]


def _remarks(surface: ErrorGrid, choice: GridChoice) -> tuple[str, ...]:
    remarks = []
    if choice.undecided > UNDECIDED:
        remarks.append(
            f"the {surface.words.sum()} words tried on tell little of scale and penalty; other values of these are "
            "nearly as good"
        )
    for edge, name, values in zip(
        choice.at_edge, ("scale", "penalty"), (surface.scales, surface.penalties), strict=True
    ):
        if edge:
            end = values[-1] if edge > 0 else values[0]
            remarks.append(f"the fewest errors are at the end of what was tried, a {name} factor of {end:g}")
    return tuple(remarks)


def far_remarks(own: SearchSettings, chosen: SearchSettings, far: tuple[bool, bool]) -> Iterator[str]:
    """Yield a remark for a scale or penalty far from its initial value."""
    elsewhere = (
        "it suits this grammar and speech like that held out; where either is another, choose it again (asr tune), or "
        "go back to the settings' own"
    )
    if far[0]:
        meaning = (
            "the grammar tells more than the sound does, so what it has not seen is hardly recognized"
            if chosen.lm_scale > own.lm_scale
            else "the grammar says little of this speech"
        )
        yield (
            f"the scale chosen, {chosen.lm_scale:g}, is far from the settings' {own.lm_scale:g}: {meaning}; {elsewhere}"
        )
    if far[1]:
        meaning = (
            "without it words would be left out; noise and pauses may now be taken for words"
            if chosen.insertion_penalty > own.insertion_penalty
            else "without it words would be put in where there are none; short words may now be left out"
        )
        yield (
            f"the penalty chosen, {chosen.insertion_penalty:+g}, is far from the settings' "
            f"{own.insertion_penalty:+g}: {meaning}; {elsewhere}"
        )
