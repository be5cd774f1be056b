"""Matrices of many utterances in one place: Kaldi archives, their indices, and NumPy files."""

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError

import numpy as np

from asr.corpus.kaldi_ark import read_archive, read_matrix
from asr.corpus.list_file import parse_matrix_place, read_list
from asr.corpus.opening import open_for_reading
from asr.corpus.places import Places
from asr.util.errors import CorpusError, Issue
from discriminants.util.paths import is_dir

_PACKING = 50  # maximum compression ratio
_UNREADABLE = (
    ValueError, KeyError, TypeError, EOFError, OverflowError, RecursionError, SyntaxError, TokenError, RuntimeError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


def read_matrices(path: Path) -> dict[str, np.ndarray]:
    """Return the matrices of a Kaldi archive or its index (.scp), of an .npz file, or of the .npy files of a folder.

    Paths in an index start at the working directory, the folder of the index, or the one above. Raises CorpusError for
    other files, and for damaged ones.
    """
    if is_dir(path):
        return {file.stem: _array(file.name, file.read_bytes(), path) for file in sorted(path.glob("*.npy"))}
    if path.suffix == ".scp":
        return dict(_indexed(path))
    if path.suffix != ".npz":
        return dict(read_archive(path))
    with open_for_reading(path) as file:
        content = file.read()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _PACKING * len(content):
                raise CorpusError(f"{path}: the arrays are more than {_PACKING} times as large as the file.")
            members = [(member.filename, archive.read(member)) for member in archive.infolist()]
    except _UNREADABLE as error:
        raise CorpusError(f"{path}: not an .npz file ({error}).") from error
    return {name.removesuffix(".npy"): _array(name, content, path) for name, content in members}


def _indexed(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    places = Places(path.parent, Path.cwd())
    for name, entry in read_list(path).items():
        found = parse_matrix_place(path, name, entry)
        assert found is not None  # without `issues`, faults are raised
        file = places.find(found[0])
        if isinstance(file, Issue):
            raise CorpusError(f"{path}, line {entry.line}: {file.message}.", code=file.code)
        yield name, read_matrix(file, found[1], check_values=False)


def _array(name: str, content: bytes, path: Path) -> np.ndarray:
    """Return the numbers of an .npy file; memory is allocated only for values that are there."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_column, dtype = header(stream)
        if dtype.kind not in "fiu":
            raise ValueError(f"values of type {dtype}")
        values = np.frombuffer(content, dtype, math.prod(shape), stream.tell())
        return values.reshape(shape, order="F" if by_column else "C")
    except _UNREADABLE as error:
        raise CorpusError(f"{path}: {name} is not a NumPy file of numbers ({error}).") from error
