"""`asr lexicon`: models from dictionaries, and lexicons of new words."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from asr.lexicon import GraphemeToPhoneme, read_lexicon
from asr.lexicon.word_lists import read_words
from asr.util.errors import CorpusError, LexiconError

DICT = "".join(f"{a}{b}{c} {a.upper()} {b.upper()} {c.upper()}\n" for a in "bdt" for b in "ae" for c in "bdtn")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("g2p")
    (folder / "dict").write_text(DICT)
    GraphemeToPhoneme.train(read_lexicon(folder / "dict"), order=3).save(folder / "model")
    return folder / "model"


def test_training_writes_a_model_and_prints_held_out_errors(asr, tmp_path):
    (tmp_path / "dict").write_text(DICT)
    status, out, _ = asr(
        "lexicon", "--train", tmp_path / "dict", "--out", tmp_path / "m", "--order", 3, "--held-out", 2
    )
    assert status == 0
    assert "held-out words" in out and "phone errors" in out
    assert GraphemeToPhoneme.load(tmp_path / "m").pronounce("dab")[0][0] == ("D", "A", "B")


def test_words_are_converted_and_unknown_letters_listed(asr, tmp_path, model):
    (tmp_path / "words").write_text("DAN\nténe\n\nbat\nDAN\n")
    status, _, err = asr("lexicon", "--apply", model, tmp_path / "words", "--out", tmp_path / "lex")
    assert status == 0 and "unseen-letter" in err
    assert (tmp_path / "lex").read_text() == "DAN D A N\nbat B A T\n"
    assert "téne\tunseen-letter\t" in (tmp_path / "lex.failed.tsv").read_text()
    (tmp_path / "words").write_text("DAN\n")
    asr("lexicon", "--apply", model, tmp_path / "words", "--out", tmp_path / "lex")
    assert not (tmp_path / "lex.failed.tsv").exists()


def test_a_lexicon_is_completed(asr, tmp_path, model):
    (tmp_path / "lexicon").write_text("bat P A T\nold O L D\n")
    (tmp_path / "unknown-words.tsv").write_text("word\tcount\nbat\t3\nten\t1\n")
    status, _, err = asr(
        "lexicon", "--apply", model, tmp_path / "unknown-words.tsv", "--out", tmp_path / "lex",
        "--lexicon", tmp_path / "lexicon",
    )  # fmt: skip
    assert status == 0 and "lacks: E, N" in err
    assert (tmp_path / "lex").read_text() == "bat P A T\nold O L D\nten T E N\n"


def test_variants_with_probabilities_are_read_back(asr, tmp_path, model):
    (tmp_path / "words").write_text("dan\n")
    status, _, _ = asr(
        "lexicon", "--apply", model, tmp_path / "words", "--out", tmp_path / "lex", "--variants", 3, "--probabilities"
    )
    assert status == 0
    lines = [line.split() for line in (tmp_path / "lex").read_text().splitlines()]
    assert sum(float(line[1]) for line in lines) == pytest.approx(1, abs=1e-4)
    lexicon = read_lexicon(tmp_path / "lex")
    assert lexicon.numbers and len(lexicon["dan"]) == len(lines)


def test_words_of_transcripts_are_counted(tmp_path):
    (tmp_path / "text").write_text("u1 one two\nu2 two\nu3\n")
    assert read_words(tmp_path) == {"one": 1, "two": 2}


@pytest.mark.parametrize("content", ["", "one two\n", "word\tcount\none\tx\n", "word\tcount\none\n", "a\u200bb\n"])
def test_word_list_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "words").write_text(content)
    with pytest.raises(LexiconError, match="words"):
        read_words(tmp_path / "words")


def test_folder_without_transcripts_is_refused(tmp_path):
    with pytest.raises(CorpusError):
        read_words(tmp_path)


def test_no_convertible_word_is_an_error(asr, tmp_path, model):
    (tmp_path / "words").write_text("日本\n")
    status, out, err = asr("lexicon", "--apply", model, tmp_path / "words", "--out", tmp_path / "lex")
    assert (status, out) == (1, "") and "日" in err
    assert not (tmp_path / "lex").exists()


@pytest.mark.parametrize(
    "arguments", [(), ("--train", "d", "--apply", "m"), ("--train", "d", "words"), ("--apply", "m")]
)
def test_wrong_choice_of_work_is_wrong_usage(asr, arguments):
    assert asr("lexicon", *arguments, "--out", "x")[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--train", "none"),
        ("--apply", "none", "none"),
        ("--epitran", "none", "none"),
        ("--epitran", "eng-Latn", "none"),
    ],
)
def test_missing_inputs_are_named(asr, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    status, _, err = asr("lexicon", *arguments, "--out", "x")
    assert status == 1 and err.startswith("asr: error: ")


@pytest.mark.parametrize("code", ["Spanish", "eng-Latn", "spa-Latn"])
def test_rules_without_package_or_language_are_refused(asr, tmp_path, monkeypatch, code):
    monkeypatch.setitem(sys.modules, "epitran", None)
    (tmp_path / "words").write_text("si\n")
    status, _, err = asr("lexicon", "--epitran", code, tmp_path / "words", "--out", tmp_path / "lex")
    assert status == 1 and (code in err or "hybrid-asr[epitran]" in err)


def test_rules_give_phones(asr, tmp_path, monkeypatch):
    """A stand-in for the package, with its names."""
    package, exceptions = ModuleType("epitran"), ModuleType("epitran.exceptions")
    exceptions.DatafileError = exceptions.MappingError = ValueError
    package.Epitran = lambda code: SimpleNamespace(
        trans_list=list, ft=SimpleNamespace(seg_known=lambda phone: phone.isascii())
    )
    monkeypatch.setitem(sys.modules, "epitran", package)
    monkeypatch.setitem(sys.modules, "epitran.exceptions", exceptions)
    (tmp_path / "words").write_text("si\nno's\n日\n-\n")
    status, _, err = asr("lexicon", "--epitran", "spa-Latn", tmp_path / "words", "--out", tmp_path / "lex")
    assert status == 0 and "unseen-letter" in err and "no-pronunciation" in err
    assert (tmp_path / "lex").read_text() == "no's n o s\nsi s i\n"


def test_multigraphs_are_proposed_and_read_as_a_lexicon(asr, tmp_path, toy_corpus):
    (tmp_path / "words").write_text("".join(f"qu{a}{b}\n" for a in "aeio" for b in "lmnt"))
    table = tmp_path / "table"
    status, out, _ = asr("lexicon", "--multigraphs", tmp_path / "words", "--out", table)
    assert status == 0 and "qu qu" in table.read_text()
    table.write_text("one one\nt\n")
    status, out, _ = asr("validate", "--data", toy_corpus / "train", "--lexicon", f"graphemes:{table}")
    assert status == 0 and " one " in out.lower()
    status, _, err = asr("validate", "--data", toy_corpus / "train", "--lexicon", "graphemes:absent")
    assert status == 1 and "'absent'" in err


def test_transcripts_are_no_dictionary(asr, tmp_path):
    (tmp_path / "text").write_text("one-1 A B\none-2 B C\n")
    (tmp_path / "utt2spk").write_text("one-1 one\none-2 one\n")
    status, _, err = asr("lexicon", "--train", tmp_path / "text", "--out", tmp_path / "m")
    assert status == 1 and "transcripts" in err
