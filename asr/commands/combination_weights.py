"""How much each system's vote counts in a combination: chosen on transcribed speech, by the word errors there."""

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
"""That a gain must be above, since the vote with the fewest errors of some dozens is luck to a part."""


@dataclass(frozen=True)
class AlignedUtterance:
    """The aligned places of an utterance (see `asr.lattices.combination.aligned`), and which systems have it."""

    systems: tuple[int, ...]
    slots: Sequence[Slot]


@dataclass(frozen=True)
class Vote:
    """Weights of systems, which sum to 1, and what the probability of nothing is multiplied by."""

    weights: tuple[float, ...]
    null: float

    def places(self, utterance: AlignedUtterance) -> list[Bin]:
        """The network of the systems that have the utterance; alike where none of these has a weight."""
        weights = [self.weights[number] for number in utterance.systems]
        return voted(utterance.slots, weights if any(weights) else [1.0] * len(weights), self.null)


@dataclass(frozen=True)
class ChosenVote:
    """The vote that was chosen, word errors with it and with the vote at the start, and the reference words."""

    vote: Vote
    errors: int
    errors_before: int
    words: int


def equal_weights(n_systems: int) -> tuple[float, ...]:
    """One for each system, summing to 1."""
    return (1.0 / n_systems,) * n_systems


def choose_vote(
    utterances: Mapping[str, AlignedUtterance], references: Mapping[str, Sequence[str]], start: Vote
) -> ChosenVote:
    """The vote with the fewest word errors that a search along one coordinate after the other finds.

    The weight of each system in turn takes every value of `SHARES`, the others keeping their proportions, and last
    `null` every value of `NULLS`, until nothing gives fewer errors. Among equals the one nearest to the start counts,
    in which weights should be equal; and the start itself, where the gain is not above twice its standard error over
    the utterances.

    Parameters
    ----------
    utterances : mapping of utterance to AlignedUtterance
    references : mapping of utterance to words; utterances that only one of the two has say nothing

    Raises
    ------
    CorpusError
        If they share no utterance with words.
    """
    shared = sorted(utterances.keys() & references.keys())
    n_words = sum(len(references[name]) for name in shared)
    if not n_words:
        raise CorpusError("the transcripts have no word of an utterance of the systems; give those of the same speech")
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
    """The vote with this weight of one system; weights are rounded to what is printed of them."""
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
