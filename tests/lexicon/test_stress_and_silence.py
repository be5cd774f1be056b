"""Stress digits of the CMU's phones, and lines that list silence."""

from pathlib import Path

import pytest

from asr.hmm.topology import SHORT_PAUSE, SILENCE
from asr.lexicon import Lexicon, formats, read_lexicon
from asr.lexicon.lexicon import marks_stress
from asr.util.errors import LexiconError

CMU = "HELLO HH AH0 L OW1\nWORLD W ER1 L D\n"


def saved(folder: Path, text: str) -> Path:
    (folder / "lexicon.txt").write_text(text, encoding="utf-8")
    return folder / "lexicon.txt"


@pytest.mark.parametrize("change", [str, str.lower, lambda text: text + "<UNK> SPN\n"])
def test_stress_goes_where_the_phones_are_the_cmu_s_whatever_the_format(tmp_path: Path, change) -> None:
    lexicon = read_lexicon(saved(tmp_path, change(CMU)))
    assert not any(phone[-1].isdigit() for phone in lexicon.phones)
    (note,) = lexicon.notes
    assert "stress digits removed from 3 vowels" in note


def test_a_vowel_whose_digit_was_forgotten_keeps_none_of_the_others(tmp_path: Path) -> None:
    lexicon = read_lexicon(saved(tmp_path, CMU.replace("OW1", "OW")))
    assert not any(phone[-1].isdigit() for phone in lexicon.phones)
    assert "stress digits removed from 2 vowels" in lexicon.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        CMU.replace("OW1", "OW").replace("AH0", "AH"),
        CMU.replace("HH", "X"),
        CMU.replace("AH0", "AH4"),
        "A 2 B3\n",
        "A A1\nB B1\n",
        "P P\n",
    ],
)
def test_digits_stay_in_phones_that_are_not_the_cmu_s(tmp_path: Path, text: str) -> None:
    lexicon = read_lexicon(saved(tmp_path, text))
    assert set(lexicon.phones) == {phone for line in text.splitlines() for phone in line.split()[1:]}
    assert lexicon.notes == ()


def test_the_user_s_word_counts_more_than_the_phones(tmp_path: Path) -> None:
    kept = read_lexicon(saved(tmp_path, CMU), strip_stress=False)
    assert "OW1" in kept.phones
    assert "kept" in kept.notes[0]
    assert read_lexicon(saved(tmp_path, CMU.replace("HH", "X")), strip_stress=True)["WORLD"] == (("W", "ER", "L", "D"),)
    assert not marks_stress(["SIL", "SPN"])


def test_lines_of_nothing_but_silence_are_left_out_with_a_note(tmp_path: Path) -> None:
    lexicon = read_lexicon(saved(tmp_path, "<SIL> SIL\n!SIL SIL\nA A\nSP-ONLY SP\n<SPOKEN_NOISE> SPN\n"))
    assert lexicon.words == ("<SPOKEN_NOISE>", "A")
    assert lexicon.notes == (f"{tmp_path / 'lexicon.txt'}: left out <SIL> !SIL SP-ONLY, which is silence and no word",)


def test_silence_inside_a_word_is_refused_with_file_line_and_word(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"lexicon\.txt:2: the word 'WELL' has the phone 'SIL'"):
        read_lexicon(saved(tmp_path, "A A\nWELL W SIL L\n"))


def test_the_phones_of_silence_are_those_of_the_topology() -> None:
    assert {SILENCE, SHORT_PAUSE} == formats.MODEL_PAUSES


def test_a_phone_is_untrained_if_no_pronunciation_of_any_word_said_has_it() -> None:
    lexicon = Lexicon({"A": (("a",), ("b",)), "C": (("c", "a"),), "D": (("d",),)})
    assert lexicon.untrained_phones([("A",), ("A", "OTHER")]) == ("c", "d")
    assert lexicon.untrained_phones([("A", "C"), ("D",)]) == ()
