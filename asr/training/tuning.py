"""Choosing the search's scale and penalty on training speakers that the model has not seen."""

from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.recognition.material import Material
from asr.recognition.recognition import BATCH_FRAMES, search_words
from asr.score.wer import score_utterances
from asr.training.config import TuningSettings
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers


def hold_out(material: Material, fraction: float, seed: int) -> tuple[Material, Material]:
    """Divide training material into speakers to train on and speakers held out, by a seeded draw.

    With a single speaker, utterances are drawn instead.
    """
    speakers = material.speakers
    units = speakers if len(speakers) > 1 else tuple(sorted(material.static.ids))
    n_held_out = min(max(1, round(fraction * len(units))), len(units) - 1)
    drawn = {units[i] for i in np.random.default_rng(seed).permutation(len(units))[:n_held_out]}

    def is_held_out(name: str, speaker: str) -> bool:
        return (speaker if len(speakers) > 1 else name) in drawn

    return material.where(lambda name, speaker: not is_held_out(name, speaker)), material.where(is_held_out)


def tune_search(
    model: SpeechModel,
    held_out: Material,
    graph: StateGraph,
    settings: TuningSettings,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> tuple[SearchSettings, int, float]:
    """Find language-model scale and insertion penalty with the fewest word errors.

    A sweep over the scales without penalty, one over the penalties at the best scale, and a last one over the scales
    next to the best at that penalty. Of equal counts the scale in the middle and the smaller penalty win.

    Returns
    -------
    search : SearchSettings
    errors, wer : int, float
        Word errors on the held-out material under it, and their rate in %.
    """
    with threadpool_limits(1):
        batches = model.front_end.transform(held_out.static).batches(BATCH_FRAMES)
    workers = in_threads(workers)
    shared = workers.share((model.hmm, graph))
    scores = list(workers.map(score_batch, batches, shared))
    found: dict[tuple[float, float], int] = {}

    def errors(pairs: Sequence[tuple[float, float]]) -> list[int]:
        """Word errors at every pair of scale and penalty."""
        new = [pair for pair in pairs if pair not in found]
        searches = [
            model.search.model_copy(update={"lm_scale": scale, "insertion_penalty": penalty}) for scale, penalty in new
        ]
        hypotheses: list[dict[str, list[str]]] = [{} for _ in new]
        for batch, words in zip(batches, workers.map(search_batch, scores, shared, searches), strict=True):
            for of_search, per_utterance in zip(hypotheses, words, strict=True):
                of_search.update(zip(batch.ids, per_utterance, strict=True))
        for pair, of_search in zip(new, hypotheses, strict=True):
            found[pair] = score_utterances(held_out.references, of_search).errors
        return [found[pair] for pair in pairs]

    scales = [factor * model.search.lm_scale for factor in settings.scale_factors]
    penalties = [factor * model.search.lm_scale for factor in settings.penalty_factors]
    scale = _middle_of_best(scales, errors([(scale, 0.0) for scale in scales]))
    counts = errors([(scale, penalty) for penalty in penalties])
    penalty = min(zip(penalties, counts, strict=True), key=lambda pair: (pair[1], abs(pair[0])))[0]
    best = scales.index(scale)
    nearby = scales[max(0, best - 1) : best + 2]
    scale = _middle_of_best(nearby, errors([(scale, penalty) for scale in nearby]))
    n_words = sum(len(words) for words in held_out.references.values())
    search = model.search.model_copy(update={"lm_scale": scale, "insertion_penalty": penalty})
    return search, found[scale, penalty], 100.0 * found[scale, penalty] / max(1, n_words)


def score_batch(batch: FrameTable, constants: tuple[PhoneHmm, StateGraph]) -> list[np.ndarray]:
    """State scores of every utterance; they travel once for all the searches of a sweep."""
    hmm, _ = constants
    return [hmm.log_likelihood(batch.utterance(number)) for number in range(len(batch))]


def search_batch(
    batch: list[np.ndarray], constants: tuple[PhoneHmm, StateGraph], searches: list[SearchSettings]
) -> list[list[list[str]]]:
    """Words by search and utterance; none where no path survives."""
    hmm, graph = constants
    return [
        [[segment.label for segment in search_words(hmm, scores, graph, search) or ()] for scores in batch]
        for search in searches
    ]


def _middle_of_best(values: Sequence[float], errors: Sequence[int]) -> float:
    """Value in the middle of the first run of least errors."""
    best = int(np.argmin(errors))
    end = best
    while end + 1 < len(errors) and errors[end + 1] == errors[best]:
        end += 1
    return values[(best + end) // 2]
