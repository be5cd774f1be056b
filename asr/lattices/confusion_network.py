"""Confusion networks (Mangu et al. 2000): a sequence of bins with alternative words."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from asr.decode.path_segments import Segment


@dataclass(frozen=True)
class Bin:
    """A bin of a confusion network."""

    words: tuple[tuple[str, float], ...]  # words and probabilities, the chosen one first; "" for no word
    begin: float  # frames, or the network's unit of time; expected over the words
    end: float  # the same for the end


def spoken(places: Iterable[Bin]) -> list[Bin]:
    """Return the bins whose chosen word is not ""."""
    return [place for place in places if place.words[0][0]]


def spoken_segments(places: Iterable[Bin]) -> list[Segment]:
    """Return the chosen words with their probabilities; times are rounded to units without overlap."""
    found: list[Segment] = []
    said = spoken(places)
    for place, following in zip_longest(said, said[1:]):
        start = max(round(place.begin), found[-1].end if found else 0)
        end = max(round(place.end), start)
        if following is not None:
            end = max(start, min(end, round(following.begin)))
        word, probability = place.words[0]
        found.append(Segment(word, start, end, min(1.0, probability)))
    return found
