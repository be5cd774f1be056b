"""Speech Commands: a miniature of its layout, from a download to a table."""

import io
import json
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.lexicon import read_lexicon
from asr.training.config import TrainingConfig, TuningSettings
from asr.util.errors import CorpusError
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.speech_commands import __main__ as recipe
from recipes.speech_commands.__main__ import FOLDER, SOURCES, read_corpus
from tests.recipes.conftest import Server
from tests.toy_corpus import PHONES, RATE, _phone, _silence

SAID = {"no": ("N", "UW"), "one": ("W", "AH", "N"), "three": ("S", "IY"), "two": ("S", "UW")}
SPEAKERS = {"train": ("0a7c2a8d", "1b2d", "2c", "3d", "4e"), "validation": ("5f", "6a"), "testing": ("7b", "8c")}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A miniature of the folder: four words, twice by every speaker, background noise and lists."""
    assert {phone for phones in SAID.values() for phone in phones} <= set(PHONES)
    root, rng = tmp_path_factory.mktemp("commands"), np.random.default_rng(0)
    lists: dict[str, list[str]] = {part: [] for part in SPEAKERS}
    for word, phones in SAID.items():
        (root / word).mkdir()
        for part, speakers in SPEAKERS.items():
            for speaker in speakers:
                voice_rng = np.random.default_rng(int(speaker, 16))
                voice = voice_rng.uniform(90, 240), voice_rng.uniform(0.92, 1.1)
                for number in range(2):
                    pieces = [_silence(0.15, 0.3, rng), *(_phone(p, *voice, rng) for p in phones)]
                    signal = 0.15 * np.concatenate([*pieces, _silence(0.15, 0.3, rng)])
                    signal = np.repeat(signal + 0.001 * rng.standard_normal(len(signal)), 16000 // RATE)
                    name = f"{word}/{speaker}_nohash_{number}.wav"
                    soundfile.write(root / name, np.clip(signal, -1, 1), 16000, subtype="PCM_16")
                    lists[part].append(f"{name}\n")
    (root / "_background_noise_").mkdir()
    soundfile.write(root / "_background_noise_" / "pink_noise.wav", rng.normal(size=16000) * 0.1, 16000)
    for part in ("validation", "testing"):
        (root / f"{part}_list.txt").write_text("".join(lists[part]))
    return root


def test_lexicon_has_the_35_words():
    lexicon = read_lexicon(Path(recipe.__file__).with_name("lexicon.txt"))
    assert len(lexicon) == 35 and {"backward", "marvin", "visual", "zero"} <= set(lexicon.words)
    assert len(lexicon.phones) <= 39


def test_corpus_has_the_published_lists_and_no_noise(tiny):
    corpora = read_corpus(tiny)
    assert {split: (len(corpus), len(corpus.speakers)) for split, corpus in corpora.items()} == {
        "train": (40, 5), "dev": (16, 2), "test": (16, 2),
    }  # fmt: skip
    assert corpora["test"].utterances[0].id == "7b_no_0" and corpora["test"].utterances[0].words == ("no",)


def test_damaged_recordings_and_missing_lists_raise(tmp_path):
    (tmp_path / "no").mkdir()
    for speaker in "abc":
        soundfile.write(tmp_path / "no" / f"{speaker}_nohash_0.wav", np.zeros(16000), 16000)
    with pytest.raises(CorpusError, match=r"validation_list.*testing_list.*--download"):
        read_corpus(tmp_path)
    (tmp_path / "validation_list.txt").write_text("no/b_nohash_0.wav\n")
    (tmp_path / "testing_list.txt").write_text("")
    with pytest.raises(CorpusError, match="'test'"):
        read_corpus(tmp_path)
    (tmp_path / "testing_list.txt").write_text("no/c_nohash_0.wav\n")
    (tmp_path / "no" / "a_nohash_0.wav").write_bytes(b"RIFF")
    assert len(read_corpus(tmp_path)["train"].problems) == 1
    (tmp_path / "no" / "c_nohash_0.wav").write_bytes(b"RIFF")
    with pytest.raises(CorpusError, match="1 of the 1 recordings"):
        read_corpus(tmp_path)


@pytest.mark.parametrize("states", ["word", "phone"])
def test_the_recipe_goes_from_a_download_to_a_table(tiny, tmp_path, server: Server, monkeypatch, capsys, states):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as written:
        written.add(tiny, ".")
    server.content, server.cut_after = buffer.getvalue(), [1000]
    monkeypatch.setattr(recipe, "SOURCES", [replace(SOURCES[0], urls=(server.url,), checksum="", n_bytes=0)])
    config = TrainingConfig(
        features=recipe.FEATURES,
        gmm=GmmSettings(mixtures=(1,), iterations=(5,)),
        tuning=TuningSettings(scale_factors=(1.0,), penalty_factors=(0.0,)),
    )
    monkeypatch.setattr(recipe, "CONFIG", config)
    monkeypatch.setattr(recipe, "MIXTURES", (MixtureSpecification("gmm", recipe.FEATURES, (1,)),))
    parameters = {"loss": "ovr", "n_centers": 40, "n_candidates": 80, "max_iter": 1, "min_steps": 20}
    hybrid = HybridSpecification("ovr", HybridSettings(parameters=parameters, vtlp_warps=()), recipe.FEATURES)
    monkeypatch.setattr(recipe, "HYBRIDS", (hybrid,))
    work, corpus = tmp_path / "work", tmp_path / "corpus"
    command = ["commands", "--corpus-dir", str(corpus), "--work-dir", str(work), "--jobs", "1", "--download"]
    monkeypatch.setattr(sys, "argv", [*command, "--states", states])
    recipe.main()
    assert server.asked[:2] == [None, "bytes=1000-"] and (corpus / FOLDER / "no").is_dir()
    rows = json.loads((work / "results.json").read_text())
    assert [(row["system"], row["split"]) for row in rows] == [
        ("gmm-1", "dev"), ("ovr", "dev"), ("gmm-1", "test"), ("ovr", "test"),
    ]  # fmt: skip
    assert all(row["words"] == 16 and row["errors"] <= 6 for row in rows), rows
    assert {row["unit"] for row in rows} == {"word" if states == "word" else "mono"}
    assert "keyword transformer" in capsys.readouterr().out
