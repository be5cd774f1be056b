"""Audio and archives that lie about themselves: refused in a sentence, before they cost memory."""

import errno
import resource
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.corpus import opening
from asr.corpus.audio import read_audio, read_native
from asr.corpus.samples import samples_from_array
from asr.util.errors import CorpusError


def wav(path: Path, samples: np.ndarray, rate: int = 16000, subtype: str = "PCM_16") -> Path:
    soundfile.write(path, samples, rate, subtype=subtype)
    return path


def with_rate(path: Path, rate: int) -> Path:
    content = bytearray(path.read_bytes())
    content[24:28] = struct.pack("<I", rate)
    path.write_bytes(content)
    return path


def with_data_size(path: Path, size: int, behind: bytes = b"") -> Path:
    """Write another size into the header of the samples, and bytes behind them."""
    content = bytearray(path.read_bytes())
    place = content.index(b"data")
    content[place + 4 : place + 8] = size.to_bytes(4, "little")
    path.write_bytes(content + behind)
    return path


@pytest.mark.parametrize("rate", [1, 999, 1_000_000, 2**31 - 1])
def test_impossible_rate_is_refused_at_no_cost(tmp_path: Path, rate: int) -> None:
    path = with_rate(wav(tmp_path / "a.wav", np.zeros(10_000)), rate)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CorpusError, match=rf"{rate} Hz.* 1000 to 768000 Hz"):
        read_audio(path, rate=16000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_utterance_longer_than_an_hour_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "day.flac"
    with soundfile.SoundFile(path, "w", samplerate=8000, channels=1, format="FLAC") as file:
        for _ in range(70):
            file.write(np.zeros(1 << 20, np.int16))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(CorpusError, match="segments") as error:
        read_audio(path, rate=8000)
    assert error.value.code == "too-long"
    assert len(read_audio(path, rate=8000, start=9000.0, end=9001.0)) == 8000


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38, 1e10])
@pytest.mark.parametrize("channels", [1, 2])
def test_samples_that_are_no_sound_are_refused(tmp_path: Path, value: float, channels: int) -> None:
    samples = np.zeros((16000, channels))
    samples[7000] = value
    for rate in (16000, 8000):
        with pytest.raises(CorpusError, match=r"samples up to|not finite"):
            read_audio(wav(tmp_path / "a.wav", samples, subtype="FLOAT"), rate=rate)


@pytest.mark.parametrize(("samples", "subtype"), [(np.full(100, 2.0**31), "DOUBLE"), (np.arange(9000.0), "FLOAT")])
def test_read_audio_floats_that_are_integers_raises(tmp_path: Path, samples: np.ndarray, subtype: str) -> None:
    path = wav(tmp_path / "a.wav", samples, subtype=subtype)
    with pytest.raises(CorpusError, match="32768") as error:
        read_audio(path, rate=16000)
    assert error.value.code == "too-loud"


def test_read_audio_floats_beyond_full_scale_are_read(tmp_path: Path) -> None:
    signal = read_audio(wav(tmp_path / "a.wav", np.full(100, 3.0), subtype="FLOAT"), rate=16000)
    np.testing.assert_array_equal(signal, 3.0 * 32768)


@pytest.mark.parametrize("size", [0, 2, 1000, 19_998])
def test_read_audio_header_of_too_few_samples_raises(tmp_path: Path, size: int) -> None:
    path = wav(tmp_path / "a.wav", np.random.default_rng(0).normal(0, 0.1, 10_000))
    with_data_size(path, size, bytes(16))
    with pytest.raises(CorpusError, match=f" {size} bytes") as error:
        read_audio(path, rate=16000)
    assert error.value.code == "truncated"


@pytest.mark.parametrize(
    "tail", [b"\0" * 7, b"\0" * 4000, b"LIST\4\0\0\0abcd", b"TAG".ljust(128, b"x"), b"bext\2\0\0\0ab" + b"\0" * 20]
)
@pytest.mark.parametrize("n_samples", [999, 1000])
def test_read_audio_chunks_behind_the_samples_are_ignored(tmp_path: Path, tail: bytes, n_samples: int) -> None:
    path = wav(tmp_path / "a.wav", np.full(n_samples, 0.5), subtype="PCM_U8")
    path.write_bytes(path.read_bytes() + tail)
    assert len(read_audio(path, rate=16000)) == n_samples


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
def test_audio_that_breaks_off_is_not_taken_as_whole(tmp_path: Path, name: str) -> None:
    path = wav(tmp_path / name, np.random.default_rng(0).normal(0, 0.1, 30_000))
    content = path.read_bytes()
    for share in (0.3, 0.6, 0.95):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(CorpusError) as error:
            read_audio(path, rate=16000)
        assert error.value.code in ("truncated", "unreadable")


def ogg(path: Path, subtype: str) -> bytes:
    noise = np.random.default_rng(0).normal(0, 0.1, 64_000)
    soundfile.write(path, noise, 16000, format="OGG", subtype=subtype)
    return path.read_bytes()


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_ogg_that_breaks_off_is_not_taken_as_whole(tmp_path: Path, subtype: str) -> None:
    path = tmp_path / "a.ogg"
    content = ogg(path, subtype)
    assert len(read_audio(path, rate=16000)) == pytest.approx(64_000, rel=0.01)
    last_page = content.rindex(b"OggS")
    for end in (len(content) // 2, last_page + 4, last_page + 20, last_page + 30, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(CorpusError, match=r"a\.ogg: .*Ogg") as error:
            read_audio(path, rate=16000, start=0.0, end=1.0)
        assert error.value.code == "truncated"
    path.write_bytes(content[:last_page])  # as from a program that records live and does not mark the last page
    assert len(read_audio(path, rate=16000)) > 32_000


@pytest.mark.parametrize("subtype", ["VORBIS", "OPUS"])
def test_ogg_streams_behind_one_another_are_whole_if_the_last_is(tmp_path: Path, subtype: str) -> None:
    path = tmp_path / "a.ogg"
    content = ogg(path, subtype)
    path.write_bytes(content + content)
    read_audio(path, rate=16000)
    path.write_bytes(content + content[:-1])
    with pytest.raises(CorpusError, match="ends "):
        read_audio(path, rate=16000)


def test_an_ogg_file_with_a_tag_of_another_kind_behind_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.ogg"
    path.write_bytes(ogg(path, "VORBIS") + b"TAG".ljust(128, b"\0"))
    read_audio(path, rate=16000)


def test_a_recording_whose_length_a_pipe_could_not_know_is_read(tmp_path: Path) -> None:
    path = with_data_size(wav(tmp_path / "a.wav", np.full(1000, 0.5)), 0xFFFF_FFFF)
    assert len(read_audio(path, rate=16000)) == 1000


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EIO, errno.ENFILE])
def test_a_fault_of_the_machine_is_not_called_the_file_s(tmp_path: Path, number: int) -> None:
    with pytest.raises(OSError):
        opening.faulty_file(tmp_path, OSError(number, "", str(tmp_path)))


def test_running_out_of_file_descriptors_ends_the_reading(tmp_path: Path) -> None:
    path = wav(tmp_path / "a.wav", np.zeros(100))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = path.open("rb")
    with highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest.fileno() + 1, hard))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                read_audio(path, rate=16000)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("size", [0, 1000])
@pytest.mark.parametrize(
    ("kind", "mark", "offset", "order"),
    [
        ("WAV", b"data", 4, "little"),
        ("RIFX", b"data", 4, "big"),
        ("AIFF", b"SSND", 4, "big"),
        ("AU", b".snd", 8, "big"),
    ],
)
def test_header_size_smaller_than_samples_raises(kind, mark, offset, order, size, tmp_path: Path) -> None:
    path = tmp_path / "whole"
    samples = np.random.default_rng(0).integers(1000, 9000, 5000).astype(np.int16)
    form = {"format": "WAV", "endian": "BIG"} if kind == "RIFX" else {"format": kind}
    soundfile.write(path, samples, 8000, subtype="PCM_16", **form)
    assert len(read_native(path, rate=8000)[0]) == 5000
    content = path.read_bytes()
    at = content.index(mark) + offset
    path.write_bytes(content[:at] + size.to_bytes(4, order) + content[at + 4 :])
    with pytest.raises(CorpusError, match=f"{size} bytes") as raised:
        read_native(path, rate=8000)
    assert raised.value.code == "truncated"


def test_undivided_channels_of_opposite_phase_raise(tmp_path: Path) -> None:
    sine = 9000 * np.sin(np.arange(4000) / 5)
    both = np.stack([sine, -sine], axis=1)
    soundfile.write(tmp_path / "a.wav", both, 8000, subtype="FLOAT")
    with pytest.raises(CorpusError, match=r"9000|8999"):
        read_native(tmp_path / "a.wav", rate=8000)
    with pytest.raises(CorpusError, match=r"9000|8999"):
        samples_from_array(both, 8000, rate=8000)
