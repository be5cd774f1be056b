"""Training on transcripts with words that the lexicon lacks."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import asr as package
from asr import Recognizer
from asr.acoustic.model_file import load_model
from asr.alignment.ctm import read_ctm
from asr.api.commands import TrainedModel

LACKING = "SEVEN"


@pytest.fixture(scope="module")
def corpus(tiny_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy of the tiny corpus: the lexicon lacks a word, and one transcript has nothing else but `<s>`."""
    folder = tmp_path_factory.mktemp("unknown") / "corpus"
    shutil.copytree(tiny_corpus, folder)
    entries = (folder / "lexicon.txt").read_text().splitlines(keepends=True)
    (folder / "lexicon.txt").write_text("".join(line for line in entries if not line.startswith(f"{LACKING} ")))
    names_and_words = [line.split() for line in (folder / "train" / "text").read_text().splitlines()]
    names_and_words[0][1:] = [LACKING, "[noise]"]
    names_and_words[1][1:] = ["<s>", *names_and_words[1][1:], "</s>"]
    (folder / "train" / "text").write_text("".join(f"{' '.join(words)}\n" for words in names_and_words))
    return folder


def train(corpus: Path, work_dir: Path, **options: object) -> TrainedModel:
    config = corpus / "settings.toml"
    return package.train(corpus / "train", corpus / "lexicon.txt", work_dir, config=config, jobs=1, **options)


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    work_dir = tmp_path_factory.mktemp("unknown-run") / "run"
    assert train(corpus, work_dir, until="gmm").outcome.n_done == 8
    return work_dir


def test_training_uses_utterances_with_a_known_word(run, corpus):
    lines = [line.split() for line in (corpus / "train" / "text").read_text().splitlines()]
    (failed,) = (run / "failed.tsv").read_text().splitlines()[1:]
    assert failed.split("\t")[:2] == [lines[0][0], "unknown-word"]
    counts = dict(line.split("\t") for line in (run / "unknown-words.tsv").read_text().splitlines()[1:])
    assert counts == {LACKING: str(sum(words.count(LACKING) for words in lines[1:])), "<s>": "1", "</s>": "1"}


def test_unknown_words_have_states_of_their_own_in_training(run):
    model = load_model(run / "gmm.safetensors")
    topology = model.hmm.topology
    assert "spn" in topology.phones
    assert "spn" not in model.lexicon.phones
    states = np.load(run / "stages" / "gmm" / "states.npy")
    assert np.isin(states, topology.units("spn")).sum() > 20


def test_unknown_words_are_no_words_of_model_and_grammar(run):
    recognizer = Recognizer.load(run / "gmm.safetensors")
    assert recognizer.words == ("NO", "ONE", "TWO", "WISE")
    arpa = (run / "grammar.arpa").read_text().split()
    assert "<unk>" in arpa
    assert LACKING not in arpa


def test_align_uses_the_trained_phone_of_unknown_words(run, corpus, tmp_path):
    package.align(Recognizer.load(run / "gmm.safetensors"), corpus / "train", tmp_path / "out", jobs=1)
    labels = {row.label for row in read_ctm(tmp_path / "out" / "phones.ctm")}
    assert "spn" in labels
    assert "spn_" not in labels


@pytest.mark.slow
def test_hybrid_trains_on_sequences_with_unknown_words(corpus, tmp_path):
    copy = tmp_path / "corpus"
    shutil.copytree(corpus, copy)
    settings = (copy / "settings.toml").read_text().replace("hybrid = {", "hybrid = {smbr_epochs = 1, ")
    (copy / "settings.toml").write_text(f"context = 3\ntied_states = 30\n{settings}")
    trained = train(copy, tmp_path / "run")
    assert trained.load().words == ("NO", "ONE", "TWO", "WISE")
