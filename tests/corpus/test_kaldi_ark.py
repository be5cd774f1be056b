"""The archive reader beside encoders written out from Kaldi's compressed-matrix.cc, and under damage."""

import pickle
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.corpus.data_directory import read_data_directory
from asr.corpus.kaldi_ark import read_matrix, write_archive
from asr.util.errors import CorpusError

MATRIX = (np.random.default_rng(7).normal(size=(23, 5)) * [1, 10, 0.1, 100, 3] + [0, 5, -1, 50, 0]).astype(np.float32)


def plain(matrix: np.ndarray, token: bytes, dtype: str) -> bytes:
    header = b"\x04" + struct.pack("<i", matrix.shape[0]) + b"\x04" + struct.pack("<i", matrix.shape[1])
    return b"\0B" + token + b" " + header + matrix.astype(dtype).tobytes()


def global_header(matrix: np.ndarray) -> bytes:
    return struct.pack("<ffii", matrix.min(), matrix.max() - matrix.min(), *matrix.shape)


def encode_uniform(matrix: np.ndarray, token: bytes, dtype: str, levels: int) -> bytes:
    codes = np.floor((matrix - matrix.min()) / np.ptp(matrix) * levels + 0.499)
    return b"\0B" + token + b" " + global_header(matrix) + codes.astype(dtype).tobytes()


def encode_by_column(matrix: np.ndarray) -> tuple[bytes, np.ndarray]:
    """The bytes of a CM matrix, and what Kaldi's Uint16ToFloat and CharToFloat make of them."""
    low, spread = float(matrix.min()), float(np.ptp(matrix))
    headers, bodies, decoded = b"", b"", np.empty_like(matrix)
    for j, column in enumerate(matrix.T):
        ranked, n = np.sort(column), len(column)
        points = [
            int((value - low) / spread * 65535 + 0.499)
            for value in (ranked[0], ranked[n // 4], ranked[3 * (n // 4)], ranked[-1])
        ]
        points[1] = min(max(points[1], points[0] + 1), 65533)
        points[2] = min(max(points[2], points[1] + 1), 65534)
        points[3] = max(points[3], points[2] + 1)
        headers += struct.pack("<HHHH", *points)
        p0, p25, p75, p100 = (low + spread * 1.52590218966964e-05 * point for point in points)
        for i, value in enumerate(column):
            if value < p25:
                code = min(max(int((value - p0) / (p25 - p0) * 64 + 0.5), 0), 64)
            elif value < p75:
                code = min(max(64 + int((value - p25) / (p75 - p25) * 128 + 0.5), 64), 192)
            else:
                code = min(max(192 + int((value - p75) / (p100 - p75) * 63 + 0.5), 192), 255)
            bodies += bytes([code])
            if code <= 64:
                decoded[i, j] = p0 + (p25 - p0) * code * (1 / 64)
            elif code <= 192:
                decoded[i, j] = p25 + (p75 - p25) * (code - 64) * (1 / 128)
            else:
                decoded[i, j] = p75 + (p100 - p75) * (code - 192) * (1 / 63)
    return b"\0BCM " + global_header(matrix) + headers + bodies, decoded


def stored(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "x.ark"
    path.write_bytes(data)
    return path


def test_float_and_double_matrices_are_read_at_their_offset(tmp_path):
    first, second = b"utt1 " + plain(MATRIX, b"FM", "<f4"), b"utt2 " + plain(MATRIX, b"DM", "<f8")
    path = stored(tmp_path, first + second)
    for offset in (5, len(first) + 5):
        matrix = read_matrix(path, offset)
        assert matrix.dtype == np.float32 and matrix.flags.c_contiguous and matrix.flags.writeable
        np.testing.assert_array_equal(matrix, MATRIX)


@pytest.mark.parametrize(("token", "dtype", "levels"), [(b"CM2", "<u2", 65535), (b"CM3", "u1", 255)])
def test_uniformly_compressed_matrices_are_within_half_a_step(tmp_path, token, dtype, levels):
    matrix = read_matrix(stored(tmp_path, encode_uniform(MATRIX, token, dtype, levels)))
    assert np.abs(matrix - MATRIX).max() <= 0.502 * np.ptp(MATRIX) / levels
    assert matrix.dtype == np.float32


def test_matrices_compressed_by_column_decode_as_in_kaldi(tmp_path):
    data, decoded = encode_by_column(MATRIX)
    matrix = read_matrix(stored(tmp_path, data))
    np.testing.assert_allclose(matrix, decoded, rtol=1e-5, atol=1e-5)
    half_a_code, a_point = np.ptp(MATRIX, axis=0) / 126, np.ptp(MATRIX) / 65535
    assert (np.abs(matrix - MATRIX).max(axis=0) <= 1.01 * half_a_code + 2 * a_point).all()


def test_what_is_written_is_read_back_through_the_index(tmp_path):
    data = tmp_path / "train"
    items = [("b", MATRIX), ("a", MATRIX[:3])]
    write_archive(data / "feats.ark", data / "feats.scp", items)
    (data / "utt2spk").write_text("a s\nb s\n")
    assert "b train/feats.ark:2\n" in (data / "feats.scp").read_text()
    corpus = read_data_directory(data)
    assert [u.id for u in corpus.utterances] == ["a", "b"] and not corpus.problems
    for utterance in corpus.utterances:
        np.testing.assert_array_equal(read_matrix(utterance.source, utterance.offset), dict(items)[utterance.id])


@pytest.mark.parametrize(
    "items", [[("a b", MATRIX)], [("a", MATRIX), ("a", MATRIX)], [("a", MATRIX[0])], [("a", MATRIX[:0])]]
)
def test_unusable_items_are_not_written_and_nothing_stays_behind(tmp_path, items):
    with pytest.raises(CorpusError):
        write_archive(tmp_path / "x.ark", tmp_path / "x.scp", items)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"utt1  [\n 1 2\n 3 4 ]\n", "Text archives"),
        (pickle.dumps(MATRIX), "pickles"),
        (b"\0BPKL " + pickle.dumps(1), "pickled object"),
        (b"\0BFV \x04\x02\0\0\0", "float vector"),
        (b"\0BXY \x04", "unknown type"),
        (plain(MATRIX, b"FM", "<f4")[:-1], "truncated"),
        (b"\0BFM \x04\xff\xff\xff\x7f\x04\xff\xff\xff\x7f", "truncated"),
        (b"\0BCM " + struct.pack("<ffii", 0, 1, 2**31 - 1, 2**31 - 1), "truncated"),
        (b"\0BFM " + struct.pack("<bibi", 4, 0, 4, 0), "0 rows"),
        (b"\0BFM " + struct.pack("<bibi", 4, -1, 4, -1), "-1 rows"),
        (b"\0BFM " + struct.pack("<bibi", 8, 1, 4, 1), "damaged"),
        (b"\0BFM", "ends within"),
        (plain(np.array([[np.nan]]), b"FM", "<f4"), "not finite"),
        (plain(np.array([[1e300]]), b"DM", "<f8"), "not finite"),
    ],
)
def test_whatever_is_not_a_whole_matrix_is_refused_with_its_reason(tmp_path, data, reason):
    with pytest.raises(CorpusError, match=reason):
        read_matrix(stored(tmp_path, data))


def test_a_missing_archive_and_an_offset_past_its_end_are_named(tmp_path):
    with pytest.raises(CorpusError, match="No such file"):
        read_matrix(tmp_path / "none.ark")
    with pytest.raises(CorpusError, match="offset 3 lies outside"):
        read_matrix(stored(tmp_path, b"abc"), 3)


STARTS = [b"", b"\0B", b"\0BFM \x04", b"\0BDM \x04", b"\0BCM ", b"\0BCM2 ", b"\0BCM3 "]


@settings(max_examples=300, deadline=None)
@given(start=st.sampled_from(STARTS), rest=st.binary(max_size=60), offset=st.integers(-2, 70))
def test_random_bytes_give_a_matrix_or_a_corpus_error(tmp_path_factory, start, rest, offset):
    path = tmp_path_factory.getbasetemp() / "random.ark"
    path.write_bytes(start + rest)
    for place in (0, offset):
        try:
            matrix = read_matrix(path, place)
        except CorpusError:
            continue
        assert matrix.ndim == 2 and matrix.size and np.isfinite(matrix).all()


@settings(max_examples=200, deadline=None)
@given(position=st.integers(0, 10_000), value=st.integers(0, 255), kind=st.integers(0, 4))
def test_one_damaged_byte_gives_a_matrix_or_a_corpus_error(tmp_path_factory, position, value, kind):
    whole = [
        plain(MATRIX, b"FM", "<f4"),
        plain(MATRIX, b"DM", "<f8"),
        encode_uniform(MATRIX, b"CM2", "<u2", 65535),
        encode_uniform(MATRIX, b"CM3", "u1", 255),
        encode_by_column(MATRIX)[0],
    ][kind]
    data = bytearray(whole)
    data[position % min(len(data), 64)] = value
    path = tmp_path_factory.getbasetemp() / "damaged.ark"
    path.write_bytes(data)
    with suppress(CorpusError):
        read_matrix(path)


def test_an4_features_are_read_as_kaldi_wrote_them(speech_data):
    corpus = read_data_directory(speech_data / "an4" / "test")
    assert len(corpus) == 130 and not corpus.problems and len(corpus.speakers) == 10
    matrices = [read_matrix(u.source, u.offset) for u in corpus.utterances]
    assert {matrix.shape[1] for matrix in matrices} == {13}
    assert 0.09 < sum(map(len, matrices)) / 360_000 < 0.11  # hours, as in the description of the corpus
