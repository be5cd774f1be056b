"""The sentence grammar, its word pairs, and the naval resources derived from it."""

from itertools import pairwise

import numpy as np
import pytest

from asr.corpus.synth_sentences import SENTENCE_END, read_sentence_grammar
from asr.grammar.scoring import perplexity
from asr.grammar.word_pair import read_word_pair, word_pair
from asr.lexicon.reading import read_lexicon
from asr.util.errors import GrammarError
from asr.util.resources import resource

SMALL = """
# a comment
<SENTENCE> = STOP | <VERB> [THE] <SHIP> [<WHEN>]
| <SHIP> <VERB> A <SHIP>
<SHIP> = TUG | OLD TUG   # two words
<VERB> = TOW | PASS
<WHEN> = NOW
"""


@pytest.fixture(scope="module")
def naval():
    return read_sentence_grammar(resource("naval", "sentences.txt"))


def read_text(tmp_path, text):
    path = tmp_path / "sentences.txt"
    path.write_text(text, encoding="utf-8")
    return read_sentence_grammar(path)


def all_sentences(grammar, row):
    """Every sentence that a row of symbols stands for, by exhaustion."""
    if not row:
        yield ()
        return
    for head in grammar.rules.get(row[0], ((row[0],),)):
        heads = [head] if row[0] not in grammar.rules else all_sentences(grammar, head)
        for words in heads:
            for rest in all_sentences(grammar, row[1:]):
                yield words + rest


def test_word_pairs_are_those_of_all_sentences(tmp_path):
    grammar = read_text(tmp_path, SMALL)
    expected = {word: set() for word in (*grammar.words, SENTENCE_END)}
    for sentence in set(all_sentences(grammar, ("<SENTENCE>",))):
        for word, successor in pairwise((SENTENCE_END, *sentence, SENTENCE_END)):
            expected[word].add(successor)
    assert grammar.word_pairs() == {word: tuple(sorted(following)) for word, following in expected.items()}


def test_drawing_reaches_every_sentence_and_nothing_else(tmp_path):
    grammar = read_text(tmp_path, SMALL)
    rng = np.random.default_rng(0)
    assert {grammar.draw(rng) for _ in range(2000)} == set(all_sentences(grammar, ("<SENTENCE>",)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<SENTENCE> = GO\n<SENTENCE> = STOP\n", "second time"),
        ("<SENTENCE> = GO <WHERE>\n", "<WHERE>, which no line defines"),
        ("<SENTENCE> = GO\n<WHEN> = NOW\n", "<WHEN> is never used"),
        ("<SENTENCE> = GO <A>\n<A> = TO <B>\n<B> = THE <A>\n", "in a circle"),
        ("<SENTENCE> = [GO]\n", "may be empty"),
        ("<SENTENCE> = GO |\n", "may be empty"),
        ("<SENTENCE> = GO [NOW\n", "unmatched bracket"),
        ("<SENTENCE> = go\n", "'go' is neither"),
        ("GO NOW\n", "is not a rule"),
        ("<START> = GO\n<B> = <START>\n", "no rule <SENTENCE>"),
    ],
)
def test_a_malformed_grammar_is_refused_with_its_reason(tmp_path, text, message):
    with pytest.raises(GrammarError, match=message):
        read_text(tmp_path, text)


def test_the_naval_word_pair_file_is_up_to_date(naval):
    # data/README.md has the command that writes it again.
    assert read_word_pair(resource("naval", "wordpair.txt")) == naval.word_pairs()


def test_the_naval_lexicon_has_exactly_the_words_of_the_sentences(naval):
    assert read_lexicon(resource("naval", "lexicon.txt")).words == naval.words
    assert 250 <= len(naval.words) <= 400


def test_the_naval_task_is_not_trivial(naval):
    rng = np.random.default_rng(0)
    sentences = [naval.draw(rng) for _ in range(200)]
    assert 30 < perplexity(word_pair(naval.word_pairs()), sentences) < 80


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<SENTENCE> = " + "[A] " * 9 + "B", ":1: an alternative has 9 options"),
        ("<SENTENCE> = <A0>\n" + "".join(f"<A{n}> = <A{n + 1}>\n" for n in range(200)) + "<A200> = X", "more than 100"),
        ("<SENTENCE> = " + "X " * 1001, "makes 1001"),
    ],
)
def test_rules_that_would_never_end_are_refused(tmp_path, text, reason):
    (tmp_path / "rules").write_text(text + "\n")
    with pytest.raises(GrammarError, match=reason):
        read_sentence_grammar(tmp_path / "rules")


def test_doublings_of_doublings_are_refused_before_any_is_drawn(tmp_path):
    rules = "".join(f"<A{n}> = <A{n + 1}> <A{n + 1}>\n" for n in range(60))
    (tmp_path / "rules").write_text(f"<SENTENCE> = <A0>\n{rules}<A60> = X\n")
    with pytest.raises(GrammarError, match="makes 1024 words; 1000 are the most"):
        read_sentence_grammar(tmp_path / "rules")
