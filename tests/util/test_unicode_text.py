"""Unicode text: equal words are equal in every form, and invisible characters are refused."""

import logging
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
import soundfile

import asr
from asr import Recognizer
from asr.alignment.confusion_file import HEADER, read_confusions
from asr.alignment.ctm import CtmRow, read_ctm, write_ctm
from asr.commands.audio_files import files_as_corpus
from asr.corpus.data_directory import read_data_directory
from asr.grammar import one_word
from asr.grammar.ngram import estimate_ngram
from asr.grammar.sentences import sentence_list
from asr.lexicon import Lexicon, read_lexicon
from asr.scoring.files import read_transcripts
from asr.util.errors import CorpusError, GrammarError, LexiconError
from asr.util.unicode_text import existing_form, fault_in_word, nfc, without_punctuation

NFC, NFD = normalize("NFC", "café"), normalize("NFD", "café")
INVISIBLE = ["a\x1b[2Jb", "a\u202eb", "a\u200bb", "a\u2066b", "a\ufeffb", "a\x07", "a\u00adb"]


def test_nfc_forms_are_equal() -> None:
    assert NFC != NFD and nfc(NFD) == nfc(NFC) == NFC
    assert nfc("plain") == "plain"


@pytest.mark.parametrize("word", INVISIBLE)
def test_fault_in_word_invisible_is_named(word: str) -> None:
    fault = fault_in_word(word)
    assert fault is not None and "U+" in fault and fault.isprintable()


@pytest.mark.parametrize("word", ["می\u200cخواهم", "क्\u200dष", "naïve", "東京", "a-b's", "\U0001f600", "\ue000"])
def test_fault_in_word_letters_and_joiners_pass(word: str) -> None:
    assert fault_in_word(word) is None


def test_read_lexicon_forms_of_a_word_join(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "lexicon.txt"
    path.write_text(f"{NFC} k a\n{NFD} k a f e\nthe dh ə\u0303\n", encoding="utf-8")
    with caplog.at_level(logging.INFO, logger="asr"):
        lexicon = read_lexicon(path)
    assert lexicon[NFC] == (("k", "a"), ("k", "a", "f", "e"))
    assert lexicon == Lexicon({NFD: (("k", "a"), ("k", "a", "f", "e")), "the": (("dh", "ə\u0303"),)})
    (record,) = caplog.records
    assert "lexicon.txt" in record.getMessage() and "1 lines" in record.getMessage() and "NFC" in record.getMessage()


def test_score_forms_of_a_word_are_equal(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(f"{NFC}-1 {NFC}\n", encoding="utf-8")
    (tmp_path / "hyp.txt").write_text(f"{NFD}-1 {NFD}\n", encoding="utf-8")
    assert asr.score(tmp_path / "text", tmp_path / "hyp.txt").errors == 0
    assert asr.score({NFD: NFC}, {NFC: NFD}, speakers={NFD: "anna"}).errors == 0
    assert asr.score([NFC], [NFD]).errors == 0


def test_grammars_forms_of_a_word_are_one_word() -> None:
    assert one_word([NFC, NFD]).words == (NFC,)
    assert sentence_list([(NFD,), (NFC,)]).words == (NFC,)
    assert NFC in estimate_ngram([(NFD,), (NFC,)], order=1).words


def test_recognizer_forms_of_a_word_are_one_word(toy_model: Path) -> None:
    recognizer = Recognizer.load(toy_model)
    recognizer.add_word(NFD, "W AH N")
    recognizer.add_word(NFC, "S UW")
    assert recognizer.with_grammar([NFD, NFC]) is not None
    tone = np.random.default_rng(0).normal(0, 0.1, 8000)
    assert [word.word for word in recognizer.align(tone, NFD, rate=8000).words] == [NFC]


@pytest.mark.parametrize(("listed", "stored"), [(NFC, NFD), (NFD, NFC), (NFC, NFC), (NFD, NFD)])
def test_read_data_directory_finds_files_in_either_form(tmp_path: Path, listed: str, stored: str) -> None:
    (tmp_path / "data" / stored).mkdir(parents=True)
    soundfile.write(tmp_path / "data" / stored / f"{stored}.wav", np.full(800, 0.1), 8000)
    train = tmp_path / "train"
    train.mkdir()
    (train / "wav.scp").write_text(f"{listed} data/{listed}/{listed}.wav\n", encoding="utf-8")
    (train / "utt2spk").write_text(f"{nfc(listed)} {listed}\n", encoding="utf-8")
    (utterance,) = read_data_directory(train).utterances
    assert (utterance.id, utterance.speaker) == (NFC, NFC) and utterance.source.is_file()
    (of_file,) = files_as_corpus([tmp_path / "data" / stored / f"{stored}.wav"]).utterances
    assert of_file.id == NFC


def test_existing_form_mixed_forms_are_found(tmp_path: Path) -> None:
    folder = tmp_path / NFC
    folder.mkdir()
    (folder / NFD).touch()
    assert existing_form(tmp_path / NFC / NFC) == folder / NFD
    assert existing_form(tmp_path / NFD / NFC) == folder / NFD
    assert existing_form(tmp_path / NFC / "ñ") == tmp_path / NFC / "ñ"


@pytest.mark.parametrize("word", INVISIBLE)
def test_readers_words_with_invisible_characters_raise(tmp_path: Path, word: str) -> None:
    ctm, confusions, text = (tmp_path / name for name in ("hyp.ctm", "confusions.tsv", "text"))
    ctm.write_text(f"u1 1 0.0 0.5 {word}\n", encoding="utf-8")
    confusions.write_text(f"{HEADER}\nu1\t0.0\t0.5\t{word}:1.0\n", encoding="utf-8")
    text.write_text(f"u1 {word}\n", encoding="utf-8")
    for read, path in ((read_ctm, ctm), (read_confusions, confusions), (read_transcripts, text)):
        with pytest.raises(CorpusError, match=r"U\+"):
            read(path)
    with pytest.raises(CorpusError, match=r"U\+"):
        write_ctm(ctm, [CtmRow("u1", 0.0, 0.5, word)])
    with pytest.raises(LexiconError, match=r"U\+"):
        Lexicon({word: (("A",),)})
    with pytest.raises(GrammarError, match=r"U\+"):
        one_word([word])


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("नमस्ते।", "नमस्ते"),
        ("؟كيف", "كيف"),
        ("「東京」。", "東京"),
        ("'hello'", "hello"),
        ("\u2018hello,\u2019", "hello"),
        ("'tis", "'tis"),
        ("dogs'", "dogs'"),
        ("don't", "don't"),
        ("-1-", "-1-"),
        ("(well-known)", "well-known"),
        ("\u2014", ""),
        ("।", ""),
        ("'", ""),
        ("€", "€"),
    ],
)
def test_without_punctuation_marks_of_any_script_are_removed(word: str, bare: str) -> None:
    assert without_punctuation(word) == bare
