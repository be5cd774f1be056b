"""Whether the back-off weights of an n-gram model can be those of probabilities."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from asr.grammar.arpa import START, ArpaModel, Ngram

ROUNDING = 0.01
"""log10; files are written with four to seven digits."""


class TooLikely(NamedTuple):
    """A word that is more than certain after a history that does not list it."""

    history: Ngram
    word: str
    log10_probability: float


def more_than_certain(model: ArpaModel) -> TooLikely | None:
    """The first word that gets a probability above one by backing off, if there is any.

    A weight above one is no fault by itself: what a history lists may be less likely after it than elsewhere, and the
    other words share the rest. But as all probabilities after a history sum to one, none of them is more than one
    (Katz 1987). With weights for which that does not hold, every step back would be a gain, and a search would take
    as many as it can.

    The time this takes is linear in the size of the model: only the likeliest words of shorter histories are looked
    at, down to the first that the history does not list.
    """
    above_one = [history for history, weight in model.back_offs.items() if weight > ROUNDING]
    if not above_one:
        return None
    likeliest = _likeliest_first(
        model, {shorter for history in above_one for shorter, _ in _steps_back(model, history)}
    )
    for history in above_one:
        for shorter, weight in _steps_back(model, history):
            for log_probability, word in likeliest.get(shorter, ()):
                if log_probability + weight <= ROUNDING:
                    break
                if word != START and not _is_listed(model, history, len(shorter), word):
                    return TooLikely(history, word, log_probability + weight)
    return None


def _steps_back(model: ArpaModel, history: Ngram) -> Iterator[tuple[Ngram, float]]:
    """The shorter histories, longest first, with the sum of all weights on the way there."""
    weight = 0.0
    while history:
        weight += model.back_offs.get(history, 0.0)
        history = history[1:]
        yield history, weight


def _likeliest_first(model: ArpaModel, histories: set[Ngram]) -> Mapping[Ngram, list[tuple[float, str]]]:
    """The words that each of `histories` lists."""
    found: dict[Ngram, list[tuple[float, str]]] = {}
    for section in model.log_probabilities:
        for ngram, log_probability in section.items():
            if ngram[:-1] in histories:
                found.setdefault(ngram[:-1], []).append((log_probability, ngram[-1]))
    for words in found.values():
        words.sort(reverse=True)
    return found


def _is_listed(model: ArpaModel, history: Ngram, shorter: int, word: str) -> bool:
    """Whether `history`, or one of its ends that is longer than `shorter` words, lists the word."""
    return any(
        (*history[first:], word) in model.log_probabilities[len(history) - first]
        for first in range(len(history) - shorter)
        if len(history) - first < model.order
    )
