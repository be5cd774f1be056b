"""Reading audio: formats, channels, rates, segments, and what is refused."""

import numpy as np
import pytest
import soundfile

from asr.corpus.audio import read_audio
from asr.corpus.audio_kinds import READABLE
from asr.corpus.data_directory import read_data_directory
from asr.util.errors import CorpusError

SAMPLES = np.random.default_rng(3).integers(-20_000, 20_000, 8000).astype(np.int16)


@pytest.mark.parametrize(
    ("name", "options"), [("x.wav", {}), ("x.flac", {}), ("x.sph", {"format": "NIST", "subtype": "PCM_16"})]
)
def test_sixteen_bit_files_are_read_to_the_sample(tmp_path, name, options):
    soundfile.write(tmp_path / name, SAMPLES, 16000, **options)
    signal = read_audio(tmp_path / name, rate=16000)
    assert signal.dtype == np.float32 and signal.flags.c_contiguous
    np.testing.assert_array_equal(signal, SAMPLES)


def test_channels_are_averaged(tmp_path):
    soundfile.write(tmp_path / "x.wav", np.stack([SAMPLES, -SAMPLES, SAMPLES // 2 * 2], axis=1), 16000)
    np.testing.assert_allclose(read_audio(tmp_path / "x.wav", rate=16000), SAMPLES // 2 * 2 / 3, atol=0.01)


@pytest.mark.parametrize("native", [8000, 11025, 22050, 44100, 48000])
def test_another_rate_is_converted_and_keeps_tone_and_level(tmp_path, native):
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(native) / native)
    soundfile.write(tmp_path / "x.wav", tone, native, subtype="FLOAT")
    signal = read_audio(tmp_path / "x.wav", rate=16000)
    assert abs(len(signal) - 16000) <= 1
    expected = 16384 * np.sin(2 * np.pi * 1000 * np.arange(len(signal)) / 16000)
    np.testing.assert_allclose(signal[500:-500], expected[500:-500], atol=16384 * 2e-3)


def test_a_segment_is_cut_to_the_sample(tmp_path):
    soundfile.write(tmp_path / "x.flac", SAMPLES, 8000)
    for start, end, expected in (
        (0.25, 0.5, SAMPLES[2000:4000]),
        (0.75, None, SAMPLES[6000:]),
        (0.75, 1.4, SAMPLES[6000:]),
    ):
        np.testing.assert_array_equal(read_audio(tmp_path / "x.flac", rate=8000, start=start, end=end), expected)


def test_long_files_are_read_in_blocks_without_a_seam(tmp_path, monkeypatch):
    monkeypatch.setattr("asr.corpus.audio._BLOCK", 333)
    soundfile.write(tmp_path / "x.wav", SAMPLES, 8000)
    np.testing.assert_array_equal(read_audio(tmp_path / "x.wav", rate=8000), SAMPLES)


@pytest.mark.parametrize(("start", "end"), [(1.0, 1.2), (0.5, 0.5), (-0.1, 0.5), (0.5, 1.6), (5.0, None)])
def test_segments_outside_the_recording_are_refused(tmp_path, start, end):
    soundfile.write(tmp_path / "x.wav", SAMPLES, 8000)
    with pytest.raises(CorpusError, match=r"recording"):
        read_audio(tmp_path / "x.wav", rate=8000, start=start, end=end)


def test_shorten_compressed_sphere_is_refused_with_the_way_out(tmp_path):
    header = b"NIST_1A\n   1024\nsample_rate -i 16000\nsample_coding -s26 pcm,embedded-shorten-v2.00\nend_head\n"
    (tmp_path / "x.sph").write_bytes(header.ljust(1024) + b"ajkg" + bytes(500))
    with pytest.raises(CorpusError, match=r"pcm,embedded-shorten-v2.00.*uncompressed SPHERE"):
        read_audio(tmp_path / "x.sph", rate=16000)


@pytest.mark.parametrize("name", ["x.wav", "x.raw", "x.flac"])
def test_what_is_no_audio_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"this is not audio at all, whatever its name may say")
    with pytest.raises(CorpusError, match=f"cannot be read as audio .*{READABLE}"):
        read_audio(tmp_path / name, rate=16000)


@pytest.mark.parametrize(
    ("name", "format", "subtype"),
    [
        ("WAV", "WAV", "PCM_16"),
        ("FLAC", "FLAC", "PCM_16"),
        ("MP3", "MP3", "MPEG_LAYER_III"),
        ("Ogg", "OGG", "VORBIS"),
        ("Opus", "OGG", "OPUS"),
        ("AIFF", "AIFF", "PCM_16"),
        ("AU", "AU", "PCM_16"),
        ("CAF", "CAF", "PCM_16"),
        ("SPHERE", "NIST", "PCM_16"),
    ],
)
def test_the_kinds_that_messages_name_can_be_read(tmp_path, name, format, subtype):
    assert name in READABLE
    soundfile.write(tmp_path / "audio", np.tile(SAMPLES, 2), 16000, format=format, subtype=subtype)
    assert len(read_audio(tmp_path / "audio", rate=16000)) == pytest.approx(2 * len(SAMPLES), rel=0.2)


def test_empty_missing_and_infinite_audio_is_refused(tmp_path):
    soundfile.write(tmp_path / "empty.wav", np.empty(0), 16000)
    soundfile.write(tmp_path / "nan.wav", np.array([0.0, np.nan]), 16000, subtype="FLOAT")
    for name, reason in (("empty.wav", "no samples"), ("nan.wav", "not finite"), ("none.wav", "No such file")):
        with pytest.raises(CorpusError, match=reason):
            read_audio(tmp_path / name, rate=16000)


@pytest.mark.parametrize("n_channels", [1, 2])
def test_infinite_sample_place_is_in_the_message(tmp_path, n_channels):
    samples = np.zeros((16000, n_channels))
    samples[12000, -1] = np.nan
    path = tmp_path / "nan.wav"
    soundfile.write(path, samples, 16000, subtype="FLOAT")
    for start in (None, 0.5):
        with pytest.raises(CorpusError, match=r"sample 12000 at 0\.750 s.* nan") as found:
            read_audio(path, rate=16000, start=start)
        assert found.value.code == "not-finite"


def test_an4_audio_is_read_at_either_rate(speech_data):
    utterance = read_data_directory(speech_data / "an4" / "audio_test").utterances[0]
    full, half = read_audio(utterance.source, rate=16000), read_audio(utterance.source, rate=8000)
    assert abs(len(full) / 2 - len(half)) <= 1 and 100 < np.abs(full).max() <= 32768
