"""HTK parameter files beside a reader and a checksum written out word by word, and under damage."""

import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from asr.corpus.htk_parameters import (
    QUALIFIERS,
    ParameterHeader,
    htk_checksum,
    read_parameters,
    write_parameters,
)
from asr.util.errors import CorpusError
from tests.fuzz.mutators.byte_mutators import spoil_bytes

FRAMES = (np.random.default_rng(3).normal(size=(23, 5)) * [1, 10, 0.1, 100, 0] + [0, 5, -1, 50, 7]).astype(np.float32)
KINDS = ("LPC", "LPREFC", "LPCEPSTRA", "LPDELCEP", "MFCC", "FBANK", "MELSPEC", "USER", "PLP")


def naive_checksum(words: list[int]) -> int:
    """One word after the other, as HTK does."""
    value = 0
    for word in words:
        value = (value * 65536 + word) % 36897
    return value


def naive_reader(data: bytes, order: str) -> np.ndarray:
    """Number by number, as the HTK Book has it."""
    n_samples, _, width, kind = struct.unpack(f"{order}iihH", data[:12])
    if not kind & 0o2000:
        n = width // 4
        return np.array(struct.unpack(f"{order}{n_samples * n}f", data[12 : 12 + n_samples * width])).reshape(-1, n)
    n = width // 2
    a, b = (struct.unpack_from(f"{order}{n}f", data, 12 + 4 * n * part) for part in range(2))
    codes = struct.unpack_from(f"{order}{(n_samples - 4) * n}h", data, 12 + 8 * n)
    return np.array([(code + b[i % n]) / a[i % n] for i, code in enumerate(codes)]).reshape(-1, n)


def stored(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "x.mfc"
    path.write_bytes(data)
    return path


def half_steps(frames: np.ndarray) -> np.ndarray:
    """How far off every column may be when compressed: half a step, and what float32 cannot tell apart."""
    columns = frames.astype(float)
    return 0.501 * np.ptp(columns, axis=0) / 65534 + 3 * np.finfo(np.float32).eps * np.abs(columns).max(axis=0) + 1e-33


headers = st.builds(
    ParameterHeader,
    kind=st.builds(
        lambda base, names: "_".join([base, *(name for name in QUALIFIERS if name in names)]),
        st.sampled_from(KINDS),
        st.sets(st.sampled_from(sorted(QUALIFIERS))),
    ),
    shift=st.integers(1, 10**6).map(lambda units: units / 1e7),
    compressed=st.booleans(),
    checked=st.booleans(),
    little_endian=st.booleans(),
)
matrices = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(-(2.0**99), 2.0**99, width=32),
)


@settings(max_examples=100, deadline=None)
@given(frames=matrices, header=headers)
def test_what_is_written_is_read_back(tmp_path_factory, frames, header):
    path = tmp_path_factory.getbasetemp() / "round.mfc"
    write_parameters(path, frames, header)
    found, found_header = read_parameters(path)
    assert found_header == header
    assert found.dtype == np.float32 and found.flags.c_contiguous and found.flags.writeable
    if header.compressed:
        assert found.shape == frames.shape and (np.abs(found.astype(float) - frames) <= half_steps(frames)).all()
    else:
        np.testing.assert_array_equal(found, frames)
    expected = naive_reader(path.read_bytes(), "<" if header.little_endian else ">")
    assert (np.abs(found - expected) <= half_steps(frames)).all()


def test_a_file_of_hcopy_is_laid_out_as_the_book_says(tmp_path):
    path = tmp_path / "x.mfc"
    write_parameters(path, np.float32([[1, 2], [3, 4]]), ParameterHeader("MFCC_E_D_A_Z", 0.01, checked=True))
    floats = struct.pack(">4f", 1, 2, 3, 4)
    checksum = naive_checksum(list(struct.unpack(">8H", floats)))
    code = 6 | 0o100 | 0o400 | 0o1000 | 0o4000 | 0o10000
    assert path.read_bytes() == struct.pack(">iihH", 2, 100_000, 8, code) + floats + struct.pack(">H", checksum)


def test_scales_of_a_compressed_file_stretch_every_column_over_all_codes(tmp_path):
    path = tmp_path / "x.mfc"
    write_parameters(path, np.float32([[-1, 7], [3, 7], [1, 7]]), ParameterHeader("FBANK", compressed=True))
    content = path.read_bytes()
    assert struct.unpack(">iihH", content[:12]) == (3 + 4, 100_000, 4, 7 | 0o2000)
    assert struct.unpack(">4f", content[12:28]) == (65534 / 4, 1, 2 * 32767 / 4, 7)
    assert struct.unpack(">6h", content[28:]) == (-32767, 0, 32767, 0, 0, 0)


@pytest.mark.parametrize("little_endian", [False, True])
def test_reflection_coefficients_are_integers_scaled_by_32767(tmp_path, little_endian):
    order = "<" if little_endian else ">"
    path = stored(tmp_path, struct.pack(f"{order}iihH6h", 2, 100_000, 6, 5, 32767, 0, -32767, 1, -1, 100))
    frames, header = read_parameters(path)
    assert header == ParameterHeader("IREFC", little_endian=little_endian)
    np.testing.assert_allclose(frames * 32767, [[32767, 0, -32767], [1, -1, 100]], rtol=1e-6)
    again = tmp_path / "again"
    write_parameters(again, frames, header)
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(CorpusError, match="from -1 to 1, not 2"):
        write_parameters(again, 2 * frames, header)


@given(st.lists(st.integers(0, 0xFFFF), max_size=50))
def test_the_checksum_is_that_of_one_word_after_the_other(words):
    assert htk_checksum(np.array(words, ">u2")) == naive_checksum(words)


def test_the_checksum_of_many_blocks_is_that_of_one_word_after_the_other():
    words = np.random.default_rng(0).integers(0, 1 << 16, 150_001).astype("<u2")
    assert htk_checksum(words) == naive_checksum(words.tolist())


def test_every_changed_byte_of_a_checked_file_is_told(tmp_path):
    path = tmp_path / "x.mfc"
    for compressed in (False, True):
        write_parameters(path, FRAMES[:3], ParameterHeader("MFCC", compressed=compressed, checked=True))
        content = path.read_bytes()
        for place in range(12, len(content)):
            changed = bytearray(content)
            changed[place] ^= 0x10
            path.write_bytes(changed)
            with pytest.raises(CorpusError, match="checksum"):
                read_parameters(path)


def test_the_order_of_qualifiers_does_not_matter_in_what_is_written(tmp_path):
    write_parameters(tmp_path / "x", FRAMES, ParameterHeader("MFCC_0_D_A"))
    assert read_parameters(tmp_path / "x")[1].kind == "MFCC_D_A_0"


def head(n: int = 1, period: int = 100_000, width: int = 4, kind: int = 6, order: str = ">") -> bytes:
    return struct.pack(f"{order}iihH", n, period, width, kind)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "has 0 bytes.* 12 bytes"),
        (head()[:-1], "has 11 bytes"),
        (head() + b"\0\0\0", "has 15 bytes.* 16 bytes"),
        (head() + b"\0\0\0\0\0", "has 17 bytes.* 16 bytes"),
        (head(order="<") + b"\0\0\0", "has 15 bytes.* 16 bytes"),
        (head(n=2**31 - 1, width=32764), "has 12 bytes.* 70360"),
        (head(n=0), "not an HTK parameter file"),
        (head(n=-1), "not an HTK parameter file"),
        (head(period=0), "not an HTK parameter file"),
        (head(width=0), "not an HTK parameter file"),
        (head(width=-4), "not an HTK parameter file"),
        (head(kind=12), "not an HTK parameter file"),
        (b"RIFF\x24\x80\0\0WAVEfmt ", "not an HTK parameter file"),
        (head(kind=0, width=2) + b"\0\0", "kind WAVEFORM, a waveform; store it as WAV"),
        (head(kind=10, width=2) + b"\0\0", "kind DISCRETE, indices of a codebook"),
        (head(width=6) + bytes(6), "6 bytes.* multiple of 4"),
        (head(width=3, kind=5) + bytes(3), "3 bytes.* multiple of 2"),
        (head(n=4, kind=6 | 0o2000) + bytes(16), "compressed.*4 in all"),
        (head(n=5, width=2, kind=6 | 0o2000) + bytes(10), "not finite"),
        (head() + struct.pack(">f", np.nan), "not finite"),
        (head() + struct.pack(">f", -np.inf), "not finite"),
        (head() + struct.pack(">f", 2e30), "values up to 2e"),
    ],
)
def test_whatever_is_no_whole_parameter_file_is_refused_with_its_reason(tmp_path, data, reason):
    with pytest.raises(CorpusError, match=reason):
        read_parameters(stored(tmp_path, data))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"none\.mfc: cannot be read \(No such file"):
        read_parameters(tmp_path / "none.mfc")


@pytest.mark.parametrize(
    ("frames", "header", "reason"),
    [
        (FRAMES, ParameterHeader("WAVEFORM"), "'WAVEFORM'"),
        (FRAMES, ParameterHeader("MFCC_X"), "'MFCC_X' cannot be written"),
        (FRAMES, ParameterHeader("MFCC_C"), "_C and _K"),
        (FRAMES, ParameterHeader("MFCC", 0.0), "a shift of 0.0 s"),
        (FRAMES, ParameterHeader("MFCC", float("nan")), "a shift of nan s"),
        (FRAMES, ParameterHeader("MFCC", 0.2), "a shift of 0.2 s"),
        (FRAMES[0], ParameterHeader("MFCC"), r"shape \(5,\)"),
        (FRAMES[:0], ParameterHeader("MFCC"), r"shape \(0, 5\)"),
        (np.zeros((1, 8192)), ParameterHeader("MFCC"), "32768 bytes"),
        (np.full((1, 1), np.nan), ParameterHeader("MFCC"), "not finite"),
        (np.full((1, 1), 1e300), ParameterHeader("MFCC"), "not finite"),
    ],
)
def test_what_no_file_can_hold_is_refused_and_nothing_is_written(tmp_path, frames, header, reason):
    with pytest.raises(CorpusError, match=reason):
        write_parameters(tmp_path / "x.mfc", frames, header)
    assert list(tmp_path.iterdir()) == []


def test_spoilt_files_give_frames_or_a_corpus_error(tmp_path):
    seeds = []
    for number in range(8):
        header = ParameterHeader("MFCC_E_D", 0.01, bool(number & 1), bool(number & 2), bool(number & 4))
        write_parameters(tmp_path / "seed", FRAMES, header)
        seeds.append((tmp_path / "seed").read_bytes())
    chance = random.Random(0)
    path = tmp_path / "spoilt"
    for _ in range(500):
        path.write_bytes(spoil_bytes(chance, chance.choice(seeds), seeds))
        try:
            frames, _ = read_parameters(path)
        except CorpusError as error:
            assert str(error).startswith(str(path))
        else:
            assert frames.ndim == 2 and frames.size and np.isfinite(frames).all()
