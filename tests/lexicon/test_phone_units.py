"""Transcripts whose words are phones."""

import pytest

from asr.alignment.transcript_graph import transcript_graph
from asr.decode.graph_compiler import compile_graph
from asr.grammar.automaton import Arc, build_grammar
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon
from asr.lexicon.named import is_named, lexicon_by_name
from asr.lexicon.phone_units import has_phone_units, phone_lexicon
from asr.util.errors import LexiconError


def test_every_word_is_a_phone_and_marks_are_silence():
    lexicon = phone_lexicon([["h#", "k", "ae", "t"], ["SIL", "ae", "pau"]])
    assert lexicon.phones == ("ae", "k", "t")
    assert lexicon.marks_silence and has_phone_units(lexicon)
    assert lexicon["h#"] == lexicon["SIL"] == lexicon["pau"] == ((SILENCE,),)
    lexicon.require_phones(["ae", "k", "t"])


def test_phones_without_marks_have_optional_pauses():
    lexicon = lexicon_by_name("phones", [["k", "ae"]])
    assert is_named("phones") and not lexicon.marks_silence and has_phone_units(lexicon)


def test_words_are_no_phone_units():
    assert not has_phone_units(Lexicon({"A": (("A",),), "NO": (("N", "O"),)}))


def test_silence_only_raises():
    with pytest.raises(LexiconError, match="phones"):
        phone_lexicon([["sil"], []])


@pytest.mark.parametrize("marked", [False, True])
def test_marked_silence_removes_optional_pauses_from_both_graphs(marked):
    words = ("k", "sil", "t") if marked else ("k", "t")
    lexicon = phone_lexicon([words])
    topology = Topology(lexicon.phones, 1)
    arcs = [Arc(number, word, 0.0, number + 1) for number, word in enumerate(words)]
    grammar = build_grammar("one", words, arcs, final_costs={len(words): 0.0}, n_states=len(words) + 1)
    expected = [topology.units(phone)[0] for phone in ("k", SILENCE, "t")]
    for graph in (transcript_graph(words, lexicon, topology), compile_graph(lexicon, grammar, topology)):
        units = graph.arc_unit[graph.arc_unit >= 0].tolist()
        assert (sorted(units) == sorted(expected)) == marked
