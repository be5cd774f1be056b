"""Features of a corpus: audio or archives, any number of jobs, and utterances that fail."""

import subprocess
import sys

import numpy as np
import pytest
import soundfile

from asr.corpus.audio import read_audio
from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.writing import write_data_directory
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.mfcc import mfcc
from asr.util.errors import FeatureError
from discriminants.parallel.workers import LocalWorkers

CONFIG = FeatureConfig(sample_rate=8000)


@pytest.fixture
def corpus(tmp_path) -> DataDirectory:
    """Seventy short utterances; three of them cannot give features."""
    generator = np.random.default_rng(0)
    utterances = []
    for i in range(70):
        path = tmp_path / f"{i:02d}.wav"
        n = {5: 0, 40: 150}.get(i, 400 + 13 * i)
        soundfile.write(path, generator.normal(size=n) * 0.1, 8000)
        utterances.append(Utterance(f"u{i:02d}", f"s{i % 3}", None, audio=path))
    (tmp_path / "66.wav").write_bytes(b"RIFF and no more")
    write_data_directory(tmp_path / "data", utterances)
    return read_data_directory(tmp_path / "data")


def test_every_utterance_gets_its_own_features_and_bad_ones_are_listed(corpus):
    seen: list[int] = []
    table, problems = extract_static(corpus, CONFIG, progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 70
    assert [problem.utterance for problem in problems] == ["u05", "u40", "u66"]
    reasons = ["no samples", "18.8 ms of audio are shorter", "cannot be read"]
    for problem, reason in zip(problems, reasons, strict=True):
        assert reason in problem.message
    assert len(table) == 67
    for utterance in corpus.utterances[:5]:
        expected = mfcc(read_audio(utterance.source, rate=8000), CONFIG)
        np.testing.assert_array_equal(table.utterance(utterance.id), expected)
        assert table.speakers[table.index[utterance.id]] == utterance.speaker


def test_the_result_does_not_depend_on_the_workers(corpus):
    seen: list[int] = []
    one, problems_of_one = extract_static(corpus, CONFIG)
    two, problems_of_two = extract_static(corpus, CONFIG, workers=LocalWorkers(2), progress=seen.append)
    assert one.ids == two.ids and problems_of_one == problems_of_two and seen[-1] == 70
    np.testing.assert_array_equal(one.frames, two.frames)


@pytest.mark.parametrize("other", "abc")
def test_archived_features_of_most_frequent_width_are_kept(tmp_path, other):
    generator = np.random.default_rng(1)
    matrices = {
        key: generator.normal(size=(n, 7 if key == other else 6)).astype(np.float32)
        for key, n in (("a", 4), ("b", 9), ("c", 5))
    }
    write_archive(tmp_path / "data" / "feats.ark", tmp_path / "data" / "feats.scp", matrices.items())
    (tmp_path / "data" / "utt2spk").write_text("a s\nb s\nc s\n")
    table, problems = extract_static(read_data_directory(tmp_path / "data"), FeatureConfig())
    assert [(one.utterance, one.code) for one in problems] == [(other, "other-dimension")]
    assert "7 features" in problems[0].message and "6" in problems[0].message
    del matrices[other]
    assert table.ids == tuple(matrices)
    np.testing.assert_array_equal(table.frames, np.concatenate(list(matrices.values())))


def test_a_corpus_without_any_features_is_refused(corpus):
    with pytest.raises(FeatureError, match=r"none of the 2 utterances .* 'u05'"):
        extract_static(corpus.subset(["u05", "u40"]), CONFIG)


def test_fsdd_gives_a_frame_every_ten_milliseconds(speech_data):
    corpus = read_data_directory(speech_data / "fsdd" / "test").with_speakers(["theo"])
    table, problems = extract_static(corpus, CONFIG)
    assert len(table) == 50 and not problems and np.isfinite(table.frames).all()
    for utterance in corpus.utterances:
        n = soundfile.info(utterance.source).frames
        assert len(table.utterance(utterance.id)) == 1 + (n - 200) // 80


def test_an4_audio_and_an4_cepstra_agree_in_length_and_shape(speech_data):
    audio, _ = extract_static(read_data_directory(speech_data / "an4" / "audio_test"), FeatureConfig(energy="c0"))
    archived, _ = extract_static(read_data_directory(speech_data / "an4" / "test"), FeatureConfig())
    for key in audio.ids:
        ours, theirs = audio.utterance(key), archived.utterance(key)
        assert abs(len(ours) - len(theirs)) <= 2
        n = min(len(ours), len(theirs))
        assert np.corrcoef(ours[:n, -1], theirs[:n, 0])[0, 1] > 0.9


def test_reading_lists_loads_no_heavy_library():
    code = (
        "import sys, asr.corpus.data_directory, asr.corpus.writing, asr.features.config, "
        "asr.features.frame_table;"
        "print([m for m in ('numba', 'librosa', 'scipy', 'soundfile', 'sklearn') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
