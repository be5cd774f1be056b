"""TIMIT: the reader with flawed corpora, frame accuracies, and a miniature corpus from files to a table."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.acoustic import context_trees
from asr.acoustic.gmm_training import GmmSettings, TiedGmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.search_settings import SearchSettings
from asr.corpus.audio import read_audio
from asr.hmm.topology import Topology
from asr.scoring.fold import folded_transcripts, read_fold
from asr.scoring.wer import score_utterances
from asr.training.config import TrainingConfig, TuningSettings
from asr.util.errors import CorpusError
from recipes import systems
from recipes.rm1.sphere import sphere_bytes
from recipes.timit import __main__ as recipe
from recipes.timit.corpus import CORE_TEST, DEVELOPMENT, PHONE_MAP, RATE, read_corpus, read_phones
from recipes.timit.frames import class_scores, phone_classes
from tests.toy_corpus import PHONES, _phone

SPEAKERS = {"TRAIN": ("FAAA0", "MBBB0", "FCCC1", "MDDD0"), "TEST": ("FAKS0", "MMDB1", "MDAB0", "FELC0", "MZZZ0")}
SPOKEN = {phone.lower(): phone for phone in PHONES}
PAUSES = ("h#", "tcl", "q")


def _sentence(rng: np.random.Generator, pitch: float, tract: float) -> tuple[np.ndarray, list[tuple[int, int, str]]]:
    """Samples at 16 kHz, int16, and labels: silence, twelve phones with closures and glottal stops, silence."""
    names = [str(name) for name in rng.choice([*SPOKEN, "tcl", "q"], 14)]
    pieces, labels, at = [], [], 0
    for name in ["h#", *names, "h#"]:
        silent = np.zeros(int(rng.uniform(0.03, 0.08) * RATE))
        sound = silent if name in PAUSES else np.repeat(_phone(SPOKEN[name], pitch, tract, rng), 2)
        pieces.append(sound)
        labels.append((at, at + len(sound), name))
        at += len(sound)
    samples = 0.15 * np.concatenate(pieces) + 0.001 * rng.standard_normal(at)
    return (np.clip(samples, -1, 1) * 32767).astype(np.int16), labels


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A miniature of the corpus in capitals: four training, two development, two core-test speakers, and another."""
    root, rng = tmp_path_factory.mktemp("timit") / "TIMIT", np.random.default_rng(0)
    for part, speakers in SPEAKERS.items():
        for number, speaker in enumerate(speakers):
            folder = root / part / f"DR{1 + number % 2}" / speaker
            folder.mkdir(parents=True)
            voice = rng.uniform(90, 240), rng.uniform(0.92, 1.1)
            for sentence in ("SA1", *(f"{'SX' if n < 5 else 'SI'}{n}" for n in range(8 if part == "TRAIN" else 4))):
                samples, labels = _sentence(rng, *voice)
                (folder / f"{sentence}.WAV").write_bytes(sphere_bytes(samples, RATE))
                lines = [f"{start} {end} {label}\n" for start, end, label in labels]
                (folder / f"{sentence}.PHN").write_text("".join(lines))
                (folder / f"{sentence}.TXT").write_text(f"0 {len(samples)} She had your suit.\n")
                (folder / f"{sentence}.WRD").write_text(f"0 {len(samples)} she\n")
    return root.parent


@pytest.fixture
def copied(tiny: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny, tmp_path / "corpus")


def test_the_map_has_the_published_numbers_of_classes():
    to_48, to_39 = read_fold(f"{PHONE_MAP}:2"), read_fold(f"{PHONE_MAP}:3")
    assert len(to_48) == 61 and to_48["q"] == ""
    assert len(set(to_48.values()) - {""}) == 48 and len(set(to_39.values()) - {""}) == 39
    assert {name for name, target in to_39.items() if target == "sil"} == {
        *("bcl", "dcl", "gcl", "pcl", "tcl", "kcl", "vcl", "cl", "epi", "pau", "h#", "sil")
    }


def test_the_published_speakers_are_disjoint():
    assert (len(CORE_TEST), len(DEVELOPMENT), len(CORE_TEST & DEVELOPMENT)) == (24, 50, 0)
    assert sum(name.startswith("f") for name in CORE_TEST) == 8


def test_corpus_has_the_published_split_without_sa(tiny):
    timit = read_corpus(tiny)
    found = {split: (corpus.speakers, len(corpus)) for split, corpus in timit.splits.items()}
    assert found == {
        "train": (("faaa0", "fccc1", "mbbb0", "mddd0"), 32),
        "dev": (("faks0", "mmdb1"), 8),
        "test": (("felc0", "mdab0"), 8),
    }
    assert len(timit.notes) == 3 and set(timit.labels) == {
        utterance.id for corpus in timit.splits.values() for utterance in corpus.utterances
    }
    utterance = timit.splits["test"].utterances[0]
    assert utterance.id == "felc0_sx0" and utterance.words is not None
    assert utterance.words[0] == utterance.words[-1] == "sil" and "q" not in utterance.words
    assert "cl" in {word for one in timit.splits["train"].utterances for word in one.words or ()}


def test_names_in_small_letters_and_riff_files_are_the_same_corpus(copied, tiny):
    for path in sorted(copied.rglob("*.WAV")):
        if path.parent.name == "MDAB0":
            soundfile.write(f"{path}.wav", read_audio(path, rate=RATE).astype(np.int16), RATE, format="WAV")
            path.write_bytes(b"NIST_1A\nshorten")  # as in some copies
    for path in sorted(copied.rglob("*"), key=lambda path: len(path.parts), reverse=True):
        path.rename(path.with_name(path.name.lower()))
    expected, found = read_corpus(tiny), read_corpus(copied)
    assert found.labels == expected.labels
    assert {name: part.speakers for name, part in found.splits.items()} == {
        name: part.speakers for name, part in expected.splits.items()
    }
    assert [one.source.name for one in found.splits["test"].utterances][-1] == "sx3.wav.wav"


def test_glottal_stops_give_their_time_to_the_next_phone(tmp_path):
    (tmp_path / "a.phn").write_text("0 1600 h#\n1600 2400 q\n2400 3200 ao\n3200 4000 axr\n4000 4800 q\n")
    assert read_phones(tmp_path / "a.phn") == [(0, 0.1, "sil"), (0.1, 0.2, "ao"), (0.2, 0.3, "er")]


@pytest.mark.parametrize("line", ["0 1600", "0 1600 zz", "1600 0 h#", "-1 5 h#", "0 1e3 h#", "0 9 h#\n3 2 aa", "0 5 q"])
def test_labels_that_cannot_be_right_raise(tmp_path, line):
    (tmp_path / "a.phn").write_text(f"{line}\n")
    with pytest.raises(CorpusError, match=r"a\.phn"):
        read_phones(tmp_path / "a.phn")


def test_damaged_files_are_left_out_of_training_only(copied):
    train = sorted((copied / "TIMIT/TRAIN").rglob("SX*.WAV"))
    os.truncate(train[0], 900)
    train[1].unlink()
    train[2].with_suffix(".PHN").write_text("0 x h#\n")
    problems = read_corpus(copied).splits["train"].problems
    assert len(problems) == 3 and problems[1].code == "no-audio"
    (copied / "TIMIT/TEST/DR1/MDAB0/SX1.WAV").unlink()
    with pytest.raises(CorpusError, match=r"1 of the 8 recordings of this test set"):
        read_corpus(copied)


def test_missing_folders_are_named(copied):
    shutil.rmtree(copied / "TIMIT" / "TEST")
    with pytest.raises(CorpusError, match="'TEST' not found"):
        read_corpus(copied)


def test_class_scores_are_the_sums_of_a_loop():
    rng = np.random.default_rng(0)
    scores, classes = rng.normal(size=(5, 9)), np.array([2, 0, 1, 0, 2, 2, 1, 0, 0])
    naive = [[np.log(sum(np.exp(row[classes == one]))) for one in range(3)] for row in scores]
    np.testing.assert_allclose(class_scores(scores, classes), naive)
    topology = Topology(("ao", "cl", "aa"))
    assert phone_classes(topology, read_fold(f"{PHONE_MAP}:3")).tolist() == [1, 0, 1, 0, 1]  # SIL ao cl aa SP


def small_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    search = SearchSettings(lm_scale=2.0, beam=40.0, max_active=300)
    config = TrainingConfig(
        features=recipe.FEATURES,
        gmm=GmmSettings(mixtures=(1, 2), iterations=(3, 2)),
        tied_gmm=TiedGmmSettings(mixtures=(1,), iterations=(2,)),
        gmm_search=search,
        hybrid_search=search,
        tuning=TuningSettings(scale_factors=(1.0,), penalty_factors=(0.0,)),
    )
    parameters = {"loss": "ovr", "n_centers": 40, "n_candidates": 80, "max_iter": 1, "min_steps": 20}
    monkeypatch.setattr(recipe, "CONFIG", config)
    monkeypatch.setattr(recipe, "CLASSIFIER", HybridSettings(parameters=parameters, vtlp_warps=(), mixtures=1))
    monkeypatch.setattr(recipe, "TIED_STATES", 30)
    monkeypatch.setattr(context_trees, "MIN_FRAMES", 20)
    monkeypatch.setattr(systems, "MAPPED_COMPONENTS", (2,))
    monkeypatch.setattr(systems, "TIED_COMPONENTS", (1,))
    monkeypatch.setattr(systems, "COMPONENTS", 2)
    monkeypatch.setattr(systems, "_OF_TABLE_4_2", {"krls-ovr": systems._OF_TABLE_4_2["krls-ovr"]})


OURS = {"gmm-speaker-2", "gmm-mapped-2", "gmm-tied-lda-mllt-1", "gmm-tied-1", "gmm-tied-mapped-1", "ovr", "ovr-tied",
        "ovr-mapped", "ovr-tied-mapped"}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--alignment", "hand"], OURS),
        (["--alignment", "flat", "--systems", "table-4.2"], {"gmm-2", "krls-ovr"}),
    ],
)
def test_the_recipe_goes_from_files_to_a_table(tiny, tmp_path, monkeypatch, capsys, given, expected):
    small_systems(monkeypatch)
    work = tmp_path / "work"
    command = ["timit", "--corpus-dir", str(tiny), "--work-dir", str(work), "--jobs", "1", *given]
    monkeypatch.setattr(sys, "argv", command)
    recipe.main()
    rows = json.loads((work / "results.json").read_text())
    assert {(row["system"], row["split"]) for row in rows} == {(n, s) for n in expected for s in ("dev", "test")}
    assert sum(row["primary"] for row in rows) == 2
    n_words = sum(len(one.words or ()) for one in read_corpus(tiny).splits["test"].utterances)
    for row in rows:
        assert row["split"] == "dev" or row["words"] == n_words
        assert row["wer"] < 60 and row["frame_accuracy"] > 50, row
    shown = capsys.readouterr().out
    assert "frames %" in shown and all(row.system in shown for row in recipe.PUBLISHED)
    first = rows[-1]
    hypotheses = next((work / "stages").glob(f"test-decode-{first['system']}-*/hyp.txt")).read_text().splitlines()
    words = {name: tuple(phones) for name, *phones in map(str.split, hypotheses)}
    references = {one.id: one.words or () for one in read_corpus(tiny).splits["test"].utterances}
    fold = read_fold(f"{PHONE_MAP}:3")
    report = score_utterances(folded_transcripts(fold, references), folded_transcripts(fold, words))
    assert report.errors == first["errors"]
