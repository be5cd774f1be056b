"""Confusion networks (Mangu et al. 2000): one place after the other, and what may stand at each."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from asr.decode.path_segments import Segment


@dataclass(frozen=True)
class Bin:
    """A place of a confusion network.

    Attributes
    ----------
    words : tuple of (str, float)
        What may stand there and how probable it is, what is taken to stand there first; "" is nothing.
    begin, end : float
        Frames, or another unit of time that a whole network shares; expected over the words there.
    """

    words: tuple[tuple[str, float], ...]
    begin: float
    end: float


def spoken(places: Iterable[Bin]) -> list[Bin]:
    """The places where a word stands, and not nothing."""
    return [place for place in places if place.words[0][0]]


def spoken_segments(places: Iterable[Bin]) -> list[Segment]:
    """The first words of the places with their probabilities; times are rounded to units, such that none overlap."""
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
