"""The recipe of read sentences with a second table in noise: its own few lines, and the whole on a tiny subset."""

import json
import logging
import sys
from pathlib import Path

import pytest

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.lexicon import Lexicon
from asr.training.config import TuningSettings
from asr.util.errors import CorpusError
from recipes.recipe import Arguments
from recipes.specifications import HybridSpecification, MixtureSpecification
from recipes.speechocean import __main__ as recipe
from recipes.systems import mapped_systems


def test_folding_takes_stress_and_variants_then_alike():
    lexicon = Lexicon({"A": (("AH0",), ("AH1",), ("EY1",)), "BE": (("B", "IY0"),)})
    assert recipe.folded(lexicon).pronunciations == {"A": (("AH",), ("EY",)), "BE": (("B", "IY"),)}


def arguments(corpus: Path, noise: Path | None = None) -> Arguments:
    return Arguments(corpus, corpus / "run", jobs=1, rebuild_changed=False, noise_dir=noise)


def make_noise(folder: Path) -> None:
    folder.mkdir()
    (folder / "rain.flac").write_bytes(b"")
    (folder / "noise.scp").write_text("rain rain.flac\n")


def test_noise_is_looked_for_beside_the_corpus_and_where_it_is_said_to_be(tmp_path):
    (tmp_path / "corpus").mkdir()
    make_noise(tmp_path / "elsewhere")
    found = recipe.noise_clips(arguments(tmp_path / "corpus", tmp_path / "elsewhere"))
    assert found is not None and found.paths == (tmp_path / "elsewhere" / "rain.flac",)
    make_noise(tmp_path / "noise_esc10")
    found = recipe.noise_clips(arguments(tmp_path / "corpus"))
    assert found is not None and found.paths == (tmp_path / "noise_esc10" / "rain.flac",)


def test_without_noise_its_table_is_left_out_and_one_line_says_so(tmp_path, caplog):
    (tmp_path / "corpus").mkdir()
    with caplog.at_level(logging.INFO):
        assert recipe.noise_clips(arguments(tmp_path / "corpus")) is None
    assert [record.message for record in caplog.records] == [
        f"no noise clips in {tmp_path / 'noise_esc10'}; the noise table is skipped"
    ]


def test_a_noise_folder_that_is_named_but_missing_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match=r"noise\.scp cannot be read"):
        recipe.noise_clips(arguments(tmp_path, tmp_path / "nowhere"))


@pytest.fixture
def small_corpus(speech_data, tmp_path) -> Path:
    """Forty utterances to train on, four each for dev and test, and four clips of noise."""
    source = speech_data / "speechocean762"
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("audio", "lexicon.txt", "lm_train.text"):
        (corpus / name).symlink_to(source / name)
    for split, n_utterances in (("train", 40), ("dev", 4), ("test", 4)):
        (corpus / split).mkdir()
        for name in ("wav.scp", "text", "utt2spk"):
            lines = (source / split / name).read_text().splitlines(keepends=True)
            (corpus / split / name).write_text("".join(lines[:n_utterances]))
    noise = speech_data / "noise_esc10"
    (tmp_path / "noise_esc10").mkdir()
    (tmp_path / "noise_esc10" / "audio").symlink_to(noise / "audio")
    clips = (noise / "noise.scp").read_text().splitlines(keepends=True)
    (tmp_path / "noise_esc10" / "noise.scp").write_text("".join(clips[:4]))
    return corpus


PARAMETERS = {"loss": "ovr", "n_centers": 100, "n_candidates": 200, "max_iter": 1, "min_steps": 1}


@pytest.mark.corpus
@pytest.mark.slow
def test_recipe_runs_from_audio_to_rows_of_every_noise_level(small_corpus, tmp_path, monkeypatch, capsys):
    mixtures = (MixtureSpecification("gmm", recipe.FEATURES, (1,)),)
    config = recipe.CONFIG.model_copy(
        update={
            "gmm": GmmSettings(mixtures=(1,), iterations=(4,)),
            "gmm_search": SearchSettings(lm_scale=11.0, beam=60.0),
            "hybrid_search": SearchSettings(lm_scale=5.0, beam=25.0),
            "tuning": TuningSettings(scale_factors=(1.0,), penalty_factors=(0.0,)),
        }
    )
    settings = HybridSettings(parameters=PARAMETERS, vtlp_warps=(), speed_perturb=(1.1,), mixtures=2)
    monkeypatch.setattr(recipe, "MIXTURES", mixtures)
    monkeypatch.setattr(recipe, "BASELINES", ("gmm-1",))
    monkeypatch.setattr(recipe, "CONFIG", config)
    monkeypatch.setattr(recipe, "HYBRIDS", (HybridSpecification("ovr", settings, recipe.WIDE),))
    work_dir = tmp_path / "run"
    command = ["speechocean", "--corpus-dir", str(small_corpus), "--work-dir", str(work_dir), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", command)
    recipe.main()
    rows = json.loads((work_dir / "results.json").read_text())
    splits = ["dev", "test", "test-20dB", "test-10dB", "test-5dB"]
    assert [(row["split"], row["system"]) for row in rows] == [(s, n) for s in splits for n in ("gmm-1", "ovr")]
    assert {row["grammar"] for row in rows} == {"bigram"}
    assert [row["system"] for row in rows if row["primary"]] == ["ovr"] * 5
    assert all(row["words"] > 10 for row in rows)
    assert "test-5dB" in capsys.readouterr().out


def test_the_systems_that_vote_are_among_the_mapped_ones():
    mixtures, hybrids = mapped_systems(recipe.FEATURES, recipe.WIDE, recipe.kernel_logistic("ovr", 32), tied_states=300)
    names = {family.system(n) for family in mixtures for n in family.components} | {hybrid.name for hybrid in hybrids}
    assert set(recipe.VOTING) <= names
