"""How readily the filler takes what was said: fitted to commands, few of which may be lost, and to other recordings."""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from asr.acoustic.search_settings import SearchSettings
from asr.training.tuning import Scored

log = logging.getLogger(__name__)

MOST_LOST = 0.05
"""Share of the commands that may be lost."""
NO_FILLER = -1e6
"""Penalty at which no path takes the filler."""
PENALTIES = (0.0, *(-(2.0**power) for power in range(13)), NO_FILLER)
"""Tried first, the largest first."""
_HALVINGS = 5  # of the gap between two of them


@dataclass(frozen=True)
class Rejection:
    """How commands and other recordings fare under a filler penalty.

    Attributes
    ----------
    penalty : float
    lost, commands : int
        Commands that were right without the filler and are not with it, and all that were right without it.
    accepted, others : int
        Other recordings in which words of the grammar were recognized, and all of them.
    accepted_without : int
        The same without the filler.
    """

    penalty: float
    lost: int
    commands: int
    accepted: int
    others: int
    accepted_without: int


def fit_rejection(commands: Scored, others: Scored, search: SearchSettings) -> Rejection:
    """Choose the filler penalty that accepts the fewest other recordings and loses at most 5 % of the commands.

    See `best_penalty` for how.
    """
    references = commands.twin.held_out.references
    baseline = _recognized(commands, search, NO_FILLER)
    right = [name for name, words in references.items() if words and baseline[name] == tuple(words)]

    @cache
    def lost(penalty: float) -> int:
        found = _recognized(commands, search, penalty)
        return sum(found[name] != tuple(references[name]) for name in right)

    @cache
    def accepted(penalty: float) -> int:
        return sum(bool(words) for words in _recognized(others, search, penalty).values())

    penalty = best_penalty(lost, accepted, MOST_LOST * len(right))
    found = Rejection(
        penalty, lost(penalty), len(right), accepted(penalty), len(others.twin.held_out.static), accepted(NO_FILLER)
    )
    log.info(
        "filler: penalty %g loses %d of %d commands and accepts %d of %d other recordings (%d without a filler)",
        found.penalty, found.lost, found.commands, found.accepted, found.others, found.accepted_without,
    )  # fmt: skip
    return found


def best_penalty(lost: Callable[[float], int], accepted: Callable[[float], int], most_lost: float) -> float:
    """Return the penalty, to three digits, that accepts fewest and loses at most `most_lost`.

    A larger penalty loses more commands and accepts fewer other recordings. So the largest one that loses few enough
    accepts fewest. Smaller ones may accept as few: of all these the one in the middle, on a logarithmic scale, is the
    safest for other speech.
    """
    bearable = next(place for place, penalty in enumerate(PENALTIES) if lost(penalty) <= most_lost)  # at last without
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
    """Move the penalty at which a condition holds towards one at which it fails, by halving the gap."""
    for _ in range(_HALVINGS if holds != fails else 0):
        between = _rounded((holds + fails) / 2)
        if condition(between):
            holds = between
        else:
            fails = between
    return holds


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _recognized(scored: Scored, search: SearchSettings, penalty: float) -> Mapping[str, tuple[str, ...]]:
    return scored.recognized([search.model_copy(update={"filler_penalty": penalty})])[0]
