"""Sphinx feature files: beside the format written out, on real Resource Management cepstra, and under damage."""

import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from asr.corpus.feature_file import read_features
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.sphinx_features import read_sphinx_features, write_sphinx_features
from asr.util.errors import CorpusError
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.field_mutators import spoil_fields

FLOATS = st.floats(-(2.0**26), 2.0**26, width=32)
CEPSTRA = np.random.default_rng(3).normal(scale=5, size=(9, 13)).astype(np.float32)


def written_out(numbers: np.ndarray, order: str = ">", count: int | None = None) -> bytes:
    values = [float(number) for number in np.ravel(numbers)]
    return struct.pack(f"{order}i{len(values)}f", len(values) if count is None else count, *values)


def saved(tmp_path: Path, data: bytes, name: str = "x.mfc") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("order", [">", "<"])
def test_either_byte_order_is_found_from_count_and_size(tmp_path: Path, order: str) -> None:
    matrix = read_sphinx_features(saved(tmp_path, written_out(CEPSTRA, order)))
    assert matrix.dtype == np.float32 and matrix.dtype.isnative
    assert matrix.flags.c_contiguous and matrix.flags.writeable
    np.testing.assert_array_equal(matrix, CEPSTRA)


def test_a_count_that_reads_alike_in_both_orders_is_taken_as_big_endian(tmp_path: Path) -> None:
    count = 0x00010100
    numbers = np.arange(count, dtype=np.float32)
    path = saved(tmp_path, written_out(numbers))
    np.testing.assert_array_equal(read_sphinx_features(path, 16).ravel(), numbers)


@settings(max_examples=50)
@given(arrays(np.float32, st.tuples(st.integers(1, 40), st.integers(1, 20)), elements=FLOATS))
def test_what_is_written_is_the_format_and_is_read_back(tmp_path_factory, features: np.ndarray) -> None:
    path = tmp_path_factory.getbasetemp() / "written.mfc"
    write_sphinx_features(path, features)
    assert path.read_bytes() == written_out(features)
    np.testing.assert_array_equal(read_sphinx_features(path, features.shape[1]), features)


@pytest.mark.parametrize(
    "features",
    [CEPSTRA[0], CEPSTRA[:0], np.full((2, 13), np.nan), np.full((2, 13), 1e300), np.broadcast_to(0.0, (2**31, 1))],
)
def test_what_could_not_be_read_is_not_written_and_nothing_stays_behind(tmp_path: Path, features: np.ndarray) -> None:
    with pytest.raises(CorpusError):
        write_sphinx_features(tmp_path / "x.mfc", features)
    assert list(tmp_path.iterdir()) == []


WHOLE = written_out(CEPSTRA)


def with_one(value: float) -> bytes:
    return written_out(np.append(CEPSTRA.ravel()[:-1], value))


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (b"", "empty-file", "has 0 bytes"),
        (b"\0\0\0", "truncated", "has 3 bytes"),
        (b"\0\0\0\0", "empty-file", "no numbers"),
        (WHOLE[:-1], "truncated", "471 bytes.* 472 or .* bytes"),
        (written_out(CEPSTRA, "<")[:-52], "truncated", "420 bytes.* 117 .little-endian"),
        (WHOLE + b"\0", "unreadable", "473 bytes.* 472 or .* bytes"),
        (written_out(CEPSTRA, count=116), "unreadable", "116 numbers"),
        (written_out(CEPSTRA, count=-1), "unreadable", "count -1 numbers"),
        (written_out(CEPSTRA, count=2**31 - 1), "truncated", "count 2147483647 numbers"),
        (written_out(CEPSTRA.ravel()[:-1]), "unreadable", "116 numbers, 12 .* 13 coefficients"),
        (with_one(np.nan), "not-finite", "not finite"),
        (with_one(-np.inf), "not-finite", "not finite"),
        (with_one(1e9), "out-of-range", "1e[+]09"),
        (struct.pack(">iihh", 9, 100_000, 52, 6) + bytes(9 * 52), "unreadable", "not a Sphinx feature file"),  # HTK's
    ],
)
def test_file_that_is_not_whole_is_refused_with_its_sizes(tmp_path: Path, data: bytes, code: str, reason: str) -> None:
    path = saved(tmp_path, data)
    with pytest.raises(CorpusError, match=reason) as refused:
        read_sphinx_features(path)
    assert str(path) in str(refused.value) and refused.value.code == code


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.mfc", tmp_path):
        with pytest.raises(CorpusError, match=str(path)):
            read_sphinx_features(path)


def test_spoilt_files_are_read_as_finite_cepstra_or_refused(tmp_path: Path) -> None:
    rng, read = random.Random(0), 0
    whole = [WHOLE, written_out(CEPSTRA, "<")]
    path = tmp_path / "x.mfc"
    for number in range(1000):
        spoil = (spoil_bytes, spoil_fields)[number % 2]
        path.write_bytes(spoil(rng, whole[number // 2 % 2], whole))
        try:
            matrix = read_sphinx_features(path)
        except CorpusError as error:
            assert str(path) in str(error)
            continue
        assert matrix.shape[1] == 13 and len(matrix) and np.isfinite(matrix).all()
        read += 1
    assert read


def test_the_name_and_the_offset_tell_a_sphinx_file_from_an_archive(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_features(saved(tmp_path, WHOLE, "X.MFC")), CEPSTRA)
    write_archive(tmp_path / "a.ark", tmp_path / "a.scp", [("u", CEPSTRA)])
    kaldi = (tmp_path / "a.ark").read_bytes()
    np.testing.assert_array_equal(read_features(tmp_path / "a.ark", 2), CEPSTRA)
    np.testing.assert_array_equal(read_features(saved(tmp_path, kaldi[2:], "one.ark")), CEPSTRA)
    np.testing.assert_array_equal(read_features(saved(tmp_path, kaldi, "archive.mfc"), 2), CEPSTRA)


@pytest.mark.corpus
def test_real_cepstra_have_as_many_frames_as_their_alignments(rm1_sample: Path) -> None:
    n_frames = 0
    for split in ("train", "test"):
        places = dict(line.split() for line in (rm1_sample / split / "mfc.scp").read_text().splitlines())
        for line in (rm1_sample / split / "states.txt").read_text().splitlines():
            name, *states = line.split()
            cepstra = read_sphinx_features(rm1_sample / places[name])
            assert 0 <= len(states) - len(cepstra) <= (name in ("dmt0_2-sr179", "dmt0_2-sr579"))
            assert cepstra.shape[1] == 13 and np.abs(cepstra).max() < 100
            assert np.ptp(cepstra, axis=0).argmax() == 0  # c0 comes first, and varies most
            n_frames += len(cepstra)
    assert n_frames == 27_284 + 9_108 - 2


@pytest.mark.corpus
def test_a_real_file_written_again_is_the_same_file(rm1_sample: Path, tmp_path: Path) -> None:
    for path in sorted(rm1_sample.glob("cepstra/*/*.mfc"))[:10]:
        write_sphinx_features(tmp_path / "again.mfc", read_sphinx_features(path))
        assert (tmp_path / "again.mfc").read_bytes() == path.read_bytes()
