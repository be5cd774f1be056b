"""Audio played faster or slower and with noise mixed in, against sample-by-sample twins."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from asr.acoustic.hybrid_training import HybridSettings, NoiseSettings
from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.features.augmentation import (
    Augmentation,
    NoiseClips,
    between_silences,
    carried_over,
    change_speed,
    mix_noise,
    read_noise,
)
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frame_table import FrameTable
from asr.lexicon import Lexicon
from asr.runs.run import Run
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset, joined
from asr.training.gmm_stages import AlignedGmms, TrainingContext
from asr.training.hybrid_stages import train_hybrid_system, training_copies
from asr.util.errors import ConfigError, CorpusError, FeatureError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

RATE = 8000
CONFIG = FeatureConfig(sample_rate=RATE)


@pytest.fixture
def clips(tmp_path) -> NoiseClips:
    """Three clips of 0.25, 0.5 and 0.75 s."""
    random = np.random.default_rng(0)
    (tmp_path / "noise").mkdir()
    lines = []
    for number, name in enumerate(("wind", "rain", "saw"), start=1):
        soundfile.write(tmp_path / "noise" / f"{name}.wav", 0.1 * random.normal(size=2000 * number), RATE)
        lines.append(f"{name} {name}.wav\n")
    (tmp_path / "noise" / "noise.scp").write_text("".join(lines))
    return read_noise(tmp_path / "noise")


@pytest.fixture
def corpus(tmp_path) -> DataDirectory:
    """Forty utterances of half a second, enough for several batches."""
    random = np.random.default_rng(1)
    utterances = []
    for number in range(40):
        path = tmp_path / f"{number:02d}.wav"
        soundfile.write(path, 0.1 * random.normal(size=4000), RATE)
        utterances.append(Utterance(f"u{number:02d}", "s", ("A",), audio=path))
    write_data_directory(tmp_path / "data", utterances)
    return read_data_directory(tmp_path / "data")


@given(snr_db=st.floats(-10, 40), scale=st.floats(0.01, 1000), seed=st.integers(0, 99))
def test_the_ratio_asked_for_is_met_within_a_tenth_of_a_decibel(snr_db, scale, seed):
    random = np.random.default_rng(seed)
    signal = (1000 * random.normal(size=3000)).astype(np.float32)
    noise = (scale * random.uniform(-1, 1, 3000)).astype(np.float32)
    added = mix_noise(signal, noise, snr_db).astype(np.float64) - signal
    found = 10 * np.log10(np.sum(signal.astype(np.float64) ** 2) / np.sum(added**2))
    assert abs(found - snr_db) < 0.1


def test_mixing_equals_the_same_sum_written_sample_by_sample():
    signal, noise = np.float32([3.0, -4.0, 0.0]), np.float32([1.0, 2.0, 2.0])
    gain = (25.0 / 9.0 / 10.0 ** (6.0 / 10.0)) ** 0.5
    expected = [s + gain * n for s, n in zip(signal.tolist(), noise.tolist(), strict=True)]
    mixed = mix_noise(signal, noise, 6.0)
    assert mixed.dtype == np.float32
    np.testing.assert_allclose(mixed, expected, rtol=1e-6)


def test_a_silent_utterance_stays_silent_and_silent_noise_is_refused():
    np.testing.assert_array_equal(mix_noise(np.zeros(5, np.float32), np.ones(5, np.float32), 10.0), np.zeros(5))
    with pytest.raises(FeatureError, match="all 5 samples"):
        mix_noise(np.ones(5, np.float32), np.zeros(5, np.float32), 10.0)


def test_a_piece_of_noise_is_a_clip_read_round_from_a_drawn_sample(clips):
    for name in ("a", "b", "c", "d"):
        draw = np.random.default_rng(int.from_bytes(hashlib.sha256(f"7 {name}".encode()).digest()[:8], "little"))
        clip = soundfile.read(clips.paths[draw.integers(3)], dtype="float32")[0] * np.float32(32768)
        first = int(draw.integers(len(clip)))
        expected = [clip[(first + i) % len(clip)] for i in range(9000)]
        np.testing.assert_array_equal(clips.piece(name, 9000, rate=RATE, seed=7), expected)


def test_the_draw_depends_on_the_utterance_and_the_seed_alone(clips):
    again = NoiseClips(clips.ids, clips.paths)
    pieces = {name: clips.piece(name, 500, rate=RATE) for name in ("a", "b", "c")}
    for name in ("c", "a", "b"):
        np.testing.assert_array_equal(again.piece(name, 500, rate=RATE), pieces[name])
    assert not np.array_equal(pieces["a"], pieces["b"])
    assert not np.array_equal(pieces["a"], clips.piece("a", 500, rate=RATE, seed=1))


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_a_faster_copy_is_shorter_and_higher_by_the_same_factor(factor):
    time = np.arange(2 * RATE) / RATE
    tone = np.sin(2 * np.pi * 440 * time).astype(np.float32)
    copy = change_speed(tone, factor, RATE)
    assert copy.dtype == np.float32
    assert abs(len(copy) - len(tone) / factor) <= 1
    spectrum = np.abs(np.fft.rfft(copy * np.hanning(len(copy))))
    assert np.argmax(spectrum) * RATE / len(copy) == pytest.approx(440 * factor, abs=1)
    # The middle is the sine at the faster rate; the ends are those of the filter.
    middle = np.arange(1000, len(copy) - 1000)
    np.testing.assert_allclose(copy[middle], np.sin(2 * np.pi * 440 * factor * middle / RATE), atol=2e-3)


@pytest.mark.parametrize("factor", [0.0, -1.0, 3.0, float("nan")])
def test_a_speed_out_of_range_is_refused(factor):
    with pytest.raises(ConfigError, match=r"Expected 0\.5 to 2"):
        change_speed(np.ones(100, np.float32), factor, RATE)


@given(
    states=st.lists(st.integers(-1, 9), min_size=1, max_size=30),
    n_frames=st.integers(0, 40),
    speed=st.sampled_from([0.9, 1.0, 1.1, 1.25]),
)
def test_a_frame_of_a_copy_takes_the_state_that_the_original_had_then(states, n_frames, speed):
    original = np.array(states, np.int32)
    expected = [original[min(round(t * speed), len(original) - 1)] for t in range(n_frames)]
    assert carried_over(original, n_frames, speed).tolist() == expected


@pytest.mark.slow
def test_extraction_changes_the_audio_alike_for_any_workers(corpus, clips):
    change = Augmentation(speed=1.1, noise=clips, snr_db=5.0)
    assert change.name == "x1.1-5dB"
    plain, _ = extract_static(corpus, CONFIG)
    one, problems = extract_static(corpus, CONFIG, augmentation=change)
    two, _ = extract_static(corpus, CONFIG, augmentation=change, workers=LocalWorkers(2))
    assert not problems and one.ids == plain.ids
    np.testing.assert_array_equal(one.frames, two.frames)
    assert len(one.utterance("u00")) == 1 + (3636 - 200) // 80 < len(plain.utterance("u00"))
    few, _ = extract_static(corpus.subset(["u31", "u07"]), CONFIG, augmentation=change)
    np.testing.assert_array_equal(few.utterance("u31"), one.utterance("u31"))


def test_noise_is_added_to_the_samples_of_its_utterance(corpus, clips):
    signal = np.ones(4000, np.float32)
    change = Augmentation(noise=clips, snr_db=10.0)
    assert change.name == "10dB"
    expected = mix_noise(signal, clips.piece("u03", 4000, rate=RATE), 10.0)
    np.testing.assert_array_equal(change.apply(signal, "u03", RATE), expected)


def test_archived_features_cannot_be_changed(tmp_path):
    archive = tmp_path / "feats.ark"
    archive.write_bytes(b"")
    utterances = (Utterance("u", "s", None, archive=archive),)
    with pytest.raises(FeatureError, match="speeds and noise need audio"):
        extract_static(DataDirectory(tmp_path, utterances), CONFIG, augmentation=Augmentation(speed=0.9))


@pytest.fixture
def workshop_of(tmp_path) -> Iterator[Callable[[Literal["audio", "archive"]], TrainingContext]]:
    """Makes the workshop of a run over audio or an archive."""
    with Run.open(tmp_path / "run", command=[], configuration={}, inputs={}, seed=0) as run:
        lexicon = Lexicon({"A": (("A",),)})
        yield lambda source: TrainingContext(run, lexicon, TrainingConfig(features=CONFIG), source)


def test_training_copies_follow_the_originals_each_with_its_states(corpus, clips, workshop_of, tmp_path):
    corpus = corpus.subset(["u00", "u01", "u02"])
    static, _ = extract_static(corpus, CONFIG)
    dataset = Dataset(static, dict.fromkeys(static.ids, ("A",)), corpus=corpus).where(lambda u, _: u != "u01")
    states = np.arange(dataset.static.n_frames, dtype=np.int32)
    settings = HybridSettings(
        vtlp_warps=(0.9,), speed_perturb=(1.25,), noise=NoiseSettings(directory=tmp_path / "noise", snr_db=(10.0,))
    )
    copies, labels = training_copies(workshop_of("audio"), dataset, states, settings, CONFIG)
    names = ("u00", "u02")
    assert copies.static.ids == tuple(name + copy for copy in ("", "/0.9", "/x1.25", "/10dB") for name in names)
    assert len(labels) == copies.static.n_frames
    assert {copies.transcripts[name] for name in copies.static.ids} == {("A",)}
    for name in names:
        original = states[dataset.static.rows(name)]
        for copy in ("", "/0.9", "/10dB"):
            np.testing.assert_array_equal(labels[copies.static.rows(name + copy)], original)
        faster = labels[copies.static.rows(name + "/x1.25")]
        assert faster.tolist() == [original[min(round(1.25 * t), len(original) - 1)] for t in range(len(faster))]
    noisy, _ = extract_static(corpus, CONFIG, augmentation=Augmentation(noise=clips, snr_db=10.0))
    np.testing.assert_array_equal(copies.static.utterance("u02/10dB"), noisy.utterance("u02"))


def test_material_joined_of_two_corpora_can_still_be_changed(corpus):
    parts = []
    for name in ("u30", "u02"):
        part = corpus.subset([name])
        parts.append(Dataset(extract_static(part, CONFIG)[0], {name: ("A",)}, corpus=part))
    faster = joined(parts).augmented(Augmentation(speed=1.1), CONFIG, workers=SerialWorkers())
    assert sorted(faster.static.ids) == ["u02/x1.1", "u30/x1.1"]
    without = joined([parts[0], Dataset(parts[1].static, parts[1].transcripts)])
    with pytest.raises(ConfigError, match="require audio"):
        without.augmented(Augmentation(speed=1.1), CONFIG, workers=SerialWorkers())


@pytest.mark.parametrize("change", [{"speed_perturb": (0.9,)}, {"noise": NoiseSettings(directory="noise")}])
def test_a_hybrid_of_archived_features_has_no_faster_or_noisy_copies(workshop_of, change):
    table = FrameTable.from_utterances(["u"], ["s"], [np.zeros((4, 13), np.float32)])
    dataset, aligned = Dataset(table, {"u": ("A",)}), AlignedGmms({}, np.zeros(4, np.int32), {})
    with pytest.raises(ConfigError, match="these features come from an archive"):
        train_hybrid_system(workshop_of("archive"), "hybrid", dataset, aligned, HybridSettings(**change), CONFIG)


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("", "empty-list", "noise.scp: "),
        ("rain rain.wav\n", "noise", r"noise.scp:1: .*rain.wav"),
        ("rain\n", "key-alone", "noise.scp:1: 'rain'"),
        ("rain sox rain.wav -t wav - |\n", "pipe", "noise.scp:1: .*'rain'"),
    ],
)
def test_a_list_of_noise_that_names_no_clip_is_refused_with_its_line(tmp_path, line, code, place):
    (tmp_path / "noise.scp").write_text(line)
    with pytest.raises(CorpusError, match=place) as raised:
        read_noise(tmp_path)
    assert raised.value.code == code


def test_the_digest_of_clips_changes_with_their_files(clips):
    before = clips.digest()
    assert before == NoiseClips(clips.ids, clips.paths).digest()
    with clips.paths[0].open("ab") as file:
        file.write(b"more")
    assert clips.digest() != before


def test_silence_added_is_a_twentieth_at_most():
    signal = np.ones(8000, np.float32)
    longest, shorter = (Augmentation(silence_ms=milliseconds) for milliseconds in (100.0, 25.0))
    assert longest.name == "100ms"
    for augmentation, silent in ((longest, 400), (shorter, 200)):
        changed = augmentation.apply(signal, "u", 8000)
        assert changed.dtype == np.float32
        np.testing.assert_array_equal(changed, np.pad(signal, silent))


@pytest.mark.parametrize(
    ("original", "n_frames", "expected"),
    [
        ([7, 8], 8, [0, 1, 2, 7, 8, 0, 1, 2]),
        ([7, 8], 9, [0, 1, 2, 7, 8, 0, 0, 1, 2]),
        ([7], 3, [0, 7, 0]),
        ([7, 8], 2, [7, 8]),
        ([-1, -1], 4, [-1, -1, -1, -1]),
    ],
)
def test_frames_before_and_after_the_original_pass_through_silence(original, n_frames, expected):
    found = between_silences(np.array(original, np.int32), n_frames, range(3))
    assert (found.tolist(), found.dtype) == (expected, np.int32)
