"""Sounds that come with certain phones are told from pauses, by transcripts alone."""

import numpy as np
import pytest

from asr.alignment.pause_model import CERTAIN
from asr.alignment.pauses import QUIET, pause_evidence
from asr.alignment.speech_evidence import MIN_UTTERANCES, comes_with_phones, explained, known
from asr.features.frame_table import FrameTable


def spoken(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Frames of three kinds of sound, of which the second comes with phone 0; phones."""
    rng = np.random.default_rng(seed)
    said = rng.integers(0, 4, size=(n, 5)).astype(float)
    durations = rng.gamma(1.0, 20.0, size=(n, 3))
    durations[:, 1] = 9.0 * said[:, 0] * rng.uniform(0.3, 1.7, n)
    return durations, said


def test_what_is_explained_is_that_of_refits_without_each_utterance():
    durations, said = spoken(30)
    besides = known(said, ["a", "b", "b"] * 10)
    assert besides.shape == (30, 4)
    besides = besides[:, [1, 2, 3]]  # the shares of the speakers have the sum one
    phones = said - besides @ np.linalg.lstsq(besides, said, rcond=None)[0]

    def missed(columns: np.ndarray, penalties: np.ndarray) -> np.ndarray:
        total = np.zeros(3)
        for left in range(30):
            rest = np.delete(np.arange(30), left)
            A = columns[rest]
            weights = np.linalg.solve(A.T @ A + np.diag(penalties), A.T @ durations[rest])
            total += np.square(durations[left] - columns[left] @ weights)
        return total

    both, ridges = np.hstack([besides, phones]), (1.0, 10.0, 100.0, 1000.0)
    least = np.min([missed(both, np.array([0.0] * 3 + [ridge] * 5)) for ridge in ridges], axis=0)
    expected = 1.0 - least / missed(besides, np.zeros(3))
    np.testing.assert_allclose(explained(durations, said, besides), expected, atol=1e-6)


@pytest.mark.parametrize("n", [60, 400])
def test_a_fricative_comes_with_its_phone_and_a_pause_with_none(n):
    for seed in range(5):
        assert comes_with_phones(*spoken(n, seed), list("ab") * (n // 2)).tolist() == [False, True, False]


def test_few_utterances_tell_nothing():
    assert not comes_with_phones(*spoken(MIN_UTTERANCES - 1), ["a"] * (MIN_UTTERANCES - 1)).any()


def test_by_chance_hardly_any_pause_comes_with_a_phone():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        durations, said = spoken(31, seed)
        found.append(comes_with_phones(rng.permutation(durations), said, ["a"] * 31))
    assert np.mean(found) < 0.05


@pytest.mark.parametrize("durations", [np.zeros((30, 2)), np.full((30, 2), 7.0)])
def test_what_is_always_the_same_comes_with_nothing(durations):
    assert not comes_with_phones(durations, spoken(30)[1], list("abc") * 10).any()


def quiet_phones(pauses: bool, n: int = 60) -> tuple[FrameTable, np.ndarray, np.ndarray]:
    """Utterances in which a phone is as quiet as a pause; which frames are its, and what is said.

    They begin and end with it often, or with pauses, which are between the phones too.
    """
    rng = np.random.default_rng(0)

    def sound(*centre: float, n_frames: int = 30) -> np.ndarray:
        return np.array(centre) + 0.5 * rng.normal(size=(n_frames, 3))

    matrices, quiet, said = [], [], []
    for _ in range(n):
        phones = rng.integers(0, 4, size=6)
        if not pauses:
            phones[[0, -1]] = np.where(rng.random(2) < 0.6, 0, phones[[0, -1]])
        parts, marks = [], []
        for place in range(7):
            if pauses and rng.random() < (0.6 if place in (0, 6) else 0.3):
                parts.append(sound(0.0, 0.0, -4.0, n_frames=int(rng.integers(25, 60))))
                marks.append(np.zeros(len(parts[-1]), bool))
            if place < 6:
                soft = phones[place] == 0
                parts.append(sound(0.0, 4.0, 0.0) if soft else sound(6.0, phones[place] - 2.0, 3.0))
                marks.append(np.full(30, soft))
        matrices.append(np.concatenate(parts))
        quiet.append(np.concatenate(marks))
        said.append(np.bincount(phones, minlength=4).astype(float))
    names = [f"u{number:02d}" for number in range(n)]
    return FrameTable.from_utterances(names, ["s"] * n, matrices), np.concatenate(quiet), np.array(said)


def test_quiet_phones_are_no_pauses_where_transcripts_are_known():
    table, quiet, said = quiet_phones(pauses=False)
    assert (pause_evidence(table)[quiet] < 0).mean() > 0.5
    evidence = pause_evidence(table, said=said)
    assert (evidence > 0).mean() > 0.95
    assert (evidence[quiet] == QUIET).mean() > 0.5
    assert (evidence[~quiet] == CERTAIN).mean() > 0.95


def test_some_of_many_utterances_tell_as_much(monkeypatch):
    monkeypatch.setattr("asr.alignment.pauses.MAX_UTTERANCES", 30)  # of 60
    table, _, said = quiet_phones(pauses=False)
    assert (pause_evidence(table, said=said) > 0).mean() > 0.95


def test_pauses_beside_quiet_phones_stay_pauses():
    table, quiet, said = quiet_phones(pauses=True)
    evidence = pause_evidence(table, said=said)
    assert (evidence[table.frames[:, 2] < -2.0] < 0).mean() > 0.9
    assert (evidence[quiet] < 0).mean() < 0.1
