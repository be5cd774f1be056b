"""The automaton of lexicon and grammar against OpenFst's composition, determinization and minimization."""

import pytest
from hypothesis import given, settings

from asr.decode.prefix_trees import InputLabels, lexicon_with_grammar
from asr.grammar.automaton_arrays import automaton_arrays
from benchmarks.decoding_graph.openfst import compose, lexicon_transducer
from tests.decode.test_context_expansion import accepted
from tests.decode.test_graph_compiler import TOPOLOGY, grammars, weighted_lexicons


@settings(max_examples=60, deadline=None)
@given(weighted_lexicons, grammars())
def test_lexicon_with_grammar_equals_openfst(lexicon, grammar):
    labels = InputLabels(TOPOLOGY)
    ours = lexicon_with_grammar(lexicon, grammar, TOPOLOGY, labels)
    theirs = automaton_arrays(compose(lexicon_transducer(lexicon, grammar, TOPOLOGY, labels), grammar))
    assert ours is not None
    assert abs(len(ours.final_cost) - len(theirs.final_cost)) <= 2  # costs near a limit of rounding
    found, expected = accepted(ours, 5), accepted(theirs, 5)
    assert found.keys() == expected.keys()
    for labels_of_path, cost in expected.items():
        assert found[labels_of_path] == pytest.approx(cost, abs=1e-3)
