"""Arrays of an .npz file, read with a limit on memory."""

import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from asr.util.errors import CorpusError
from discriminants.util.paths import is_file

MAX_ARRAY = 1 << 27
"""Limit in bytes; the largest benchmark set takes a fifth of it."""
MAX_VALUE = 1e100
"""Limit of absolute values, so that squares and their sums cannot overflow."""

# Errors that a damaged archive or a manipulated header can raise.
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, SyntaxError, ValueError, EOFError, OSError,
    OverflowError, NotImplementedError, RuntimeError,
)  # fmt: skip


def read_arrays(path: Path, names: tuple[str, ...]) -> list[np.ndarray]:
    """Read arrays of an .npz file by name.

    Raises
    ------
    CorpusError
        If the file is missing, is not an .npz file or lacks an array, if an array is larger than `MAX_ARRAY`, or if a
        value is not finite or exceeds `MAX_VALUE`.
    """
    if not is_file(path):
        raise CorpusError(f"{path} does not exist. Expected the folder of the benchmark data sets as --data-dir")
    try:
        with zipfile.ZipFile(path) as archive:
            present = set(archive.namelist())
            missing = [name for name in names if f"{name}.npy" not in present]
            if missing:
                raise CorpusError(f"{path}: array {missing[0]!r} is missing. Expected {', '.join(names)}")
            arrays = [_array(archive, f"{name}.npy") for name in names]
    except _DAMAGED as error:
        raise CorpusError(f"{path} is not a complete .npz file of plain arrays ({error})") from error
    for name, array in zip(names, arrays, strict=True):
        if array.dtype.kind not in "iuf" or not (np.abs(array.astype(np.float64)) <= MAX_VALUE).all():
            raise CorpusError(f"{path}: array {name!r} has values that are not finite numbers")
    return arrays


def _array(archive: zipfile.ZipFile, member: str) -> np.ndarray:
    """Read one array; its header is checked against the size of the archive member."""
    with archive.open(member) as file:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{member} has version {version}")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran_order, dtype = read_header(file)
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or min(shape, default=0) < 0:
            raise ValueError(f"{member} has {dtype} of shape {shape}")
        if n_bytes > MAX_ARRAY:
            raise ValueError(f"{member} has {n_bytes} bytes. Expected at most {MAX_ARRAY}")
        content = file.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise ValueError(f"{member} does not have the {n_bytes} bytes of its header")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran_order else "C")
