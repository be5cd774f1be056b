"""Choice of system weights for a combination, by the word errors on transcribed speech."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asr.lattices.combination import Slot, voted
from asr.lattices.confusion_network import Bin, spoken
from asr.scoring.repeated_counts import RepeatedCounts
from asr.util.errors import CorpusError

SHARES = tuple(number / 10 for number in range(11))
NULLS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
_MAX_ROUNDS = 10
_STANDARD_ERRORS = 2.0
"""Minimum gain in standard errors, because the best of dozens of votes is partly chance."""


@dataclass(frozen=True)
class AlignedUtterance:
    """Aligned places of an utterance (see `asr.lattices.combination.aligned`), and the systems that have it."""

    systems: tuple[int, ...]
    slots: Sequence[Slot]


@dataclass(frozen=True)
class Vote:
    """Weights of systems, which sum to 1, and the factor on the probability of no word."""

    weights: tuple[float, ...]
    null: float

    def places(self, utterance: AlignedUtterance) -> list[Bin]:
        """Return the network of the systems that have the utterance, equally weighted if their weights are 0."""
        weights = [self.weights[number] for number in utterance.systems]
        return voted(utterance.slots, weights if any(weights) else [1.0] * len(weights), self.null)


@dataclass(frozen=True)
class ChosenVote:
    """Chosen vote, word errors with it and with the initial vote, and number of reference words."""

    vote: Vote
    errors: int
    errors_before: int
    words: int


def equal_weights(n_systems: int) -> tuple[float, ...]:
    """Return equal weights that sum to 1."""
    return (1.0 / n_systems,) * n_systems


def choose_vote(
    utterances: Mapping[str, AlignedUtterance], references: Mapping[str, Sequence[str]], start: Vote
) -> ChosenVote:
    """Return the vote with the fewest word errors, by coordinate search.

    In turn, each system's weight takes all values of `SHARES` (the others stay in proportion), then `null` all values
    of `NULLS`, until the errors stop decreasing. Ties are resolved in favor of the vote nearest to the start, which
    should have equal weights. The start is kept if the gain is at most twice its standard error over utterances.

    Raises CorpusError if no utterance with words is in both.

    Parameters
    ----------
    utterances : mapping of utterance to AlignedUtterance
    references : mapping of utterance to words
        Utterances in only one of the two mappings are ignored.
    """
    shared = sorted(utterances.keys() & references.keys())
    n_words = sum(len(references[name]) for name in shared)
    if not n_words:
        raise CorpusError(
            "The transcripts and the systems have no utterance with words in common. Use transcripts of the same speech"
        )
    counting = RepeatedCounts({name: references[name] for name in shared})

    def errors_of(vote: Vote) -> np.ndarray:
        places = {name: spoken(vote.places(utterances[name])) for name in shared}
        return counting.errors({name: tuple(place.words[0][0] for place in own) for name, own in places.items()})[0]

    before = errors_of(start)
    best, errors = start, before
    for _ in range(_MAX_ROUNDS):
        at_first = errors.sum()
        for k in range(len(start.weights) + 1):
            if k < len(start.weights):
                candidates = [_with_share(best, k, share) for share in SHARES]
            else:
                candidates = [Vote(best.weights, null) for null in NULLS]
            for vote in sorted(candidates, key=lambda vote: _distance(vote, start)):
                found = errors_of(vote)
                if found.sum() < errors.sum():
                    best, errors = vote, found
        if errors.sum() == at_first:
            break
    gain = before - errors
    if gain.sum() <= _STANDARD_ERRORS * np.sqrt((gain**2).sum()):
        best, errors = start, before
    return ChosenVote(best, int(errors.sum()), int(before.sum()), n_words)


def _with_share(vote: Vote, number: int, share: float) -> Vote:
    """Return the vote with another weight of one system, rounded as printed."""
    others = 1.0 - vote.weights[number]
    rest = len(vote.weights) - 1
    weights = (
        share if k == number else (1.0 - share) * (weight / others if others > 0 else 1.0 / rest)
        for k, weight in enumerate(vote.weights)
    )
    return Vote(tuple(round(weight, 3) for weight in weights), vote.null)


def _distance(vote: Vote, start: Vote) -> float:
    shares = sum(abs(one - other) for one, other in zip(vote.weights, start.weights, strict=True))
    return shares + abs(vote.null - start.null)
