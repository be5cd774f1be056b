"""Named arrays on disk: one safetensors file with one JSON value as metadata.

Equal content gives equal bytes, and a checksum detects changed content.
"""

import json
import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from discriminants.util.errors import MissingModelError, ModelFormatError
from discriminants.util.files import atomic_write

_KEY = "model"
"""The only key of safetensors' metadata, because the package writes several keys in varying order. Its text is the
checksum, a line break, and the metadata as JSON.
"""
_HEADER_LIMIT = 64 << 20
_VALUES_LIMIT = 4_000_000  # two bytes of JSON take up to 70 bytes of memory
_DTYPES = frozenset(map(np.dtype, ("?", "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8")))


def save_arrays(path: Path | str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write arrays and metadata atomically to one safetensors file; equal content gives equal bytes.

    Parameters
    ----------
    path : path
        File to write.
    arrays : dict of str to ndarray
        Boolean, integer (8 to 64 bits) or float (16 to 64 bits) arrays of any shape.
    metadata : dict
        JSON values, stored as one sorted JSON string. NaN and infinities are refused.

    Raises
    ------
    ModelFormatError
        If an array or the metadata cannot be represented, or the metadata are too large to be loaded.
    OSError
        If the file cannot be written; the message contains its path.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import save_arrays
    >>> save_arrays("numbers.safetensors", {"a": np.arange(3)}, {"source": "an example"})
    """
    path = Path(path)
    plain = {name: _plain(path, name, array) for name, array in arrays.items()}
    try:
        text = json.dumps(metadata, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = save(plain, {_KEY: f"{_digest(plain, text)}\n{text}"})
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path}: the metadata cannot be written as JSON: {error}") from error
    if too_much := _too_much(content[8 : 8 + _header_size(content)]):
        raise ModelFormatError(f"{path}: the metadata are too large: {too_much}")
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def _plain(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _DTYPES:
        raise ModelFormatError(
            f"{path}: array {name!r} has type {array.dtype}. Expected bool, integers or floats of 16 to 64 bits"
        )
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def _header_size(content: bytes) -> int:
    return int.from_bytes(content[:8], "little")


def _digest(arrays: Mapping[str, np.ndarray], text: str) -> str:
    """Compute the checksum of the metadata's text and every array's name, type, shape and bytes."""
    total = blake2b(text.encode(), digest_size=32)
    for name, array in sorted(arrays.items()):
        total.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _too_much(header: bytes) -> str | None:
    """Return the reason to refuse a header that would take too much memory as Python objects, or None."""
    if len(header) > _HEADER_LIMIT:
        return f"{len(header)} bytes. Expected at most {_HEADER_LIMIT}"
    n_values = sum(header.count(character) for character in (b",", b"[", b"{"))
    return None if n_values <= _VALUES_LIMIT else f"{n_values} values. Expected at most {_VALUES_LIMIT}"


def load_arrays(path: Path | str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a file written by `save_arrays`.

    The header is checked against limits and the file's size before any allocation. The content is checked against its
    checksum.

    Parameters
    ----------
    path : path
        File to read.

    Returns
    -------
    (dict of str to ndarray, dict)
        Arrays and metadata, as given to `save_arrays`.

    Raises
    ------
    MissingModelError
        If the file does not exist; also a FileNotFoundError.
    ModelFormatError
        If the file is truncated, is not a safetensors file, does not match its header or checksum, or lacks the
        metadata of `save_arrays`.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import load_arrays, save_arrays
    >>> save_arrays("numbers.safetensors", {"a": np.arange(3)}, {"source": "an example"})
    >>> load_arrays("numbers.safetensors")
    ({'a': array([0, 1, 2])}, {'source': 'an example'})
    """
    path = Path(path)
    _check_header(path)
    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        _refuse(path, f"the file is incomplete, or not in the safetensors format ({error})")
    if set(about) != {_KEY}:
        _refuse(
            path,
            f"metadata keys {sorted(about)[:5]}. Expected {_KEY!r}. Save files of earlier versions again",
        )
    digest, _, text = about[_KEY].partition("\n")
    try:
        metadata = json.loads(text, parse_constant=_no_constant)
        if "\\u" in text:  # the escape may be a lone surrogate, which cannot be encoded
            json.dumps(metadata, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        _refuse(path, f"metadata are not valid JSON ({type(error).__name__}: {error})")
    if not isinstance(metadata, dict):
        _refuse(path, "metadata are not a JSON object")
    if digest != _digest(arrays, text):
        _refuse(path, "wrong checksum, so the content has changed since it was written")
    return arrays, metadata


def _check_header(path: Path) -> None:
    """Refuse a header that is longer than the file or would take too much memory."""
    try:
        opened = path.open("rb")
    except FileNotFoundError as error:
        raise MissingModelError(f"{path} does not exist. Expected a file written by save_arrays") from error
    except IsADirectoryError as error:
        raise ModelFormatError(f"{path} is a directory. Expected a file written by save_arrays") from error
    with opened as file:
        size, header_size = os.fstat(file.fileno()).st_size, _header_size(file.read(8))
        if size < 8 or not 2 <= header_size <= min(size - 8, _HEADER_LIMIT):
            _refuse(path, f"header of {header_size} bytes in a file of {size} bytes")
        if too_much := _too_much(file.read(header_size)):
            _refuse(path, f"metadata are too large: {too_much}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse(path: Path, reason: str) -> NoReturn:
    raise ModelFormatError(f"{path} is damaged or not a model file: {reason}")
