"""The dictionary itself: what it refuses, reports and derives."""

import pickle

import pytest

from asr.lexicon import Lexicon, with_own_phones
from asr.util.errors import LexiconError

DIGITS = Lexicon({"TWO": (("T", "UW"),), "A": (("EY",), ("AH",), ("EY",))}, "digits.txt")


def test_words_and_phones_are_sorted_and_a_repeated_variant_counts_once() -> None:
    assert DIGITS.words == ("A", "TWO")
    assert DIGITS.phones == ("AH", "EY", "T", "UW")
    assert DIGITS["A"] == (("EY",), ("AH",))
    assert "TWO" in DIGITS
    assert len(DIGITS) == 2


def test_out_of_vocabulary_words_are_counted() -> None:
    assert DIGITS.out_of_vocabulary([["A", "TWO", "six"], ["six", "two"], []]) == {"six": 2, "two": 1}


@pytest.mark.parametrize(
    "pronunciations",
    [
        {},
        {"A": ()},
        {"A": ((),)},
        {"A": (("B", ""),)},
        {"A B": (("C",),)},
        {"": (("C",),)},
        {"A": (("B C",),)},
    ],
)
def test_words_without_phones_and_impossible_names_are_refused(pronunciations: dict) -> None:
    with pytest.raises(LexiconError, match=r"digits\.txt"):
        Lexicon(pronunciations, "digits.txt")


def test_a_lexicon_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        DIGITS.pronunciations["B"] = (("B",),)  # type: ignore[index]


def test_subset_keeps_the_named_words_and_refuses_others() -> None:
    assert DIGITS.subset(["TWO"]).pronunciations == {"TWO": (("T", "UW"),)}
    with pytest.raises(LexiconError, match="'SIX'"):
        DIGITS.subset(["SIX"])


def test_probabilities_are_relative_and_kept_by_copies() -> None:
    variants = {"A": (("EY",), ("AH",)), "TWO": (("T", "UW"),)}
    lexicon = Lexicon(variants, probabilities={("A", ("EY",)): 0.1, ("A", ("AH",)): 0.4, ("TWO", ("T", "UW")): 0.2})
    assert lexicon.probabilities == {("A", ("EY",)): 0.25}
    assert lexicon != DIGITS and lexicon.digest() != DIGITS.digest()
    assert pickle.loads(pickle.dumps(lexicon)) == lexicon
    assert lexicon.subset(["A"]).probability("A", ("EY",)) == 0.25
    assert lexicon.restricted({"A": (("EY",),)}).probabilities == {}
    assert with_own_phones(lexicon).probability("A", ("EY_A_0",)) == 0.25
    with pytest.raises(LexiconError, match=r"'A'.*0\.0"):
        Lexicon(variants, probabilities={("A", ("EY",)): 0.0})


def test_a_phone_the_model_lacks_is_named_with_its_word() -> None:
    DIGITS.require_phones(["AH", "EY", "T", "UW", "SIL"])
    with pytest.raises(LexiconError, match=r"'TWO' uses the phone 'UW'.*AH EY T"):
        DIGITS.require_phones(["AH", "EY", "T"])


def test_the_digest_depends_on_the_content_alone() -> None:
    same = Lexicon({"A": (("EY",), ("AH",)), "TWO": (("T", "UW"),)}, "elsewhere.txt")
    assert same == DIGITS
    assert same.digest() == DIGITS.digest()
    assert Lexicon({"A": (("AH",), ("EY",)), "TWO": (("T", "UW"),)}).digest() != DIGITS.digest()


@pytest.mark.parametrize(
    ("pronunciations", "reason"),
    [
        ({"A": (("a",) * 1001,)}, "'A' has 1001 phones"),
        ({"A": tuple((f"p{n % 40}", f"p{n // 40}") for n in range(1001))}, "'A' has 1001 variants"),
        ({f"W{n}": ((f"p{n}",),) for n in range(50_001)}, "more than 50000 different phones"),
        ({"A\x1b[2J": (("a",),)}, "control character"),
        ({"A": (("a\x07",),)}, "control character"),
    ],
)
def test_a_lexicon_of_no_language_is_refused(pronunciations: dict, reason: str) -> None:
    with pytest.raises(LexiconError, match=reason):
        Lexicon(pronunciations, "digits.txt")
