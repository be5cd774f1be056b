"""Fit of a transcript against edited ones: a word left out, or other phones between two words.

A wrong word changes the score of a long transcript little. So the transcript competes with the best of all transcripts
that lack one of its words, and with the best of all that have any phones in addition to it. A transcript with an added
word loses the first comparison, one with a missing word the second. Both are repeated with a transcript that has a word
added or removed at random, which gives the margins of wrong transcripts on the same frames.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from asr.decode.token_passing import best_path
from asr.hmm.state_graph import StateGraph, StateGraphBuilder
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon

MAX_WORDS = 200  # longer transcripts have no margins, because there is a phone loop for every word
BEAMS = (400.0, float("inf"))  # narrower ones lose the best path through a wrong transcript

Edit = Literal["none", "leave-out", "insert"]


@dataclass(frozen=True)
class EditMargins:
    """Margins by which a transcript fits better than edited ones; nan if unknown.

    Each is the signed square root of a log likelihood ratio, because the spread of the ratios grows with their size.
    """

    added: float = float("nan")  # against the best transcript without one of its words; low if a word is added
    missing: float = float("nan")  # against the best one with other phones in a gap; low if a word is missing
    rival_added: float = float("nan")  # `added` of the transcript with a word added at random
    rival_missing: float = float("nan")  # `missing` of the transcript with a word removed at random


def edit_margins(
    scores: np.ndarray,
    transcripts: Sequence[Sequence[str]],
    lexicon: Lexicon,
    topology: Topology,
    self_loops: np.ndarray,
) -> EditMargins:
    """Return the margins of the first of `transcripts` on frames; added words are drawn from the others.

    `scores`, float32 (n_frames, n_states), are natural log-likelihoods.
    """
    words, others = tuple(transcripts[0]), [word for words in transcripts[1:] for word in words]
    if not words or len(words) > MAX_WORDS:
        return EditMargins()

    def best(words: Sequence[str], edit: Edit) -> float:
        return _best_score(scores, edited_graph(words, lexicon, topology, edit), topology, self_loops)

    def margin(words: Sequence[str], edit: Edit, own: float | None = None) -> float:
        ratio = (best(words, "none") if own is None else own) - best(words, edit)
        return float(np.sign(ratio) * np.sqrt(abs(ratio))) if np.isfinite(ratio) else float("nan")

    own = best(words, "none")

    random = np.random.default_rng([len(others), *" ".join(words).encode()])
    at, place = int(random.integers(len(words))), int(random.integers(len(words) + 1))
    return EditMargins(
        margin(words, "leave-out", own),
        margin(words, "insert", own),
        margin((*words[:place], others[random.integers(len(others))], *words[place:]), "leave-out")
        if others
        else float("nan"),
        margin((*words[:at], *words[at + 1 :]), "insert") if len(words) > 1 else float("nan"),
    )


def edited_graph(words: Sequence[str], lexicon: Lexicon, topology: Topology, edit: Edit) -> StateGraph:
    """Build the graph of a transcript with exactly one edit: a word left out, or phones inserted between words.

    Context-dependent units are allowed in any context. The first layer has the paths before the edit, the second those
    after it.
    """
    builder = StateGraphBuilder(words)
    pauses = [topology.units(SILENCE), topology.units(SHORT_PAUSE)]
    start = builder.node()
    layers = [[builder.node() for _ in range(len(words) + 1)] for _ in range(1 if edit == "none" else 2)]
    builder.jump(start, layers[0][0])
    builder.chain(start, layers[0][0], pauses[0])
    for gaps in layers:
        for number, word in enumerate(words):
            after = builder.node()
            for pronunciation in lexicon.pronunciations[word]:
                nodes = [gaps[number], *(builder.node() for _ in pronunciation[1:]), after]
                weight = math.log(lexicon.probability(word, pronunciation))
                for begin, end, phone in zip(nodes[:-1], nodes[1:], pronunciation, strict=True):
                    _add_phone(builder, begin, end, phone, topology, weight if begin == nodes[0] else 0.0)
            _add_pause(builder, after, gaps[number + 1], pauses)
    if edit == "leave-out":
        for before, after in zip(layers[0][:-1], layers[1][1:], strict=True):
            builder.jump(before, after)
    elif edit == "insert":
        for before, after in zip(*layers, strict=True):
            inside = builder.node()
            for begin in (before, inside):
                for phone in topology.phones:
                    _add_phone(builder, begin, inside, phone, topology)
            _add_pause(builder, inside, after, pauses)
    builder.finish(layers[-1][-1])
    return builder.build(start)


def _add_phone(
    builder: StateGraphBuilder, start: int, end: int, phone: str, topology: Topology, weight: float = 0.0
) -> None:
    places = topology.alternatives(phone)
    nodes = [start, *(builder.node() for _ in places[1:]), end]
    for begin, following, units in zip(nodes[:-1], nodes[1:], places, strict=True):
        for unit in units.tolist():
            builder.chain(begin, following, [unit], weight=weight if begin == start else 0.0)


def _add_pause(builder: StateGraphBuilder, start: int, end: int, pauses: Sequence[Sequence[int]]) -> None:
    builder.jump(start, end)
    for units in pauses:
        builder.chain(start, end, units)


def _best_score(scores: np.ndarray, graph: StateGraph, topology: Topology, self_loops: np.ndarray) -> float:
    for beam in BEAMS:
        path = best_path(scores, graph, topology.unit_state, self_loops, beam=beam)
        if path is not None and path.complete:
            return path.score
    return float("-inf")
