"""Utterances whose features lie far beyond all others are told, and no honest ones."""

import numpy as np
import pytest

from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.kaldi_ark import write_archive
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static, find_outlier_utterances


def matrices(n_utterances: int = 12, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    scale = np.array([30.0, 5.0, 0.2], np.float32)
    return [(scale * rng.normal(size=(rng.integers(20, 60), 3))).astype(np.float32) for _ in range(n_utterances)]


@pytest.mark.parametrize("value", [2e4, -2e4, 1e10, 1e30])
def test_one_value_far_beyond_all_others_is_found(value):
    frames = matrices()
    frames[5][7, 1] = value
    found = find_outlier_utterances(frames)
    assert list(found) == [5]
    assert found[5].code == "out-of-range"
    assert found[5].message.startswith(f"feature 1 of frame 7 is {value:g}, far from other utterances")


def test_honest_features_are_none():
    frames = matrices()
    frames[3][:] = 0.0  # constant
    frames[4] -= 200.0  # another channel, or digital silence
    assert find_outlier_utterances(frames) == {}


def test_few_utterances_are_held_against_no_others():
    frames = matrices(3)
    frames[0][0, 0] = 1e7
    assert find_outlier_utterances(frames) == {}
    assert find_outlier_utterances([]) == {}


def test_an_archived_utterance_of_1e4_and_more_does_not_reach_the_table(tmp_path):
    frames = matrices()
    frames[2] *= np.float32(1e4)
    frames[3] *= np.float32(1e30)
    names = [f"u{number:02d}" for number in range(len(frames))]
    write_archive(tmp_path / "feats.ark", tmp_path / "feats.scp", zip(names, frames, strict=True))
    offsets = [int(line.rpartition(":")[2]) for line in (tmp_path / "feats.scp").read_text().splitlines()]
    archive = tmp_path / "feats.ark"
    places = zip(names, offsets, strict=True)
    utterances = tuple(Utterance(name, "s", None, archive=archive, offset=offset) for name, offset in places)
    table, problems = extract_static(DataDirectory(tmp_path, utterances), FeatureConfig())
    assert table.ids == tuple(name for name in names if name not in ("u02", "u03"))
    assert {problem.utterance: problem.code for problem in problems} == dict.fromkeys(["u02", "u03"], "out-of-range")
