"""`asr align` without a model and without a lexicon file, and models whose phones are letters."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import asr as package
from asr import Recognizer
from asr.acoustic.model_file import load_model
from asr.alignment.ctm import read_ctm
from asr.util.errors import ConfigError, LexiconError, RunError


@pytest.fixture(scope="module")
def aligned(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output directory of an alignment of the toy corpus with graphemes."""
    out = tmp_path_factory.mktemp("graphemes") / "aligned"
    outcome = package.align(None, toy_corpus / "train", out, lexicon="graphemes", formats="textgrid", jobs=1)
    assert outcome.n_done == 24
    return out


@pytest.fixture(scope="module")
def model(aligned: Path) -> Path:
    return aligned / "training" / "gmm.safetensors"


def test_align_without_model_writes_times_and_the_training_scores(aligned, toy_corpus, asr):
    names = {path.name for path in aligned.iterdir()}
    assert names >= {"words.ctm", "phones.ctm", "textgrid", "scores.tsv", "suspects.tsv", "training"}
    assert not (aligned / "training" / "model.safetensors").exists()
    assert (aligned / "training" / "report.html").is_file()
    page = (aligned / "report.html").read_text(encoding="utf-8")
    assert page.count("<audio ") > 1 and "trust " in page
    assert (aligned / "unknown-words.tsv").read_text() == "word\tcount\n"
    assert len(list((aligned / "textgrid").rglob("*.TextGrid"))) == 24
    said = {}
    for row in read_ctm(aligned / "words.ctm"):
        assert 0.0 <= row.confidence <= 1.0
        said.setdefault(row.utterance, []).append(row.label)
    lines = (toy_corpus / "train" / "text").read_text().splitlines()
    assert said == {line.split()[0]: line.split()[1:] for line in lines}
    assert "s" in {row.label for row in read_ctm(aligned / "phones.ctm")}


def test_align_again_reuses_the_training(aligned, toy_corpus, asr):
    before = (aligned / "training" / "stages" / "gmm" / "states.npy").stat().st_mtime_ns
    times = (aligned / "words.ctm").read_bytes()
    command = ["align", "--data", toy_corpus / "train", "--lexicon", "graphemes", "--out", aligned, "-j", 1]
    status, out, _ = asr(*command)
    assert (status, out) == (0, f"{aligned / 'words.ctm'}\n")
    assert (aligned / "training" / "stages" / "gmm" / "states.npy").stat().st_mtime_ns == before
    assert (aligned / "words.ctm").read_bytes() == times


def test_align_refuses_a_training_directory_of_another_kind(toy_corpus, tmp_path):
    (tmp_path / "out" / "training").mkdir(parents=True)
    (tmp_path / "out" / "training" / "notes.txt").write_text("mine")
    with pytest.raises(RunError):
        package.align(None, toy_corpus / "train", tmp_path / "out", lexicon="graphemes", jobs=1)


def test_align_without_model_and_lexicon_raises(toy_corpus, tmp_path):
    with pytest.raises(ConfigError, match="--lexicon"):
        package.align(None, toy_corpus / "train", tmp_path / "out", jobs=1)


def test_graphemes_with_a_model_of_other_phones_raise(toy_model, toy_corpus, tmp_path):
    with pytest.raises(LexiconError, match="graphemes"):
        package.align(toy_model, toy_corpus / "test", tmp_path / "out", lexicon="graphemes", jobs=1)


def test_model_of_graphemes_spells_the_words_of_sentences(model):
    recognizer = Recognizer.load(model, grammar=["NOON ONE", "wine"])
    assert load_model(model).lexicon.graphemes
    assert recognizer.info()["pronunciations"]
    assert set(recognizer.graph.words) == {"NOON", "ONE", "wine"}
    assert "wine" not in recognizer.words


def test_model_of_graphemes_aligns_new_words(model, toy_corpus):
    name, *words = (toy_corpus / "train" / "text").read_text().splitlines()[0].split()
    audio = toy_corpus / "audio" / "train" / f"{name}.wav"
    assert [word.word for word in Recognizer.load(model).align(audio, [*words[:-1], "noon"]).words][-1] == "noon"


def test_grammar_files_may_have_words_that_the_letters_spell(model, tmp_path):
    (tmp_path / "sentences.txt").write_text("NOON ONE\nSEVEN\n")
    recognizer = Recognizer.load(model, grammar=tmp_path / "sentences.txt")
    assert set(recognizer.graph.words) == {"NOON", "ONE", "SEVEN"}
    assert "NOON" not in recognizer.with_grammar("loop").graph.words
    recognizer.add_word("NOON")
    assert "NOON" in recognizer.with_grammar("loop").graph.words
    assert recognizer.model.lexicon["NOON"] == (("n", "o", "o", "n"),)


def test_add_word_with_unknown_letters_raises(model, toy_model):
    with pytest.raises(LexiconError, match="letters"):
        Recognizer.load(model).add_word("bye")
    with pytest.raises(LexiconError, match="graphemes"):
        Recognizer.load(toy_model).add_word("NOON")


def test_align_keeps_utterances_with_unknown_words(toy_model, toy_corpus, tmp_path, caplog):
    lexicon = tmp_path / "lexicon.txt"
    lines = (toy_corpus / "lexicon.txt").read_text().splitlines(keepends=True)
    lexicon.write_text("".join(line for line in lines if not line.startswith("SEVEN ")))
    outcome = package.align(
        toy_model, toy_corpus / "test", tmp_path / "part", lexicon=lexicon, formats="textgrid", jobs=1
    )
    package.align(toy_model, toy_corpus / "test", tmp_path / "full", jobs=1)
    text = (toy_corpus / "test" / "text").read_text()
    assert outcome.n_done == 10
    assert (tmp_path / "part" / "unknown-words.tsv").read_text() == f"word\tcount\nSEVEN\t{text.count('SEVEN')}\n"
    assert [message for message in caplog.messages if f"SEVEN ({text.count('SEVEN')})" in message]
    part, full = (read_ctm(tmp_path / name / "words.ctm") for name in ("part", "full"))
    assert [row.label for row in part] == [row.label for row in full]
    distances = [abs(one.start - other.start) for one, other in zip(part, full, strict=True)]
    assert np.mean(distances) < 0.02
    assert "spn" in {row.label for row in read_ctm(tmp_path / "part" / "phones.ctm")}
    states = np.load(tmp_path / "part" / "states.npz")
    assert min(states[name].min() for name in states) == -1


@pytest.mark.slow
def test_align_of_a_corpus_with_changed_transcripts_trains_again(tiny_corpus, tmp_path):
    data, out = tmp_path / "train", tmp_path / "out"
    shutil.copytree(tiny_corpus / "train", data)
    package.align(None, data, out, lexicon="graphemes", root=tiny_corpus, jobs=1)
    first = (out / "training" / "gmm.safetensors").read_bytes()
    lines = (data / "text").read_text().splitlines(keepends=True)
    (data / "text").write_text("".join([f"{lines[0].split()[0]} NO WISE\n", *lines[1:]]))
    assert package.align(None, data, out, lexicon="graphemes", root=tiny_corpus, jobs=1).n_done == len(lines)
    assert (out / "training" / "gmm.safetensors").read_bytes() != first


@pytest.mark.slow
def test_unknown_words_align_with_states_in_context_and_speaker_transforms(toy_corpus, tmp_path, asr):
    settings, run = tmp_path / "settings.toml", tmp_path / "run"
    settings.write_text(
        'context = 3\ntied_states = 30\nfeatures = {sample_rate = 8000}\nspeakers = {maps = "fmllr"}\n'
        "gmm = {mixtures = [1], iterations = [4]}\ntied_gmm = {mixtures = [1], iterations = [4]}\n"
    )
    command = ["train", "--data", toy_corpus / "train", "--lexicon", "graphemes", "--work-dir", run, "--until", "gmm"]
    status, out, _ = asr(*command, "--config", settings, "-j", 1)
    assert (status, out) == (0, f"{run / 'gmm.safetensors'}\n")
    model = load_model(run / "gmm.safetensors")
    assert model.speakers is not None
    assert model.hmm.topology.tying is not None
    data = tmp_path / "data"
    shutil.copytree(toy_corpus / "test", data)
    (data / "text").write_text((data / "text").read_text().replace("SEVEN", "7"))
    outcome = package.align(model_of(run), data, tmp_path / "out", root=toy_corpus, jobs=1)
    assert outcome.n_done == 10
    assert (tmp_path / "out" / "unknown-words.tsv").read_text().startswith("word\tcount\n7\t")
    assert {"7", "ONE"} <= {row.label for row in read_ctm(tmp_path / "out" / "words.ctm")}


def model_of(run: Path) -> Recognizer:
    return Recognizer.load(run / "gmm.safetensors")
