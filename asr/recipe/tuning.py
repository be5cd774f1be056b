"""Choosing the search's scale and penalty on training speakers that the model has not seen."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.hmm.state_graph import StateGraph
from asr.recipe.config import TuningSettings
from asr.recipe.material import Material
from asr.recipe.recognition import search_words
from asr.score.wer import score_utterances


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
    jobs: int = 1,
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
    with threadpool_limits(1), ThreadPoolExecutor(jobs) as pool:
        frames = model.front_end.transform(held_out.static)
        scores = list(pool.map(model.hmm.log_likelihood, (frames.utterance(name) for name in frames.ids)))
        found: dict[tuple[float, float], int] = {}

        def errors(lm_scale: float, insertion_penalty: float) -> int:
            key = (lm_scale, insertion_penalty)
            if key not in found:
                search = model.search.model_copy(update={"lm_scale": lm_scale, "insertion_penalty": insertion_penalty})
                segments = pool.map(lambda matrix: search_words(model.hmm, matrix, graph, search), scores)
                hypotheses = {
                    name: [segment.label for segment in words or ()]
                    for name, words in zip(frames.ids, segments, strict=True)
                }
                found[key] = score_utterances(held_out.references, hypotheses).errors
            return found[key]

        scales = [factor * model.search.lm_scale for factor in settings.scale_factors]
        penalties = [factor * model.search.lm_scale for factor in settings.penalty_factors]
        scale = _middle_of_best(scales, [errors(scale, 0.0) for scale in scales])
        penalty = min(penalties, key=lambda penalty: (errors(scale, penalty), abs(penalty)))
        best = scales.index(scale)
        nearby = scales[max(0, best - 1) : best + 2]
        scale = _middle_of_best(nearby, [errors(scale, penalty) for scale in nearby])
    n_words = sum(len(words) for words in held_out.references.values())
    search = model.search.model_copy(update={"lm_scale": scale, "insertion_penalty": penalty})
    return search, found[scale, penalty], 100.0 * found[scale, penalty] / max(1, n_words)


def _middle_of_best(values: Sequence[float], errors: Sequence[int]) -> float:
    """Value in the middle of the first run of least errors."""
    best = int(np.argmin(errors))
    end = best
    while end + 1 < len(errors) and errors[end + 1] == errors[best]:
        end += 1
    return values[(best + end) // 2]
