r"""Kaldi archives: float, double and compressed matrices, read without executing or unpickling anything.

Formats: Kaldi's matrix/kaldi-matrix.cc and matrix/compressed-matrix.{h,cc}. A matrix is `\0B`, a token for its type, a
header with its size, and its values, little-endian. Sizes are checked against the file before memory is allocated.
"""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from asr.corpus.feature_values import check_feature_values
from asr.corpus.opening import open_for_reading
from asr.corpus.writing import listed_path
from asr.util.errors import CorpusError
from asr.util.files import atomic_write

_PLAIN: dict[bytes, np.dtype[Any]] = {b"FM": np.dtype("<f4"), b"DM": np.dtype("<f8")}
_UNIFORM: dict[bytes, np.dtype[Any]] = {b"CM2": np.dtype("<u2"), b"CM3": np.dtype("u1")}
_LONGEST_KEY = 1000
_REFUSED = {
    b"PKL": "a pickled object, which could run any code when read",
    b"FV": "a float vector",
    b"DV": "a double vector",
    b"SM": "a sparse matrix",
    b"NPY": "a NumPy file inside an archive",
    b"AUDIO": "audio inside an archive",
}


def read_matrix(path: Path | str, offset: int = 0, *, check_values: bool = True) -> np.ndarray:
    """Read the matrix at byte `offset` of `path`: float32 (n_rows, n_columns), C-contiguous.

    Raises CorpusError for anything but a binary Kaldi matrix (text archives, pickles and vectors are identified), for
    empty or truncated matrices, and with `check_values` for values that are not finite in float32 or exceed 1e8.
    """
    path = Path(path)
    with open_for_reading(path) as file:
        size = file.seek(0, 2)
        if not 0 <= offset < size:
            raise CorpusError(f"{path}: offset {offset} lies outside the file of {size} bytes.", code="truncated")
        file.seek(offset)
        matrix = _Reader(file, f"{path}:{offset}", size).matrix()
    if check_values:
        check_feature_values(matrix, f"{path}:{offset}")
    return matrix


def read_archive(path: Path | str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the keys and matrices of a binary archive, with any values.

    Raises CorpusError as `read_matrix` does without `check_values`, and for repeated keys.
    """
    path, seen = Path(path), set[str]()
    with open_for_reading(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        while (place := file.tell()) < size:
            start, blank, _ = file.read(_LONGEST_KEY).partition(b" ")
            key = start.decode(errors="replace")
            if not blank or key.split() != [key] or "\ufffd" in key or key in seen:
                raise CorpusError(f"{path}:{place}: no new utterance begins here. Expected a binary Kaldi archive.")
            seen.add(key)
            file.seek(place + len(start) + 1)
            yield key, _Reader(file, f"{path}:{file.tell()}", size).matrix()


def write_archive(ark_path: Path | str, scp_path: Path | str, items: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write matrices (n_rows, n_columns) as a binary float archive and its index, each atomically.

    If possible, the index has paths relative to the directory above its own, as in data directories. Raises CorpusError
    for a key with white space, a repeated key, and an array that is not a matrix.
    """
    ark_path, scp_path = Path(ark_path), Path(scp_path)
    name = listed_path(ark_path, scp_path.resolve().parent.parent)
    offsets: dict[str, int] = {}
    with atomic_write(ark_path) as temporary, temporary.open("wb") as file:
        for key, matrix in items:
            if key.split() != [key] or key in offsets:
                raise CorpusError(f"{ark_path}: key '{key}' must be one word and occur once.")
            values = np.ascontiguousarray(matrix, dtype="<f4")
            if values.ndim != 2 or not values.size:
                raise CorpusError(
                    f"{ark_path}: '{key}' has shape {values.shape}. Expected a matrix with rows and columns."
                )
            file.write(key.encode() + b" ")
            offsets[key] = file.tell()
            file.write(b"\0BFM " + struct.pack("<bibi", 4, values.shape[0], 4, values.shape[1]))
            file.write(values.tobytes())
        file.flush()
    with atomic_write(scp_path) as temporary:
        temporary.write_text("".join(f"{key} {name}:{offset}\n" for key, offset in offsets.items()), encoding="utf-8")


class _Reader:
    """Reader of one matrix at the file's position; `place` is used in messages, `size` is the file size."""

    def __init__(self, file: BinaryIO, place: str, size: int):
        self.file, self.place, self.size = file, place, size

    def matrix(self) -> np.ndarray:
        mark = self.file.read(2)
        if mark != b"\0B":
            raise CorpusError(
                f"{self.place}: no binary Kaldi matrix begins here (found {mark!r}, not '\\0B'). Text "
                "archives and pickles are not supported; write the features as a binary archive."
            )
        token = self._token()
        if token in _PLAIN:
            return self._plain(_PLAIN[token])
        if token == b"CM":
            return self._by_column()
        if token in _UNIFORM:
            return self._uniform(_UNIFORM[token])
        what = _REFUSED.get(token, f"of unknown type {token!r}")
        raise CorpusError(f"{self.place}: the entry is {what}. Expected a matrix (FM, DM, CM, CM2 or CM3).")

    def _token(self) -> bytes:
        ahead = self.file.read(6)
        token = ahead.partition(b" ")[0]
        self.file.seek(min(len(token) + 1 - len(ahead), 0), 1)
        return token

    def _plain(self, dtype: np.dtype) -> np.ndarray:
        mark_rows, n_rows, mark_columns, n_columns = struct.unpack("<bibi", self._bytes(10))
        if mark_rows != 4 or mark_columns != 4:
            raise CorpusError(
                f"{self.place}: the matrix header is damaged (sizes of {mark_rows} and {mark_columns} bytes, not 4)."
            )
        values = self._values(dtype, n_rows, n_columns)
        with np.errstate(over="ignore"):
            return values.reshape(n_rows, n_columns).astype(np.float32)

    def _uniform(self, dtype: np.dtype) -> np.ndarray:
        """CM2 and CM3: min + range * code / largest code, row by row."""
        minimum, spread, n_rows, n_columns = struct.unpack("<ffii", self._bytes(16))
        codes = self._values(dtype, n_rows, n_columns).reshape(n_rows, n_columns)
        with np.errstate(over="ignore", invalid="ignore"):
            return codes.astype(np.float32) * np.float32(spread / np.iinfo(dtype).max) + np.float32(minimum)

    def _by_column(self) -> np.ndarray:
        """CM: a column has its 0, 25, 75, 100 % points (codes 0, 64, 192, 255), linear between."""
        minimum, spread, n_rows, n_columns = struct.unpack("<ffii", self._bytes(16))
        self._check_size(n_rows, n_columns, n_columns * 8 + n_rows * n_columns)
        points = np.frombuffer(self._bytes(n_columns * 8), "<u2").reshape(n_columns, 4).astype(np.float32)
        codes = np.frombuffer(self._bytes(n_rows * n_columns), "u1").reshape(n_columns, n_rows).astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            p0, p25, p75, p100 = (points * np.float32(spread / 65535) + np.float32(minimum)).T[:, :, None]
            low = p0 + (p25 - p0) * codes * np.float32(1 / 64)
            middle = p25 + (p75 - p25) * (codes - 64) * np.float32(1 / 128)
            high = p75 + (p100 - p75) * (codes - 192) * np.float32(1 / 63)
        return np.ascontiguousarray(np.where(codes <= 64, low, np.where(codes <= 192, middle, high)).T)

    def _values(self, dtype: np.dtype, n_rows: int, n_columns: int) -> np.ndarray:
        length = n_rows * n_columns * dtype.itemsize
        self._check_size(n_rows, n_columns, length)
        return np.frombuffer(self._bytes(length), dtype)

    def _check_size(self, n_rows: int, n_columns: int, length: int) -> None:
        if n_rows < 1 or n_columns < 1:
            raise CorpusError(
                f"{self.place}: the matrix has {n_rows} rows and {n_columns} columns. Expected at least one of both."
            )
        left = self.size - self.file.tell()
        if length > left:
            raise CorpusError(
                f"{self.place}: a matrix of {n_rows} x {n_columns} needs {length} bytes, but only {left} "
                "are left; the file is truncated or not an archive.",
                code="truncated",
            )

    def _bytes(self, length: int) -> bytes:
        data = self.file.read(length)
        if len(data) != length:
            raise CorpusError(
                f"{self.place}: the file ends within the matrix ({length - len(data)} bytes are missing).",
                code="truncated",
            )
        return data
