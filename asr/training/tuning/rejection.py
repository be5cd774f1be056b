"""Tuning of rejection on commands, at most a few of them lost, and on other recordings.

With a filler in the grammar its penalty is fitted, otherwise the minimum likelihood ratios of the words.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal

import numpy as np

from asr.acoustic.model_metadata import Rejection
from asr.acoustic.search_settings import SearchSettings
from asr.grammar.filler import without_filler
from asr.recognition.decoder import recognize
from asr.recognition.speech_ratios import SpeechRatio, checksum
from asr.runs.progress import counted
from asr.scoring.wer import score_utterances
from asr.training.dataset import Dataset
from asr.training.tuning.search import FoldScores, Hypotheses

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

    def recognized(scored: FoldScores, penalty: float) -> Hypotheses:
        return scored.recognized([search.model_copy(update={"filler_penalty": penalty})])[0]

    right = _right(commands, recognized(commands, NO_FILLER))

    @cache
    def lost(penalty: float) -> int:
        found = recognized(commands, penalty)
        return sum(found[name] != tuple(commands.held_out.references[name]) for name in right)

    @cache
    def accepted(penalty: float) -> int:
        return sum(bool(words) for words in recognized(others, penalty).values())

    penalty = best_penalty(lost, accepted, MAX_LOST * len(right))
    counts = {"lost": lost(penalty), "accepted": accepted(penalty), "accepted_without": accepted(NO_FILLER)}
    found = _rejection("filler", commands, others.held_out, right, recognized(commands, penalty), counts)
    return search.model_copy(update={"filler_penalty": penalty}), found


def fit_limits(commands: FoldScores, others: Dataset, search: SearchSettings) -> tuple[SearchSettings, Rejection]:
    """Choose the limits that accept the fewest other recordings and lose at most 5 % of commands.

    Returns the settings with them. See `best_limits`.
    """
    search = search.model_copy(update={"min_phone_llr": None, "min_silence_llr": None})
    ratios, words = _ratios(commands, commands.held_out, search)
    right = _right(commands, words)
    of_commands = np.array([ratios[name] for name in right]).reshape(-1, 2)
    of_others = np.array(list(_ratios(commands, others, search)[0].values())).reshape(-1, 2)
    limits = best_limits(of_commands, of_others, MAX_LOST * len(right)) if right else (None, None)
    lowest = np.array([-np.inf if limit is None else limit for limit in limits])
    kept = {name: said if (np.array(ratios.get(name, ())) >= lowest).all() else () for name, said in words.items()}
    counts = {
        "lost": int((of_commands < lowest).any(axis=1).sum()),
        "accepted": int((of_others >= lowest).all(axis=1).sum()),
        "accepted_without": len(of_others),
    }
    found = _rejection("ratios", commands, others, right, kept, counts)
    return search.model_copy(update=dict(zip(("min_phone_llr", "min_silence_llr"), limits, strict=True))), found


def _right(commands: FoldScores, words: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the commands that are recognized without error."""
    return [name for name, said in commands.held_out.references.items() if said and words.get(name) == tuple(said)]


def _rejection(
    by: Literal["filler", "ratios"],
    commands: FoldScores,
    others: Dataset,
    right: list[str],
    hypotheses: Hypotheses,
    counts: Mapping[str, int],
) -> Rejection:
    report = score_utterances(commands.held_out.references, hypotheses)
    return Rejection(
        by=by,
        grammar=checksum(commands.graph),
        grammar_words=len(without_filler(commands.graph.words)),
        commands=len(right),
        others=len(others.static),
        words=report.words,
        errors=report.errors,
        **counts,
    )


def _ratios(
    commands: FoldScores, dataset: Dataset, search: SearchSettings
) -> tuple[dict[str, SpeechRatio], dict[str, tuple[str, ...]]]:
    """Return the ratios of utterances with words, and the words of all utterances."""
    model, graph, workers = commands.model, commands.graph, commands.workers
    with counted(len(dataset.static), "likelihood ratios") as finished:
        found = recognize(model, dataset.static, graph, search, ratios=True, workers=workers, progress=finished)
    whole = {name: ratios.whole() for name, ratios in found.ratios.items()}
    return {name: ratio for name, ratio in whole.items() if ratio is not None}, found.hypotheses


def best_penalty(lost: Callable[[float], int], accepted: Callable[[float], int], max_lost: float) -> float:
    """Return the penalty, to three digits, that accepts fewest and loses at most `max_lost`.

    A larger penalty loses more commands and accepts fewer other recordings, so the largest admissible one accepts
    fewest. Among penalties that accept equally few, the middle one on a logarithmic scale is chosen as the most robust.
    """
    admissible = next(place for place, penalty in enumerate(PENALTIES) if lost(penalty) <= max_lost)  # always found
    larger = PENALTIES[max(0, admissible - 1)]
    largest = _halved(PENALTIES[admissible], larger, lambda between: lost(between) <= max_lost)
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


def best_limits(commands: np.ndarray, others: np.ndarray, max_lost: float) -> tuple[float | None, float | None]:
    """Return the limits that accept fewest others and lose at most `max_lost` commands; None for one not needed.

    Utterances below either limit are rejected. Among pairs that accept equally few, the one that loses the fewest
    commands is chosen. Each limit is midway between the nearest accepted command and the nearest rejected other
    recording.

    Parameters
    ----------
    commands : float64 (n, 2)
        Ratios of recognized commands, n at least 1.
    others : float64 (m, 2)
        Ratios of other recordings in which commands were recognized.
    max_lost : float
        Maximum number of lost commands.
    """
    most = min(int(max_lost), len(commands) - 1)
    pairs = []
    for first in np.sort(commands[:, 0])[: most + 1]:
        kept = commands[commands[:, 0] >= first]
        n_lost = len(commands) - len(kept)
        passing = others[others[:, 0] >= first, 1]
        for more, second in enumerate(np.sort(kept[:, 1])[: max(0, most - n_lost) + 1]):
            if n_lost + more <= most:
                pairs.append((int((passing >= second).sum()), n_lost + more, (float(first), float(second))))
    lowest: list[float] = list(min(pairs, key=lambda pair: pair[:2])[2])  # the smallest limits lose no command
    limits: list[float | None] = [None, None]
    for axis in (0, 1):
        kept, rest = (ratios[ratios[:, 1 - axis] >= lowest[1 - axis], axis] for ratios in (commands, others))
        rejected = rest[rest < lowest[axis]]
        middle = (rejected.max() + kept[kept >= lowest[axis]].min()) / 2 if len(rejected) else -np.inf
        limits[axis], lowest[axis] = float(middle) if len(rejected) else None, float(middle)
    return limits[0], limits[1]
