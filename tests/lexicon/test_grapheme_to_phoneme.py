"""Conversion of letters to phones, compared with enumeration of all segmentations."""

import math
import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.grammar import estimate_ngram
from asr.lexicon import GraphemeToPhoneme, Lexicon, conversion_errors, held_out_errors, read_lexicon
from asr.lexicon.g2p.alignment import START_OF_OTHERS, align_entries, shapes_of
from asr.lexicon.g2p.model import spelling
from asr.lexicon.g2p.ngram import END, FIRST_GRAPHONE, ROOT, START, estimate, step
from asr.lexicon.g2p.search import best_pronunciations, search
from asr.util.errors import LexiconError, ModelFormatError
from discriminants.serialization.model_file import load_arrays, save_arrays

CMU = os.environ.get("CMUDICT", "")
WORDS = [a + b + c for a in "bdtc" for b in ("a", "e", "oo") for c in ("b", "d", "t", "sh", "x")]
SOUNDS = {"oo": ("UW",), "sh": ("SH",), "x": ("K", "S"), "c": ("K",)}


def toy_lexicon() -> Lexicon:
    def spoken(word: str) -> tuple[str, ...]:
        middle, last = word[1 : 3 if "oo" in word else 2], word[3 if "oo" in word else 2 :]
        return tuple(phone for part in (word[0], middle, last) for phone in SOUNDS.get(part, (part.upper(),)))

    return Lexicon({word: (spoken(word),) for word in WORDS})


def segmentations(letters, phones, shapes):
    if not letters and not phones:
        yield ()
        return
    for n, m in shapes:
        if n <= len(letters) and m <= len(phones):
            for rest in segmentations(letters[n:], phones[m:], shapes):
                yield ((letters[:n], phones[:m]), *rest)


def enumerated_em(entries, shapes, n_iterations):
    """Return the log-likelihoods, and the score of the best segmentation of every entry (None without any)."""
    all_of = [list(segmentations(*entry, shapes)) for entry in entries]
    edges = set()
    for letters, phones in entries:
        edges.update(
            (letters[i : i + n], phones[j : j + m])
            for i in range(len(letters))
            for j in range(len(phones) + 1)
            for n, m in shapes
            if i + n <= len(letters) and j + m <= len(phones)
        )
    start = {(a, b): 1.0 if len(a) == len(b) == 1 else START_OF_OTHERS for a, b in edges}
    probability = {graphone: value / sum(start.values()) for graphone, value in start.items()}
    likelihoods = []
    for _ in range(n_iterations):
        counts, total = Counter(), 0.0
        for some in all_of:
            weights = [math.prod(probability[graphone] for graphone in one) for one in some]
            if sum(weights) > 0:
                total += math.log(sum(weights))
                for one, weight in zip(some, weights, strict=True):
                    for graphone in one:
                        counts[graphone] += weight / sum(weights)
        likelihoods.append(total)
        probability = {graphone: counts[graphone] / (sum(counts.values()) or 1) for graphone in edges}
    best = [max((math.prod(probability[g] for g in one) for one in some), default=None) for some in all_of]
    return likelihoods, best, probability


names = st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(names, names), min_size=1, max_size=5), st.integers(1, 3), st.integers(1, 3))
def test_alignment_equals_enumeration_of_all_segmentations(entries, max_letters, max_phones):
    shapes = [tuple(row) for row in shapes_of(max_letters, max_phones).tolist()]
    likelihoods, best, probability = enumerated_em(entries, shapes, 4)
    if not any(value is not None for value in best):
        assert not align_entries(entries, max_letters, max_phones, n_iterations=4).lengths.any()
        return
    found = align_entries(entries, max_letters, max_phones, n_iterations=4)
    assert np.allclose(found.log_likelihoods, likelihoods)
    position = 0
    for (letters, phones), length, value in zip(entries, found.lengths.tolist(), best, strict=True):
        rows = [
            (tuple(filter(None, row[:max_letters])), tuple(filter(None, row[max_letters:])))
            for row in found.graphones[found.tokens[position : position + length]].tolist()
        ]
        position += length
        if value is None:
            assert length == 0
        else:
            assert sum((row[0] for row in rows), ()) == letters and sum((row[1] for row in rows), ()) == phones
            assert math.isclose(math.prod(probability[row] for row in rows), value, rel_tol=1e-6)


def log_probability(ngram, tokens):
    arrays = (ngram.token, ngram.first_child, ngram.shorter, ngram.log_probability, ngram.back_off)
    _, node = step(*arrays, ROOT, START)
    total = 0.0
    for token in (*tokens, END):
        score, node = step(*arrays, node, token)
        total += score
    return total


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(2, 5), min_size=1, max_size=6), min_size=1, max_size=12), st.integers(1, 5))
def test_ngram_equals_that_of_the_grammar_package(sentences, order):
    used = sorted({token for sentence in sentences for token in sentence})
    dense = [[used.index(token) + FIRST_GRAPHONE for token in sentence] for sentence in sentences]
    flat = np.array([token for sentence in dense for token in sentence], np.int64)
    ngram = estimate(flat, np.array(list(map(len, dense))), order)
    twin = estimate_ngram([[str(token) for token in sentence] for sentence in dense], order)
    for sentence in [*dense, [FIRST_GRAPHONE] * 3, dense[0][::-1]]:
        expected = twin.log10_sentence(map(str, sentence)) * math.log(10)
        assert math.isclose(log_probability(ngram, sentence), expected, rel_tol=1e-4, abs_tol=1e-4)


@pytest.fixture(scope="module")
def toy() -> GraphemeToPhoneme:
    return GraphemeToPhoneme.train(toy_lexicon(), order=3)


@pytest.mark.parametrize("word", ["tax", "booshx", "ccat", "xo", "s"])
def test_n_best_equals_enumeration_of_all_segmentations(toy, word):
    numbers = tuple(toy.letters.index(letter) + 1 for letter in word)
    pairs = [(toy._tokens.get(numbers[i : i + n], []), i, n) for i in range(len(word)) for n in (1, 2)]
    starts = defaultdict(list)
    for tokens, i, n in pairs:
        if i + n <= len(word):
            starts[i] += [(token, n) for token in tokens]

    def paths(i):
        if i == len(word):
            yield ()
        for token, n in starts[i]:
            for rest in paths(i + n):
                yield (token, *rest)

    best = {}
    for path in paths(0):
        phones = sum((toy._phones[token] for token in path), ())
        best[phones] = max(best.get(phones, -math.inf), log_probability(toy.ngram, path))
    best.pop((), None)
    expected = sorted(best.values(), reverse=True)
    candidates = [starts[i] for i in range(len(word))]
    found = best_pronunciations(search(toy.ngram, candidates, beam=math.inf, max_hypotheses=10**6), toy._phones, 50)
    assert np.allclose([score for _, score in found], expected[:50], atol=1e-4)
    assert len({phones for phones, _ in found}) == len(found) == min(50, len(expected))
    assert all(math.isclose(best[phones], score, abs_tol=1e-4) for phones, score in found)


def test_toy_words_are_pronounced_and_held_out_ones_mostly(toy):
    lexicon = toy_lexicon()
    assert conversion_errors(toy, lexicon).wrong_words == 0
    errors = held_out_errors(lexicon, used=10, order=3)
    assert errors.words == len(lexicon)
    assert errors.word_error_rate < 20
    assert errors == held_out_errors(lexicon, used=10, order=3)


def test_variants_have_probabilities_that_add_to_one(toy):
    found = toy.pronounce("BOOSH", 5)
    assert found[0][0] == ("B", "UW", "SH")
    assert math.isclose(sum(probability for _, probability in found), 1.0)
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)


@pytest.mark.parametrize(("word", "code"), [("café!", "unseen-letter"), ("a" * 101, "no-pronunciation")])
def test_words_that_cannot_be_converted_raise(toy, word, code):
    with pytest.raises(LexiconError) as caught:
        toy.pronounce(word)
    assert caught.value.code == code


def test_spelling_divides_hangul_and_ignores_case():
    assert spelling("É한") == ("é", "\u1112", "\u1161", "\u11ab")


def test_words_with_too_many_phones_are_named():
    lexicon = Lexicon({"w": (("D", "AH", "B", "UW"),), "a": (("A",),)})
    assert GraphemeToPhoneme.train(lexicon).unaligned == ("w",)
    with pytest.raises(LexiconError, match="max_phones"):
        GraphemeToPhoneme.train(lexicon.subset(["w"]))


@pytest.mark.parametrize("option", [{"order": 0}, {"order": 13}, {"max_phones": 9}, {"max_letters": 0}])
def test_training_with_an_option_out_of_range_raises(option):
    with pytest.raises(LexiconError, match=next(iter(option))):
        GraphemeToPhoneme.train(toy_lexicon(), **option)


def test_held_out_errors_of_few_words_raises():
    with pytest.raises(LexiconError, match="20"):
        held_out_errors(Lexicon({"a": (("A",),)}))


def test_saved_model_pronounces_the_same(toy, tmp_path):
    toy.save(tmp_path / "a")
    loaded = GraphemeToPhoneme.load(tmp_path / "a")
    assert loaded.pronounce("booxat", 5) == toy.pronounce("booxat", 5)
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "name",
    ["token", "first_child", "shorter", "log_probability", "back_off", "graphones", "letters", "order", "format"],
)
def test_damaged_model_is_refused(toy, tmp_path, name):
    toy.save(tmp_path / "a")
    arrays, metadata = load_arrays(tmp_path / "a")
    if name in arrays:
        last = arrays[name].reshape(-1)
        last[-1] = 10**6
    else:
        metadata[name] = [1]
    save_arrays(tmp_path / "a", arrays, metadata)
    with pytest.raises(ModelFormatError):
        GraphemeToPhoneme.load(tmp_path / "a")


def test_missing_model_is_refused(tmp_path):
    with pytest.raises(ModelFormatError):
        GraphemeToPhoneme.load(tmp_path / "none")


@pytest.mark.slow
@pytest.mark.skipif(not Path(CMU).is_file(), reason="CMUDICT does not name a file cmudict.dict")
def test_a_tenth_of_the_cmu_dictionary_is_converted():
    lexicon = read_lexicon(CMU)
    part = lexicon.subset(lexicon.words[::10])
    assert held_out_errors(part).phone_error_rate < 20
