"""Transcripts become words by the rules of Unicode, in any script."""

from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.util.errors import ConfigError
from asr.util.text_normalization import TextError, TextNormalizer, read_tags


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Show all ships.", "show all ships"),
        ("Is the \u201cEnterprise\u201d in port?", "is the enterprise in port"),
        ("don\u2019t 'quote' rock'n'roll 'tis", "don't quote rock'n'roll 'tis"),
        ("twenty-one \u2014 or so", "twenty one or so"),
        (normalize("NFD", "Été"), "été"),
        ("नमस्ते, दुनिया।", "नमस्ते दुनिया"),
        ("مرحبا، كيف؟", "مرحبا كيف"),
        ("สวัสดี ครับ", "สวัสดี ครับ"),
        ("你好。世界！", "你好 世界"),
        ("[laugh] well <noise> then [long pause]", "well then"),
        ("a&b 100%".replace("100", "x"), "a b x"),
        ("-", ""),
    ],
)
def test_words_are_letters_with_marks(text, words):
    assert TextNormalizer().words(text) == tuple(words.split())


def test_options_change_case_hyphens_and_tags():
    assert TextNormalizer("upper").words("Straße") == ("STRASSE",)
    assert TextNormalizer("keep").words("Ab") == ("Ab",)
    assert TextNormalizer("lower", "tr").words("ISI İl") == ("ısı", "il")
    assert TextNormalizer("upper", "tr").words("isi") == ("İSİ",)
    assert TextNormalizer(hyphens="keep").words("twenty-one -x-") == ("twenty-one", "x")
    assert TextNormalizer(hyphens="join").words("e-mail") == ("email",)
    assert TextNormalizer(tags={"[um]": "um", "OK": "o k"}).words("[UM] ok [x]") == ("um", "o", "k")


@pytest.mark.parametrize(
    ("text", "code"), [("room 21", "digits"), ("x²", "digits"), ("१२", "digits"), ("he xxx", "unintelligible")]
)
def test_digits_and_unintelligible_speech_are_refused(text, code):
    with pytest.raises(TextError) as found:
        TextNormalizer().words(text)
    assert found.value.code == code


def test_numbers_are_spelled_in_the_language():
    pytest.importorskip("num2words")
    assert TextNormalizer(spell_numbers=True).words("In 21 days") == ("in", "twenty", "one", "days")
    assert TextNormalizer(language="de", spell_numbers=True).words("21") == ("einundzwanzig",)
    with pytest.raises(TextError, match="xx"):
        TextNormalizer(language="xx", spell_numbers=True).words("21")


@given(st.text())
def test_words_are_stable_and_without_punctuation(text):
    normalizer = TextNormalizer(language="tr")
    try:
        words = normalizer.words(text)
    except TextError:
        return
    assert TextNormalizer(language="tr").words(" ".join(words)) == words
    for word in words:
        assert word.split() == [word]
        assert normalize("NFC", word) == word
        assert all(category(character)[0] in "LMN" or character in "'\u200c\u200d" for character in word)


def test_changes_are_counted():
    normalizer = TextNormalizer()
    normalizer.words("Yes, yes. Yes,")
    assert normalizer.changes == {("Yes,", "yes"): 2, ("yes.", "yes"): 1}


def test_table_of_tags_is_read_with_line_numbers(tmp_path):
    path = tmp_path / "tags.tsv"
    path.write_text("# tags\n[laugh]\t\nok\to kay\n\n")
    assert read_tags(path) == {"[laugh]": "", "ok": "o kay"}
    path.write_text("[laugh]\n")
    with pytest.raises(ConfigError, match="line 1"):
        read_tags(path)
