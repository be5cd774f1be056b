"""Consistency check of the back-off weights of an n-gram model."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from asr.grammar.arpa import START, ArpaModel, Ngram

ROUNDING = 0.01
"""log10; files have four to seven digits."""


class TooLikely(NamedTuple):
    """A word with a probability above one after a history that does not list it."""

    history: Ngram
    word: str
    log10_probability: float


def more_than_certain(model: ArpaModel) -> TooLikely | None:
    """Return the first word that gets a probability above one by back-off, or None.

    A weight above one is not an error by itself: the words that a history lists may be less likely after it than
    elsewhere, and the others share the rest. But probabilities after a history sum to one, so none exceeds one (Katz
    1987). Otherwise every back-off would be a gain, which a search would repeat.

    The time is linear in the size of the model: only the most likely words of shorter histories are checked, up to the
    first that the history does not list.
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
    """Yield the shorter histories, longest first, with the sum of the back-off weights."""
    weight = 0.0
    while history:
        weight += model.back_offs.get(history, 0.0)
        history = history[1:]
        yield history, weight


def _likeliest_first(model: ArpaModel, histories: set[Ngram]) -> Mapping[Ngram, list[tuple[float, str]]]:
    """Return the words that each history lists, most likely first."""
    found: dict[Ngram, list[tuple[float, str]]] = {}
    for section in model.log_probabilities:
        for ngram, log_probability in section.items():
            if ngram[:-1] in histories:
                found.setdefault(ngram[:-1], []).append((log_probability, ngram[-1]))
    for words in found.values():
        words.sort(reverse=True)
    return found


def _is_listed(model: ArpaModel, history: Ngram, shorter: int, word: str) -> bool:
    """Return whether `history`, or a suffix longer than `shorter` words, lists the word."""
    return any(
        (*history[first:], word) in model.log_probabilities[len(history) - first]
        for first in range(len(history) - shorter)
        if len(history) - first < model.order
    )
