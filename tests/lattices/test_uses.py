"""What is made of lattices, against plain enumeration of their paths."""

import re
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from asr.decode.graph_compiler import compile_graph
from asr.grammar import arpa_grammar, estimate_ngram, word_loop
from asr.grammar.scoring import score_sentence
from asr.grammar.sentences import sentence_list
from asr.grammar.slf import read_slf, slf_grammar
from asr.lattices import minimum_bayes_risk
from asr.lattices.kaldi_text import read_kaldi_lattices, write_kaldi_lattices
from asr.lattices.minimum_bayes_risk import mbr_decode
from asr.lattices.n_best import n_best, oracle_errors
from asr.lattices.posteriors import arc_posteriors, word_posteriors
from asr.lattices.rescoring import rescored
from asr.lattices.slf import read_slf_lattice, write_slf_lattice
from asr.util.errors import CorpusError, GrammarError
from tests.lattices.test_generation import ARRAYS, LEXICON, all_paths, audio_lattice, phones_heard

SEEDS = range(4)


@pytest.fixture(params=SEEDS)
def lattice(request):
    scores, self_loops, topology = phones_heard(request.param, 60)
    grammar = arpa_grammar(estimate_ngram([["A", "B", "AB"], ["BEE", "A"]], 2, vocabulary=LEXICON.words))
    graph = compile_graph(LEXICON, grammar, topology)
    weights = {"lm_scale": 2.0, "insertion_penalty": -3.0}
    found = audio_lattice(scores, graph, topology, self_loops, lattice_beam=8.0, **weights)
    return found.pruned(6.0)


def edits(one, other) -> int:
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, said in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != said))
    return row[-1]


def probabilities(lattice, scale):
    paths = all_paths(lattice)
    weights = np.exp(scale * (np.array([score for _, _, score in paths]) - lattice.best_score))
    return paths, weights / weights.sum()


@pytest.mark.parametrize("scale", [0.2, 1.0])
def test_posteriors_are_shares_of_the_paths(lattice, scale):
    paths, share = probabilities(lattice, scale)
    expected = np.zeros(lattice.n_arcs)
    for (_, arcs, _), one in zip(paths, share, strict=True):
        expected[arcs] += one
    np.testing.assert_allclose(arc_posteriors(lattice, scale), expected, atol=1e-9)
    segments = lattice.segments(lattice.path(lattice.first))
    for segment, confidence in zip(
        segments, word_posteriors(lattice, segments, arc_posteriors(lattice, scale)), strict=True
    ):
        by_frame = [
            sum(
                one
                for (_, arcs, _), one in zip(paths, share, strict=True)
                if any(s.label == segment.label and s.start <= frame < s.end for s in lattice.segments(arcs))
            )
            for frame in range(segment.start, segment.end)
        ]
        assert confidence == pytest.approx(max(by_frame), abs=1e-9)


def test_the_n_best_are_the_first_of_all_paths_sorted(lattice):
    paths = sorted((score for _, _, score in all_paths(lattice)), reverse=True)
    found = n_best(lattice, 50)
    np.testing.assert_allclose([one.score for one in found], paths[:50], atol=1e-6)
    words = [tuple(segment.label for segment in lattice.segments(one.arcs)) for one in found]
    assert len(set(words)) == len(words)
    assert words[0] == lattice.first
    assert len(n_best(lattice, 10**6)) == len(paths)


def test_the_oracle_has_the_fewest_errors_of_all_paths(lattice):
    rng = np.random.default_rng(0)
    for _ in range(5):
        reference = [str(word) for word in rng.choice([*LEXICON.words, "OTHER"], size=rng.integers(0, 9))]
        assert oracle_errors(lattice, reference) == min(edits(words, reference) for words, _, _ in all_paths(lattice))


@pytest.mark.parametrize("scale", [0.1, 0.5])
def test_the_risk_is_an_expected_number_of_edits_that_only_falls(lattice, scale):
    paths, share = probabilities(lattice, scale)

    def risk(words):
        return sum(one * edits(other, words) for (other, _, _), one in zip(paths, share, strict=True))

    found = mbr_decode(lattice, scale)
    words = found.words
    assert found.risk >= risk(words) - 1e-6  # alignments of several sentences share their common parts
    assert found.risk <= risk(words) + 0.2
    assert risk(words) <= risk(lattice.first) + 1e-3
    for place in found.places:
        assert sum(probability for _, probability in place.words) == pytest.approx(1.0, abs=1e-3)
        assert 0 <= place.begin <= place.end <= lattice.n_frames
    times = [time for segment in found.segments for time in (segment.start, segment.end)]
    assert times == sorted(times)


def test_least_risk_of_long_audio_looks_at_what_is_nearest(lattice, monkeypatch):
    monkeypatch.setattr(minimum_bayes_risk, "MAX_CELLS", 1)
    assert mbr_decode(lattice).risk <= 0.51 * len(lattice.first)
    monkeypatch.setattr(minimum_bayes_risk, "MAX_CELLS", lattice.n_nodes * (2 * len(lattice.first) + 2) - 1)
    assert len(mbr_decode(lattice).words) > 0


def test_no_beam_keeps_the_best_sentence(lattice):
    assert lattice.first in {words for words, _, _ in all_paths(lattice.pruned(0.0))}


def test_one_sentence_alone_is_certain(lattice):
    alone = lattice.pruned(0.0) if len(all_paths(lattice.pruned(0.0))) == 1 else None
    if alone is not None:
        found = mbr_decode(alone)
        assert found.risk == pytest.approx(0.0, abs=1e-9)
        assert found.words == alone.first
        assert word_posteriors(alone, alone.segments(alone.path(alone.first)), arc_posteriors(alone)) == pytest.approx(
            [1.0] * len(alone.first)
        )


def test_rescoring_gives_every_sentence_its_score_by_the_new_grammar(lattice):
    trigram = arpa_grammar(estimate_ngram([["A", "B", "AB"], ["BEE", "A", "A"]], 3, vocabulary=LEXICON.words))
    new = rescored(lattice, trigram, 1.5)
    before = {words: arcs for words, arcs, _ in all_paths(lattice)}
    paths = all_paths(new)
    assert {words for words, _, _ in paths} == set(before)
    for words, arcs, score in paths:
        old = before[words]
        acoustic = lattice.acoustic[old].sum() + lattice.final_acoustic[lattice.target[old[-1]]]
        assert score == pytest.approx(acoustic + 1.5 * score_sentence(trigram, words) - 3.0 * len(words))
        assert new.segments(arcs) == lattice.segments(old)
    assert max(paths, key=lambda path: path[2])[2] == pytest.approx(new.best_score)


def test_rescoring_keeps_what_the_grammar_has_and_says_where_that_is_nothing(lattice):
    words = max(all_paths(lattice), key=lambda path: len(path[0]))[0]
    kept = rescored(lattice, sentence_list([words]))
    assert [found for found, _, _ in all_paths(kept)] == [words]
    assert kept.first == words
    with pytest.raises(GrammarError, match="no sentence of the lattice"):
        rescored(lattice, sentence_list([["A"] * 50]))


def same(one, other):
    """Lattices with the same paths: words may be numbered otherwise."""
    keys = []
    for lattice in (one, other):
        found = defaultdict(list)
        for words, arcs, score in all_paths(lattice):
            times = tuple((segment.start, segment.end) for segment in lattice.segments(arcs))
            found[words].append((times, round(score, 3)))
        keys.append(found)
    assert keys[0].keys() == keys[1].keys()
    for words, rows in keys[0].items():
        for (times, score), (other_times, other_score) in zip(rows, keys[1][words], strict=True):
            assert times == other_times
            assert score == pytest.approx(other_score, abs=2e-3)


def test_slf_lattices_are_read_as_written(lattice, tmp_path):
    borders = [0.0, *(round(0.0075 + 0.01 * frame, 4) for frame in range(1, lattice.n_frames)), 0.613]
    for given in (None, borders):
        write_slf_lattice(tmp_path / "a.lat", lattice, utterance="a", borders=given)
        again = read_slf_lattice(tmp_path / "a.lat", borders=given)
        same(lattice, again)
        assert (again.lm_scale, again.insertion_penalty) == (2.0, -3.0)
        assert again.best_score == pytest.approx(lattice.best_score, abs=2e-3)
    written = (tmp_path / "a.lat").read_bytes()
    write_slf_lattice(tmp_path / "b.lat", lattice, utterance="a", borders=borders)
    assert (tmp_path / "b.lat").read_bytes() == written


def test_a_written_lattice_is_a_grammar_of_its_sentences(lattice, tmp_path):
    write_slf_lattice(tmp_path / "a.lat", lattice)
    grammar = slf_grammar(read_slf(tmp_path / "a.lat"))
    for words, arcs, _ in all_paths(lattice)[:20]:
        score = lattice.grammar[arcs].sum() + lattice.final_grammar[lattice.target[arcs[-1]]]
        assert score_sentence(grammar, words) == pytest.approx(score, abs=1e-3)


def test_kaldi_lattices_are_read_as_written(lattice, tmp_path):
    write_kaldi_lattices(tmp_path / "lat", {"a": lattice, "b": lattice.pruned(2.0)})
    found = dict(read_kaldi_lattices(tmp_path / "lat", lm_scale=2.0, insertion_penalty=-3.0))
    assert list(found) == ["a", "b"]
    same(lattice, found["a"])
    same(lattice.pruned(2.0), found["b"])
    assert found["a"].n_frames == lattice.n_frames


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a \n0 1 A 1,2,1_1\n", "no path leads"),
        ("a \n0 1 A 1;2\n", "Expected 'source target word"),
        ("a \n0 0 A 1,2,1\n0 0,0,\n", "higher node"),
        ("a \n0 7 A 1,2,1\n7 0,0,\n", "8 nodes for 1 links"),
        ("a b\n", "id of an utterance"),
        ("a \n0 1 <eps> 1,2,1\n1 0,0,\n", "only supported for pauses"),
        ("a \n0 1 A 1.1.1,2,1\n1 0,0,\n", "two numbers"),
        ("a \n0 1 A 1e12,2,1\n1 0,0,\n", "1e+12"),
        ("a \n", "no nodes"),
        ("a \n\n", "no nodes"),
        ("a \n0 0,0,\n\na \n0 0,0,\n", "line 1"),
    ],
)
def test_what_is_no_kaldi_lattice_is_told_with_its_line(text, reason, tmp_path):
    (tmp_path / "lat").write_text(text)
    with pytest.raises(CorpusError, match=re.escape(reason)) as texts:
        list(read_kaldi_lattices(tmp_path / "lat"))
    assert "lat:" in str(texts.value)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("t=0.0000", "t=never", "field t= is missing"),
        ("I=0", "I=5000", "numbered from 0"),
        ("S=0", "S=4000", "higher node"),
        (" a=", " b=", "field a= is missing"),
    ],
)
def test_what_is_no_lattice_in_slf_is_told(old, new, reason, tmp_path):
    scores, self_loops, topology = phones_heard(1, 40)
    graph = compile_graph(LEXICON, word_loop(LEXICON.words), topology)
    write_slf_lattice(tmp_path / "a", audio_lattice(scores, graph, topology, self_loops, lattice_beam=3.0))
    text = (tmp_path / "a").read_text()
    (tmp_path / "a").write_text(text.replace(old, new, 1))
    with pytest.raises(GrammarError, match=reason):
        read_slf_lattice(tmp_path / "a")


def test_a_lattice_of_nothing_said_has_one_empty_sentence(lattice):
    empty = replace(
        lattice, node_frame=lattice.node_frame[:1], **{name: getattr(lattice, name)[:0] for name in ARRAYS[1:7]},
        final_acoustic=np.zeros(1), final_grammar=np.zeros(1), first=(),
    )  # fmt: skip
    assert [len(one.arcs) for one in n_best(empty, 3)] == [0]
    assert mbr_decode(empty).words == ()
    assert oracle_errors(empty, ["A", "B"]) == 2
