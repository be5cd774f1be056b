"""Padding keeps every sample of the speech, and says where it went."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.alignment.ctm import CtmRow
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.features.augmentation import NoiseClips
from benchmarks.padded_speech.corpora import cut_between_words, digit_strings, levelled, read_places, write_corpora
from benchmarks.padded_speech.measures import Phones, agreement
from benchmarks.padded_speech.padding import FULL_SCALE, Padded, Recording, pad

RATE = 8000


@pytest.fixture
def noise(tmp_path: Path) -> NoiseClips:
    path = tmp_path / "clip.wav"
    soundfile.write(path, np.random.default_rng(0).normal(size=RATE) * 0.1, RATE)
    return NoiseClips(("clip",), (path,))


def recording(n_pieces: int = 4, seed: int = 0) -> Recording:
    rng = np.random.default_rng(seed)
    pieces = tuple((rng.normal(size=length) * 3000).astype(np.float32) for length in rng.integers(900, 4000, n_pieces))
    return Recording(f"u{seed}", "s", pieces, tuple((f"W{number}",) for number in range(n_pieces)))


@pytest.mark.parametrize("seed", range(6))
def test_one_to_three_seconds_of_noise_lie_around_the_pieces(noise: NoiseClips, seed: int):
    spoken = recording(seed=seed)
    padded = pad(spoken, noise, rate=RATE, seed=0)
    assert padded.n_noise / RATE + 1e-3 >= 1.0 and padded.n_noise / RATE <= 3.001
    speech = np.zeros(padded.n_samples, bool)
    for piece, start, length in zip(spoken.pieces, padded.starts, padded.lengths, strict=True):
        np.testing.assert_array_equal(padded.samples[start : start + length], piece)
        speech[start : start + length] = True
    level = 20 * np.log10(np.sqrt(np.mean(np.square(padded.samples[~speech]))) / FULL_SCALE)
    assert -50 <= level <= -35
    gaps = np.diff([0, *padded.starts]) - [0, *padded.lengths[:-1]]
    assert gaps[0] > 0 and (gaps[1:] > 0).any() and not speech[-1]
    np.testing.assert_array_equal(pad(spoken, noise, rate=RATE, seed=0).samples, padded.samples)
    assert pad(spoken, noise, rate=RATE, seed=1).n_samples != padded.n_samples


def test_a_place_moves_with_its_piece_and_never_into_the_noise():
    padded = Padded(np.empty(0, np.float32), 1000, np.array([100, 400]), np.array([200, 300]), [0, 0, 1])
    assert padded.moved(150, 1) == 250
    assert padded.moved(210, 0) == 300  # shortly after the end of the first piece
    assert padded.moved(190, 2) == 400  # shortly before the start of the second
    assert padded.moved(200, 2) == 400
    assert padded.n_noise == 500


def test_corpora_are_written_whole_and_digits_are_all_used_once(tmp_path: Path, noise: NoiseClips):
    source = tmp_path / "digits"
    source.mkdir()
    utterances = []
    for number in range(14):
        soundfile.write(source / f"d{number}.wav", np.full(1000 + number, 0.1), RATE)
        path = source / f"d{number}.wav"
        utterances.append(Utterance(f"d{number:02d}", "ab"[number % 2], (str(number),), audio=path))
    write_data_directory(source / "train", utterances)
    strings = digit_strings(read_data_directory(source / "train"), rate=RATE, seed=0)
    used = [word for string in strings for word in string.transcript]
    assert len(used) == len(set(used)) >= 10
    assert all(3 <= len(string.pieces) <= 6 for string in strings)
    (tmp_path / "out").mkdir()
    write_corpora(tmp_path / "out", strings, noise, rate=RATE, seed=0)
    places = read_places(tmp_path / "out")
    for condition in ("plain", "padded"):
        corpus = read_data_directory(tmp_path / "out" / condition)
        assert [utterance.words for utterance in corpus.utterances] == [string.transcript for string in strings]
        for utterance, string in zip(corpus.utterances, strings, strict=True):
            n_samples = soundfile.info(utterance.source).frames
            assert n_samples == (len(string.plain()) if condition == "plain" else places[string.id].n_samples)


def test_sentences_are_cut_in_the_middle_of_what_is_between_words(tmp_path: Path):
    soundfile.write(tmp_path / "a.wav", np.arange(RATE) / RATE / 2, RATE)
    write_data_directory(tmp_path / "train", [Utterance("u", "s", ("A", "B"), audio=tmp_path / "a.wav")])
    words = {"u": [CtmRow("u", 0.1, 0.3, "A"), CtmRow("u", 0.6, 0.3, "B")]}
    (cut,) = cut_between_words(read_data_directory(tmp_path / "train"), words, rate=RATE)
    assert [len(piece) for piece in cut.pieces] == [RATE // 2, RATE // 2]
    assert (cut.transcript, cut.piece_of_word) == (("A", "B"), [0, 1])
    level = float(np.sqrt(np.mean(np.square(levelled(cut, -20.0).plain()))))
    assert level == pytest.approx(FULL_SCALE / 10, rel=1e-3)


def test_agreement_counts_silence_and_moved_boundaries():
    place = Padded(np.empty(0, np.float32), 300, np.array([100]), np.array([100]), [0])
    plain = Phones(["x", "y", "SIL"], [0, 0, -1], np.array([0.0, 0.4, 0.9]), np.array([0.4, 0.9, 1.0]))
    padded = Phones(
        ["SIL", "x", "y", "SIL"], [-1, 0, 0, -1], np.array([0.0, 1.01, 1.5, 1.9]), np.array([1.01, 1.5, 1.9, 3.0])
    )
    found = agreement({"u": plain}, {"u": padded}, {"u": place}, rate=100)
    assert found.true_silence == pytest.approx(100 * 2.1 / 3)
    assert found.silence == pytest.approx(100 * 2.11 / 3)
    assert found.close_boundaries == 50.0  # 10 ms and 0 ms are close, the two of 100 ms are not


def test_word_with_another_pronunciation_is_not_close():
    place = Padded(np.empty(0, np.float32), 100, np.array([0, 50]), np.array([50, 50]), [0, 1])
    starts, ends = np.array([0.0, 0.5]), np.array([0.5, 1.0])
    plain, padded = Phones(["x", "y"], [0, 1], starts, ends), Phones(["x", "z"], [0, 1], starts, ends)
    assert agreement({"u": plain}, {"u": padded}, {"u": place}, rate=100).close_boundaries == 50.0
