"""The recipe of a hundred labelled utterances: its reader with flawed folders, a tiny folder from files to a table."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from asr.acoustic.hybrid_training import HybridSettings
from asr.corpus.sphinx_features import write_sphinx_features
from asr.hmm.topology import Topology, count_transitions
from asr.scoring.wer import score_utterances
from asr.training.config import TuningSettings
from asr.util.errors import CorpusError
from recipes.rm1 import sample
from recipes.rm1.sample_data import phone_sequence, read_sample
from recipes.rm1.sample_report import frame_report

PHONES = ("AA", "N", "SIL", "T")
SYSTEMS = ["gmm-8", "svm-ovo", "npd-ovo", "orols-ovo", "npd-ovo-logistic", "krls-ovr", "ovr", "ovr-gmm"]


def _states(generator: np.random.Generator, n_phones: int) -> list[int]:
    """Silence, phones of which each follows another, silence; one to three frames a state."""
    spoken = [number for number, phone in enumerate(PHONES) if phone != "SIL"]
    drawn = generator.integers(1, len(spoken), n_phones).cumsum() % len(spoken)
    sequence = [PHONES.index("SIL"), *(spoken[number] for number in drawn), PHONES.index("SIL")]
    return [3 * phone + state for phone in sequence for state in range(3) for _ in range(int(generator.integers(1, 4)))]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the real one is: a mean for every state, and noise around it."""
    root, generator = tmp_path_factory.mktemp("rm1-sample"), np.random.default_rng(0)
    means = generator.normal(size=(3 * len(PHONES), 13))
    (root / "phones.txt").write_text("\n".join(PHONES) + "\n")
    for split, n_speakers in (("train", 10), ("test", 2)):
        (root / split).mkdir()
        lists: dict[str, list[str]] = {"mfc.scp": [], "utt2spk": [], "states.txt": []}
        for speaker in (f"{split}{number}" for number in range(n_speakers)):
            (root / "cepstra" / speaker).mkdir(parents=True)
            for number in range(1 if split == "train" else 2):
                name, path, states = f"{speaker}-{number}", f"cepstra/{speaker}/{number}.mfc", _states(generator, 12)
                frames = means[states] + 1.5 * generator.normal(size=(len(states), 13))
                write_sphinx_features(root / path, frames.astype(np.float32))
                lists["mfc.scp"].append(f"{name} {path}")
                lists["utt2spk"].append(f"{name} {speaker}")
                lists["states.txt"].append(" ".join([name, *map(str, states)]))
        for file, lines in lists.items():
            (root / split / file).write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture
def copied(tiny: Path, tmp_path: Path) -> Path:
    """A copy, to be spoilt."""
    return shutil.copytree(tiny, tmp_path / "sample")


def _change(path: Path, old: str, new: str, times: int = 1) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, times))


def test_the_phones_become_words_and_the_states_those_of_the_topology(tiny):
    lexicon, data = read_sample(tiny)
    assert lexicon.pronunciations == {phone: ((phone,),) for phone in ("AA", "N", "T")}
    train, topology = data["train"], Topology(lexicon.phones)
    name = train.dataset.static.ids[0]
    given = [int(label) for label in (tiny / "train" / "states.txt").read_text().split("\n")[0].split()[1:]]
    houses = [topology.state_name(state) for state in train.states[name]]
    assert houses == [f"{PHONES[label // 3]}_{label % 3 + 1}" for label in given]
    assert "SIL" not in train.dataset.references[name] and len(train.dataset.references[name]) == 12
    assert len(train.states_of(train.dataset)) == train.dataset.static.n_frames


def test_phones_and_transitions_are_those_of_a_naive_count():
    states = np.array([6, 6, 7, 8, 0, 1, 1, 1, 2, 0, 1, 2, 2, 9, 10, 11])  # the first phone twice in a row
    assert phone_sequence(states).tolist() == [2, 0, 0, 3]
    topology = Topology(("A", "B", "C"))
    stays, visits = np.zeros(topology.n_units, int), np.zeros(topology.n_units, int)
    for before, state in zip([-1, *states[:-1]], states, strict=True):
        (stays if before == state else visits)[state] += 1
    found = count_transitions(states, topology)
    assert (found[0] == stays).all() and (found[1] == visits).all()


def test_one_label_more_than_frames_is_dropped(copied):
    _, whole = read_sample(copied)
    _change(copied / "test" / "states.txt", "\n", " 8\n")
    _, one_more = read_sample(copied)
    assert one_more["test"].digest() == whole["test"].digest()


def test_other_numbers_of_labels_are_refused_with_file_and_line(copied):
    path = copied / "test" / "states.txt"
    lines = path.read_text().splitlines()
    for labels in (f"{lines[1]} 8 8", lines[1].rsplit(" ", 1)[0]):
        path.write_text("\n".join([lines[0], labels, *lines[2:]]) + "\n")
        with pytest.raises(CorpusError, match=r"test/states.txt:2: 'test0-1' has \d+ labels for the \d+ frames"):
            read_sample(copied)


def test_all_files_that_are_missing_are_named(copied):
    (copied / "phones.txt").unlink()
    (copied / "test" / "utt2spk").unlink()
    with pytest.raises(CorpusError, match=r"2 files or folders are missing: .*phones.txt; .*test/utt2spk"):
        read_sample(copied)


def test_cepstra_that_are_missing_are_named(copied):
    (copied / "cepstra" / "train1" / "0.mfc").unlink()
    (copied / "cepstra" / "train2" / "0.mfc").unlink()
    with pytest.raises(CorpusError, match=r"2 files or folders are missing: .*train1/0.mfc; .*train2/0.mfc"):
        read_sample(copied)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("phones.txt", "AA", "N", r"phones.txt:2: 'N' is not a valid phone"),
        ("phones.txt", "SIL", "H", r"phones.txt: 4 phones. Expected SIL and"),
        ("train/states.txt", " 6 ", " 12 ", r"train/states.txt:1: '12' is not a state. Expected numbers from 0 to 11"),
        ("train/states.txt", " 6 ", " x ", r"train/states.txt:1: 'x' is not a state"),
        ("train/utt2spk", "train0-0 train0\n", "", r"train/utt2spk: utterance 'train0-0' is missing"),
        ("train/mfc.scp", "train0-0 cepstra/train0/0.mfc\n", "", r"train/mfc.scp: utterance 'train0-0' is missing"),
        ("test/mfc.scp", " cepstra", " ../cepstra", r"1 file or folder is missing: .*/../cepstra/test0/0.mfc"),
        ("test/utt2spk", " test0", " a/b", r"test/utt2spk:1: 'a/b' is not a valid name"),
        ("test/utt2spk", " test0", " train3", r"speaker 'train3' is in train and test"),
    ],
)
def test_spoilt_lists_are_refused_by_name(copied, file, old, new, message):
    _change(copied / file, old, new)
    with pytest.raises(CorpusError, match=message):
        read_sample(copied)


@pytest.mark.corpus
def test_the_real_folder_has_the_frames_and_phones_that_its_readme_counts(rm1_sample):
    lexicon, data = read_sample(rm1_sample)
    assert len(lexicon) == 48
    # Two label lists of the test, which has 9,108 labels, have one label more than frames.
    for split, n_speakers, n_frames, n_phones in (("train", 40, 27_284, 3_151), ("test", 12, 9_106, 989)):
        dataset = data[split].dataset
        assert (len(dataset.speakers), dataset.static.n_frames) == (n_speakers, n_frames)
        lines = (rm1_sample / split / "phones.ctm").read_text().splitlines()
        assert len(lines) == n_phones
        spoken: dict[str, list[str]] = {}
        for name, _, _, _, phone in map(str.split, lines):
            spoken.setdefault(name, []).extend([phone] if phone != "SIL" else [])
        assert {name: list(phones) for name, phones in dataset.references.items()} == spoken


def test_wrong_frames_are_counted_as_words_are(tiny):
    dataset = read_sample(tiny)[1]["test"].dataset
    wrong = {name: number for number, name in enumerate(dataset.static.ids)}
    report = frame_report(dataset, wrong)
    words = {name: ("a",) * len(dataset.static.utterance(name)) for name in wrong}
    spoilt = {name: ("b",) * wrong[name] + words[name][wrong[name] :] for name in wrong}
    expected = score_utterances(words, spoilt, speakers=dataset.utterance_speaker)
    assert [each.counts.errors for each in report.utterances] == [each.counts.errors for each in expected.utterances]
    assert report.wer == pytest.approx(expected.wer)


@pytest.mark.slow
def test_tiny_folder_becomes_a_table_twice_the_same(tiny, tmp_path, monkeypatch, capsys):
    small = {"n_centers": 60, "n_candidates": 120, "max_iter": 2, "min_steps": 20, "loss": "ovr"}

    def logistic(loss: str, mixtures: int = 0) -> HybridSettings:
        return HybridSettings(parameters=small, vtlp_warps=(0.92,), mixtures=mixtures)

    monkeypatch.setattr(sample, "kernel_logistic", logistic)
    tuning = TuningSettings(held_out=0.2, scale_factors=(0.5, 1.0), penalty_factors=(-0.5, 0.5))
    monkeypatch.setattr(sample, "CONFIG", sample.CONFIG.model_copy(update={"tuning": tuning}))
    work = tmp_path / "work"
    monkeypatch.setattr(sys, "argv", ["sample", "--data-dir", str(tiny), "--work-dir", str(work), "--jobs", "1"])
    sample.main()
    shown, results = capsys.readouterr().out, (work / "results.json").read_bytes()
    rows = json.loads(results)
    assert [row["system"] for row in rows] == SYSTEMS
    for row in rows:
        assert row["phones"] == 48
        assert row["phone_error"] == pytest.approx(100 * (row["sub"] + row["del"] + row["ins"]) / 48)
        assert row["frame_error_interval"][0] <= row["frame_error"] <= row["frame_error_interval"][1]
        assert row["train_seconds"] > 0 and row["frames_per_second"] > 0
    # Random choice is wrong in 11 frames of 12 and 2 phones of 3.
    assert all(row["frame_error"] < 60 and row["phone_error"] < 40 for row in rows)
    assert "| gmm-8 |" in shown and "The source's order" in shown and "in points: npd-ovo" in shown
    sample.main()
    assert capsys.readouterr().out == shown
    assert (work / "results.json").read_bytes() == results
