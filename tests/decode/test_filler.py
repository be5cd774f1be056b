"""The filler of a graph against a naive twin: every phone of the filler spelled out as a word of its own."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.alignment.transcript_graph import transcript_graph
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import Segment, word_segments
from asr.decode.token_passing import best_path
from asr.grammar import Grammar, word_loop
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.grammar.hparse import hparse_grammar
from asr.grammar.sentences import sentence_list
from asr.hmm.state_graph import FILLER_PHONE, StateGraph, StateGraphBuilder
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon
from tests.decode.test_context_expansion import topologies, units_said, ways_to_say
from tests.decode.test_graph_compiler import (
    N_FRAMES,
    TOPOLOGY,
    best_grammar_score,
    lexicons,
    scores_and_self_loops,
)
from tests.lattices.test_generation import all_paths, audio_lattice

WORDS = ("A", "B", FILLER_WORD)
PHONES = ("#x", "#y")
PENALTIES = st.sampled_from([0.0, -2.0, 1.5])


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    if draw(st.booleans()):
        return word_loop(draw(st.sampled_from([("A", FILLER_WORD), (FILLER_WORD,), WORDS])))
    sentences = draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=4))
    return sentence_list([*sentences, (FILLER_WORD,)])


def spelled_out(words: tuple[str, ...], most: int = N_FRAMES // 2) -> list[tuple[tuple[str, ...], ...]]:
    """Every way to say the words with phones as words in place of the filler, as groups, one for each word."""
    fillers = [group for length in range(1, most + 1) for group in product(PHONES, repeat=length)]
    ways = product(*(fillers if word == FILLER_WORD else [(word,)] for word in words))
    return [way for way in ways if sum(map(len, way)) <= most]


def segments_of(words: tuple[str, ...], way: tuple[tuple[str, ...], ...], parts: list[Segment]) -> list[Segment]:
    """The words with the times of their groups."""
    found, place = [], 0
    for word, group in zip(words, way, strict=True):
        found.append(Segment(word, parts[place].start, parts[place + len(group) - 1].end))
        place += len(group)
    return found


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(lexicons, grammars(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0]), PENALTIES, PENALTIES)
def test_filler_best_path_equals_phones_spelled_out_as_words(
    lexicon, grammar, seed, lm_scale, insertion_penalty, filler_penalty
):
    scores, self_loops = scores_and_self_loops(seed, TOPOLOGY, N_FRAMES)
    other = Lexicon({**lexicon.pronunciations, "#x": (("x",),), "#y": (("y",),)})

    @cache
    def aligned(words: tuple[str, ...]) -> tuple[float, list[Segment]] | None:
        transcript = transcript_graph(words, other, TOPOLOGY)
        path = best_path(scores, transcript, TOPOLOGY.unit_state, self_loops)
        return (path.score, word_segments(path, transcript, TOPOLOGY)) if path is not None and path.complete else None

    totals: dict[tuple[str, ...], list[tuple[float, list[Segment]]]] = {}
    for words in (words for n in range(1, N_FRAMES // 2 + 1) for words in product(grammar.words, repeat=n)):
        expected = best_grammar_score(grammar, words)
        for way in spelled_out(words) if expected > -np.inf else ():
            alone = aligned(tuple(word for group in way for word in group))
            if alone is not None:
                n_phones = sum(len(group) for word, group in zip(words, way, strict=True) if word == FILLER_WORD)
                total = alone[0] + lm_scale * expected + insertion_penalty * len(words) + filler_penalty * n_phones
                totals.setdefault(words, []).append((total, segments_of(words, way, alone[1])))
    weights = {"lm_scale": lm_scale, "insertion_penalty": insertion_penalty, "filler_penalty": filler_penalty}
    graph = compile_graph(lexicon, grammar, TOPOLOGY)
    path = best_path(scores, graph, TOPOLOGY.unit_state, self_loops, **weights)
    best = {words: max(total for total, _ in ways) for words, ways in totals.items()}
    found = word_segments(path, graph, TOPOLOGY)
    words = tuple(segment.label for segment in found)
    assert path.score == pytest.approx(max(best.values()), abs=2e-4)
    assert best[words] == pytest.approx(path.score, abs=2e-4)
    assert found in [segments for total, segments in totals[words] if total > best[words] - 2e-4]

    lattice = audio_lattice(scores, graph, TOPOLOGY, self_loops, lattice_beam=5.0, **weights)
    paths = {words: (score, arcs) for words, arcs, score in all_paths(lattice)}
    for words, score in best.items():
        if score > max(best.values()) - 4.9:
            assert paths[words][0] == pytest.approx(score, abs=2e-4)
            timed = [parts for total, parts in totals[words] if total > score - 2e-4]
            assert lattice.segments(paths[words][1]) in timed


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(lexicons, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), PENALTIES)
def test_filler_in_context_takes_any_state_of_each_phone(lexicon, tree, seed, filler_penalty):
    topology = topologies(tree)
    scores, self_loops = scores_and_self_loops(seed, topology, N_FRAMES)
    grammar = sentence_list([("A",), (FILLER_WORD, "A"), ("A", FILLER_WORD), (FILLER_WORD,)])
    other = Lexicon({**lexicon.pronunciations, "#x": (("#x",),), "#y": (("#y",),)})
    best = -np.inf
    for words in [("A",), (FILLER_WORD, "A"), ("A", FILLER_WORD), (FILLER_WORD,)]:
        for way in spelled_out(words):
            said = tuple(word for group in way for word in group)
            penalty = filler_penalty * sum(word in PHONES for word in said)
            for phones, _ in ways_to_say(said, other):
                if sum(1 if phone == SHORT_PAUSE else 2 for phone, _ in phones) <= N_FRAMES:
                    path = best_path(scores, _spelled(phones, topology), topology.unit_state, self_loops)
                    best = max(best, path.score + best_grammar_score(grammar, words) + penalty)
    graph = compile_graph(lexicon, grammar, topology)
    path = best_path(scores, graph, topology.unit_state, self_loops, filler_penalty=filler_penalty)
    assert path.score == pytest.approx(best, abs=2e-4)


def _spelled(phones: list[tuple[str, bool]], topology: Topology) -> StateGraph:
    """One string of phones, those of the filler in every state they may have, and no context of their neighbors."""
    known = [(SILENCE if phone in PHONES else phone, begins) for phone, begins in phones]
    builder = StateGraphBuilder(())
    node = builder.node()
    start, rest = node, iter(units_said(known, topology))
    for phone, _ in phones:
        own = [next(rest) for _ in range(1 if phone == SHORT_PAUSE else 2)]
        places = topology.alternatives(phone[1:]) if phone in PHONES else [np.array([unit]) for unit in own]
        for units in places:
            end = builder.node()
            for unit in units.tolist():
                builder.chain(node, end, [unit])
            node = end
    builder.finish(node)
    return builder.build(start)


@pytest.mark.parametrize("in_context", [False, True])
def test_filler_of_60_commands_is_in_graph_once_a_place(in_context: bool) -> None:
    topology = topologies(1) if in_context else Topology(("x", "y"), 2)
    rng = np.random.default_rng(0)
    words = {f"W{number}": ("".join(rng.choice(list("xy"), 7)),) for number in range(60)}
    lexicon = Lexicon({word: (tuple(phones[0]),) for word, phones in words.items()})
    n_first = sum(len(topology.alternatives(phone)[0]) for phone in topology.phones)
    command = f"$command = {' | '.join(words)};"
    for text, places in ((f"{command} ( $command | $other )", 1), (f"{command} ( [ $other ] $command [ $other ] )", 2)):
        grammar = hparse_grammar([text], "commands", lexicon.words)
        graph = compile_graph(lexicon, grammar, topology)
        # In context there is one loop before a pause and one before other units, which differ before the filler ends.
        n_loops = places * (2 if in_context else 1)
        assert (graph.arc_filler == FILLER_PHONE).sum() == 2 * n_first * n_loops


def test_hparse_that_defines_other_keeps_its_own() -> None:
    grammar = hparse_grammar(["$other = A; ( $other | B )"], "commands", ("A", "B"))
    assert grammar.words == ("A", "B")


def test_filler_word_in_lexicon_is_an_ordinary_word() -> None:
    graph = compile_graph(Lexicon({"A": (("x",),), FILLER_WORD: (("y",),)}), word_loop(("A", FILLER_WORD)), TOPOLOGY)
    assert graph.arc_filler is None
    assert without_filler(("A", FILLER_WORD)) == ("A",)
