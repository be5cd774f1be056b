"""Named arrays on disk: one safetensors file, its metadata one JSON value; the same content gives the same
bytes.
"""

import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors.numpy import save

from discriminants.errors import ModelFormatError
from discriminants.files import atomic_write

_KEY = "metadata"
_HEADER_LIMIT = 64 << 20
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}


def save_arrays(path: Path | str, arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> None:
    """Write arrays and metadata to one safetensors file, whole or not at all; equal content gives equal
    bytes.

    Parameters
    ----------
    path : path
    arrays : dict of str to ndarray
        Boolean, integer (8 to 64 bits) or float (16 to 64 bits) arrays of any shape.
    metadata : dict
        What JSON can hold; stored as one sorted JSON string, NaN and infinities refused.

    Raises
    ------
    ModelFormatError
        If an array or the metadata cannot be represented.
    """
    path = Path(path)
    try:
        text = json.dumps(metadata, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{path}: the metadata cannot be written as JSON: {error}") from error
    plain = {}
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.newbyteorder("=") not in _DTYPES.values():
            raise ModelFormatError(f"{path}: array {name!r} has type {array.dtype}, which safetensors cannot hold")
        plain[name] = np.ascontiguousarray(array).reshape(array.shape)
    content = save(plain, {_KEY: text})
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def load_arrays(path: Path | str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save_arrays` wrote; the header is checked against the file's size before anything is
    allocated.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFormatError
        If the file is truncated, is no safetensors file, disagrees with its header, or lacks our metadata.
    """
    path = Path(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        header_size = int.from_bytes(file.read(8), "little")
        if size < 8 or not 2 <= header_size <= min(size - 8, _HEADER_LIMIT):
            _refuse(
                path,
                f"its first eight bytes promise a header of {header_size} bytes in a file of {size} bytes",
            )
        try:
            header = json.loads(file.read(header_size).decode("utf-8"), object_pairs_hook=_no_duplicates)
            metadata = json.loads(header.pop("__metadata__")[_KEY])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            _refuse(path, f"its header is not that of a model ({type(error).__name__}: {error})")
        if not isinstance(metadata, dict):
            _refuse(path, "its metadata is not a JSON object")
        entries = [_checked_entry(path, name, entry) for name, entry in header.items()]
        data = 8 + header_size
        end = 0
        for name, _, _, start, stop in sorted(entries, key=lambda entry: entry[3:]):
            if start != end:
                _refuse(
                    path,
                    f"array {name!r} starts at byte {start} of the data, the one before ends at {end}",
                )
            end = stop
        if data + end != size:
            _refuse(path, f"its header describes {data + end} bytes, the file has {size}")
        arrays = {}
        for name, dtype, shape, start, _ in entries:
            file.seek(data + start)
            arrays[name] = np.fromfile(file, dtype=dtype, count=math.prod(shape)).reshape(shape)
    return arrays, metadata


def _checked_entry(path: Path, name: str, entry: Any) -> tuple[str, np.dtype, tuple[int, ...], int, int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        _refuse(path, f"the header's entry for {name!r} is malformed")
    dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    shape, offsets = entry["shape"], entry["data_offsets"]
    if dtype is None:
        _refuse(path, f"array {name!r} has the unknown type {entry['dtype']!r}")
    if not _whole_numbers(shape) or not _whole_numbers(offsets) or len(offsets) != 2 or len(shape) > 32:
        _refuse(path, f"array {name!r} has shape {shape!r} and offsets {offsets!r}")
    start, stop = offsets
    needed = math.prod(shape) * dtype.itemsize
    if stop - start != needed:
        _refuse(path, f"array {name!r} of shape {shape} needs {needed} bytes, its offsets give {stop - start}")
    return name, dtype, tuple(shape), start, stop


def _whole_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in value)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name occurs twice")
    return result


def _refuse(path: Path, reason: str) -> NoReturn:
    raise ModelFormatError(f"{path} is damaged or no model file: {reason}")
