"""Named arrays on disk: one safetensors file, its metadata one JSON value; the same content gives the same
bytes, and content that has changed since is told by its digest.
"""

import json
import math
import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from reprlib import repr as shorter
from typing import Any, NoReturn

import numpy as np

from discriminants.util.errors import ModelFormatError
from discriminants.util.files import atomic_write

_KEY, _DIGEST_KEY = "metadata", "digest"
_HEADER_LIMIT = 64 << 20
_VALUES_LIMIT = 4_000_000  # JSON values take up to seventy bytes of memory for two of the file
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
_CODES = {dtype: code for code, dtype in _DTYPES.items()}


def save_arrays(path: Path | str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
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
        If an array or the metadata cannot be represented, or the metadata are too large to be read again.
    OSError
        If the file cannot be written; its path is named.
    """
    path = Path(path)
    plain = {name: _plain(path, name, array) for name, array in arrays.items()}
    header = _header(path, plain, metadata)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(header)
        for _, array in _in_order(plain):
            file.write(_bytes_of(array))


def _plain(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _CODES:
        raise ModelFormatError(f"{path}: array {name!r} has type {array.dtype}, which safetensors cannot hold")
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def _header(path: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> bytes:
    """The length and the JSON text before the arrays. The safetensors package would write `__metadata__` in another
    order every time.
    """
    entries: dict[str, Any] = {}
    start = 0
    for name, array in _in_order(arrays):
        stop = start + array.nbytes
        entries[name] = {"dtype": _CODES[array.dtype], "shape": list(array.shape), "data_offsets": [start, stop]}
        start = stop
    try:
        text = json.dumps(metadata, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        about = {_DIGEST_KEY: _digest(arrays, text), _KEY: text}
        whole = json.dumps({"__metadata__": about, **entries}, ensure_ascii=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path}: the metadata cannot be written as JSON: {error}") from error
    whole += b" " * (-len(whole) % 8)
    if too_much := _too_much(whole):
        raise ModelFormatError(f"{path}: the metadata cannot be written: {too_much}")
    return len(whole).to_bytes(8, "little") + whole


def _in_order(arrays: Mapping[str, np.ndarray]) -> list[tuple[str, np.ndarray]]:
    """Wide types first, as safetensors has it, so that every array is aligned to its type."""
    return sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _digest(arrays: Mapping[str, np.ndarray], text: str) -> str:
    """Of the metadata's text and every array's name, type, shape and bytes."""
    total = blake2b(text.encode(), digest_size=32)
    for name, array in sorted(arrays.items()):
        total.update(json.dumps([name, _CODES[array.dtype], list(array.shape)]).encode())
        total.update(_bytes_of(array))
    return total.hexdigest()


def _too_much(header: bytes) -> str | None:
    """Why a header is not read, if it is not: as Python's objects it would take many times its size."""
    if len(header) > _HEADER_LIMIT:
        return f"they take {len(header)} bytes, and {_HEADER_LIMIT} are the most"
    n_values = sum(header.count(character) for character in (b",", b"[", b"{"))
    return None if n_values <= _VALUES_LIMIT else f"they hold {n_values} values, and {_VALUES_LIMIT} are the most"


def load_arrays(path: Path | str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save_arrays` wrote; the header is checked against the file's size before anything is
    allocated, and the content against its digest (where it has one).

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFormatError
        If the file is truncated, is no safetensors file, disagrees with its header or its digest, or lacks our
        metadata.
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
        header, metadata, text, digest = _read_header(path, file.read(header_size))
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
            values = np.fromfile(file, dtype=dtype, count=math.prod(shape))
            try:
                arrays[name] = values.reshape(shape)
            except ValueError as error:  # of no numbers, but with sizes beyond counting
                _refuse(path, f"array {name!r} cannot have shape {shape} ({error})")
    if digest is not None and digest != _digest(arrays, text):
        _refuse(path, "its content is not what was written: the digest is another")
    return arrays, metadata


def _read_header(path: Path, content: bytes) -> tuple[dict[str, Any], dict[str, Any], str, str | None]:
    """Entries of the arrays, metadata, the text of the metadata, and the digest if there is one."""
    if too_much := _too_much(content):
        _refuse(path, f"its metadata are too large: {too_much}")
    try:
        header = json.loads(content.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        about = header.pop("__metadata__")
        text = about[_KEY]
        metadata = json.loads(text, parse_constant=_no_constant)
        if b"\\u" in content:  # such an escape may spell half a character, which no file or terminal could take
            json.dumps([header, text, metadata], ensure_ascii=False).encode("utf-8")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _refuse(path, f"its header is not that of a model ({type(error).__name__}: {error})")
    if not isinstance(metadata, dict):
        _refuse(path, "its metadata is not a JSON object")
    return header, metadata, text, about.get(_DIGEST_KEY)


def _checked_entry(path: Path, name: str, entry: Any) -> tuple[str, np.dtype, tuple[int, ...], int, int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        _refuse(path, f"the header's entry for {name!r} is malformed")
    dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    shape, offsets = entry["shape"], entry["data_offsets"]
    if dtype is None:
        _refuse(path, f"array {name!r} has the unknown type {entry['dtype']!r}")
    if not _whole_numbers(shape) or not _whole_numbers(offsets) or len(offsets) != 2 or len(shape) > 32:
        _refuse(path, f"array {name!r} has shape {shorter(shape)} and offsets {shorter(offsets)}")
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


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _refuse(path: Path, reason: str) -> NoReturn:
    raise ModelFormatError(f"{path} is damaged or no model file: {reason}")
