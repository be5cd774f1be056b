"""Tuning of rejection on commands, at most a few of them lost, and on other recordings.

With a filler in the grammar its penalty is fitted, otherwise the minimum likelihood ratios of the words.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from asr.acoustic.model_file import SpeechModel
from asr.acoustic.model_metadata import Rejection
from asr.acoustic.search_settings import SearchSettings
from asr.grammar.filler import without_filler
from asr.hmm.state_graph import StateGraph
from asr.recognition.decoder import recognize
from asr.recognition.rejection import checksum
from asr.recognition.speech_ratios import SpeechRatio
from asr.runs.progress import counted
from asr.scoring.wer import score_utterances
from asr.training.dataset import Dataset
from asr.training.tuning.rejection_limits import best_limits
from asr.training.tuning.search import FoldScores, HeldOutModel
from discriminants.parallel.workers import Workers

MAX_LOST = 0.05
"""Maximum fraction of lost commands."""
NO_FILLER = -1e6
"""Penalty that disables the filler."""
PENALTIES = (0.0, *(-(2.0**power) for power in range(13)), NO_FILLER)
"""Initial candidates, in descending order."""
_HALVINGS = 5  # of the gap between two candidates


def fit_penalty(commands: FoldScores, others: FoldScores, search: SearchSettings) -> tuple[SearchSettings, Rejection]:
    """Choose the filler penalty that accepts the fewest other recordings and loses at most 5 % of commands.

    Returns the settings with it. See `best_penalty`.
    """
    references = commands.fold_model.held_out.references
    baseline = _recognized(commands, search, NO_FILLER)
    right = [name for name, words in references.items() if words and baseline[name] == tuple(words)]

    @cache
    def lost(penalty: float) -> int:
        found = _recognized(commands, search, penalty)
        return sum(found[name] != tuple(references[name]) for name in right)

    @cache
    def accepted(penalty: float) -> int:
        return sum(bool(words) for words in _recognized(others, search, penalty).values())

    penalty = best_penalty(lost, accepted, MAX_LOST * len(right))
    words = commands.fold_model.graph.words
    report = score_utterances(references, _recognized(commands, search, penalty))
    found = Rejection(
        by="filler",
        grammar=checksum(commands.fold_model.graph),
        grammar_words=len(without_filler(words)),
        commands=len(right),
        lost=lost(penalty),
        others=len(others.fold_model.held_out.static),
        accepted=accepted(penalty),
        accepted_without=accepted(NO_FILLER),
        words=report.words,
        errors=report.errors,
    )
    return search.model_copy(update={"filler_penalty": penalty}), found


def fit_limits(
    commands: HeldOutModel, others: Dataset, search: SearchSettings, workers: Workers
) -> tuple[SearchSettings, Rejection]:
    """Choose the limits that accept the fewest other recordings and lose at most 5 % of commands.

    Returns the settings with them. See `best_limits`.
    """
    search = search.model_copy(update={"min_phone_llr": None, "min_silence_llr": None})
    parts = commands.model, commands.graph, search, workers
    ratios, words = _ratios(commands.held_out, *parts)
    right = [name for name, said in commands.held_out.references.items() if said and words.get(name) == tuple(said)]
    of_commands = np.array([ratios[name] for name in right]).reshape(-1, 2)
    of_others = np.array(list(_ratios(others, *parts)[0].values())).reshape(-1, 2)
    limits = best_limits(of_commands, of_others, MAX_LOST * len(right)) if right else (None, None)
    lowest = np.array([-np.inf if limit is None else limit for limit in limits])
    lost = int((of_commands < lowest).any(axis=1).sum())
    kept = {name: said if (np.array(ratios.get(name, ())) >= lowest).all() else () for name, said in words.items()}
    report = score_utterances(commands.held_out.references, kept)
    found = Rejection(
        by="ratios",
        grammar=checksum(commands.graph),
        grammar_words=len(without_filler(commands.graph.words)),
        commands=len(right),
        lost=lost,
        others=len(others.static),
        accepted=int((of_others >= lowest).all(axis=1).sum()),
        accepted_without=len(of_others),
        words=report.words,
        errors=report.errors,
    )
    return search.model_copy(update=dict(zip(("min_phone_llr", "min_silence_llr"), limits, strict=True))), found


def _ratios(
    dataset: Dataset, model: SpeechModel, graph: StateGraph, search: SearchSettings, workers: Workers
) -> tuple[dict[str, SpeechRatio], dict[str, tuple[str, ...]]]:
    """Return the ratios of utterances with words, and the words of all utterances."""
    with counted(len(dataset.static), "likelihood ratios") as finished:
        found = recognize(model, dataset.static, graph, search, ratios=True, workers=workers, progress=finished)
    whole = {name: ratios.whole() for name, ratios in found.ratios.items()}
    return {name: ratio for name, ratio in whole.items() if ratio is not None}, found.hypotheses


def best_penalty(lost: Callable[[float], int], accepted: Callable[[float], int], most_lost: float) -> float:
    """Return the penalty, to three digits, that accepts fewest and loses at most `most_lost`.

    A larger penalty loses more commands and accepts fewer other recordings, so the largest admissible one accepts
    fewest. Among penalties that accept equally few, the middle one on a logarithmic scale is chosen as the most robust.
    """
    bearable = next(place for place, penalty in enumerate(PENALTIES) if lost(penalty) <= most_lost)  # always found
    larger = PENALTIES[max(0, bearable - 1)]
    largest = _halved(PENALTIES[bearable], larger, lambda between: lost(between) <= most_lost)
    fewest = accepted(largest)
    if accepted(NO_FILLER) <= fewest:
        return largest
    smallest = largest
    for penalty in (one for one in PENALTIES if one < largest):
        if accepted(penalty) > fewest:
            smallest = _halved(smallest, penalty, lambda between: accepted(between) <= fewest)
            break
        smallest = penalty
    return _rounded(-math.expm1((math.log1p(-smallest) + math.log1p(-largest)) / 2))


def _halved(holds: float, fails: float, condition: Callable[[float], bool]) -> float:
    """Move a penalty that satisfies a condition towards one that does not, by bisection."""
    for _ in range(_HALVINGS if holds != fails else 0):
        between = _rounded((holds + fails) / 2)
        if condition(between):
            holds = between
        else:
            fails = between
    return holds


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _recognized(scored: FoldScores, search: SearchSettings, penalty: float) -> Mapping[str, tuple[str, ...]]:
    return scored.recognized([search.model_copy(update={"filler_penalty": penalty})])[0]
