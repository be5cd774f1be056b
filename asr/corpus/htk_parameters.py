"""HTK parameter files: the features that HCopy writes (HTK Book 3.4, section 5.10).

A header of 12 bytes: number of samples (int32), frame shift in 100 ns (int32), bytes per frame (int16) and kind (int16:
a basic kind and a bit for each qualifier). Then the frames, as float32. In compressed files (`_C`) they are int16,
preceded by two float32 vectors A and B, counted as four samples: x = (code + B) / A. IREFC is int16 too, scaled by
32767, without vectors. Checked files (`_K`) end with a 16-bit checksum. All values are big-endian, unless HTK was
configured otherwise (NATURALWRITEORDER).
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from asr.corpus.opening import open_for_reading
from asr.util.errors import CorpusError
from asr.util.files import atomic_write

KINDS = {
    "WAVEFORM": 0, "LPC": 1, "LPREFC": 2, "LPCEPSTRA": 3, "LPDELCEP": 4, "IREFC": 5, "MFCC": 6, "FBANK": 7,
    "MELSPEC": 8, "USER": 9, "DISCRETE": 10, "PLP": 11,
}  # fmt: skip
QUALIFIERS = {
    "E": 0o100, "D": 0o400, "N": 0o200, "A": 0o1000, "T": 0o100000, "Z": 0o4000, "0": 0o20000, "V": 0o40000,
}  # fmt: skip
"""Qualifiers of a frame's content, in HTK's order."""
MAX_VALUE = 1e30
_COMPRESSED, _CHECKED = 0o2000, 0o10000
_NO_FRAMES = {"WAVEFORM": "a waveform; store it as WAV", "DISCRETE": "indices of a codebook"}
_NAMES = {code: name for name, code in KINDS.items()}
_BASE = 0o77
_HEADER_BYTES = 12
_MAX_SHIFT_LENGTH = 1_000_000  # 0.1 s; HTK refuses headers with more
_MAX_BYTES = 0x7FFF
_MAX_CODE = 32767
_VECTORS = 4  # int16 samples for A and B
_MODULUS = 36897
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class ParameterHeader:
    """Header of a parameter file."""

    kind: str  # basic kind and qualifiers such as "MFCC_E_D_A", without `_C` and `_K`
    shift: float = 0.01  # seconds between frames, a multiple of 100 ns
    # `compressed`, `checked`: whether the file is `_C`, and `_K`
    compressed: bool = False
    checked: bool = False
    little_endian: bool = False


def read_parameters(path: Path | str) -> tuple[np.ndarray, ParameterHeader]:
    """Read the frames of a parameter file, float32 (n_frames, n_features), C-contiguous, and its header.

    The byte order is the one for which the header is valid and matches the size of the file.

    Raises
    ------
    CorpusError
        If the file is unreadable or not a parameter file, is a waveform or discrete, has a wrong size or checksum, or
        has values that are not finite or exceed 1e30.
    """
    path = Path(path)
    with open_for_reading(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        header, n_samples, width = _read_header(path, file.read(_HEADER_BYTES), size)
        body = file.read(size - _HEADER_BYTES)
    if len(body) != size - _HEADER_BYTES:
        raise CorpusError(f"{path}: was truncated while it was read.", code="truncated")
    order = _order(header)
    if header.checked:
        words = np.frombuffer(body, f"{order}u2")
        found, expected = htk_checksum(words[:-1]), int(words[-1])
        if found != expected:
            raise CorpusError(
                f"{path}: the checksum is {found}, but the file ends with {expected}; the file is damaged."
            )
    if header.compressed:
        n_features, n_frames = width // 2, n_samples - _VECTORS
        a, b = np.frombuffer(body, f"{order}f4", 2 * n_features).reshape(2, n_features)
        codes = np.frombuffer(body, f"{order}i2", n_frames * n_features, _VECTORS * width)
        frames = codes.reshape(n_frames, n_features).astype(np.float32)
        with np.errstate(all="ignore"):
            frames += b
            frames /= a
    elif _is_irefc(header.kind):
        frames = np.frombuffer(body, f"{order}i2", n_samples * width // 2).astype(np.float32).reshape(n_samples, -1)
        frames /= _MAX_CODE
    else:
        frames = np.frombuffer(body, f"{order}f4", n_samples * width // 4).astype(np.float32).reshape(n_samples, -1)
    _check_values(path, frames)
    return frames, header


def write_parameters(path: Path | str, frames: np.ndarray, header: ParameterHeader) -> None:
    """Write frames (n_frames, n_features) with the given header, atomically.

    Compression errors are at most half a step, a step being 1/65534 of the column's range. HTK 3.4 reads frames of at
    most 5000 bytes.

    Raises
    ------
    CorpusError
        For an unknown kind, a shift outside 100 ns to 0.1 s, an array that is not a matrix or has too many columns,
        values that are not finite or exceed 1e30, or IREFC coefficients outside -1 to 1.
    """
    path = Path(path)
    code = _kind_code(path, header)
    period = round(header.shift * 1e7) if 0 < header.shift < 1 else 0
    if not 0 < period <= _MAX_SHIFT_LENGTH:
        raise CorpusError(f"{path}: a shift of {header.shift} s cannot be written. Expected 1e-07 to 0.1 s.")
    with np.errstate(all="ignore"):
        values = np.ascontiguousarray(frames, dtype=np.float32)
    if values.ndim != 2 or not values.size:
        raise CorpusError(f"{path}: the frames have shape {values.shape}. Expected a matrix with rows and columns.")
    _check_values(path, values)
    n_frames, n_features = values.shape
    width = n_features * (2 if header.compressed or _is_irefc(header.kind) else 4)
    if width > _MAX_BYTES:
        raise CorpusError(f"{path}: frames of {n_features} values have {width} bytes. Expected at most {_MAX_BYTES}.")
    order = _order(header)
    parts: list[np.ndarray] = []
    if header.compressed:
        a, b = _scales(values)
        parts += [a.astype(f"{order}f4"), b.astype(f"{order}f4"), _codes(values, a, b).astype(f"{order}i2")]
    elif _is_irefc(header.kind):
        if np.abs(values).max() > 1:
            raise CorpusError(f"{path}: IREFC requires values from -1 to 1, not {np.abs(values).max()}.")
        parts.append(np.rint(values * np.float32(_MAX_CODE)).astype(f"{order}i2"))
    else:
        parts.append(values.astype(f"{order}f4"))
    body = b"".join(part.tobytes() for part in parts)
    if header.checked:
        body += struct.pack(f"{order}H", htk_checksum(np.frombuffer(body, f"{order}u2")))
    n_samples = n_frames + (_VECTORS if header.compressed else 0)
    with atomic_write(path) as temporary:
        temporary.write_bytes(struct.pack(f"{order}iihH", n_samples, period, width, code) + body)


def htk_checksum(words: np.ndarray) -> int:
    """Return HTK's checksum (`_K`) of the uint16 words after the header, including A and B, in file order.

    It is the remainder of these words, as one number of base 65536, modulo 36897 (HTK's `UpdateCRCC`).
    """
    value = 0
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK].astype(np.int64)
        shifted = value * pow(65536, len(block), _MODULUS)
        value = (shifted + int(block @ _place_values()[-len(block) :])) % _MODULUS
    return value


@lru_cache(maxsize=1)
def _place_values() -> np.ndarray:
    """Return the remainders of 65536 ** (_BLOCK - 1), ..., 65536, 1."""
    values = np.ones(1, np.int64)
    while len(values) < _BLOCK:
        values = np.concatenate((values * pow(65536, len(values), _MODULUS) % _MODULUS, values))
    return values


def _read_header(path: Path, head: bytes, size: int) -> tuple[ParameterHeader, int, int]:
    """Return the header, the number of samples, and the bytes per sample."""
    if len(head) < _HEADER_BYTES:
        raise CorpusError(f"{path}: has {size} bytes. Expected a header of {_HEADER_BYTES} bytes.", code="truncated")
    claims = []
    for order in "><":
        n_samples, period, width, code = struct.unpack(f"{order}iihH", head)
        if n_samples > 0 and 0 < period <= _MAX_SHIFT_LENGTH and width > 0 and code & _BASE in _NAMES:
            claimed = _HEADER_BYTES + n_samples * width + (2 if code & _CHECKED else 0)
            if claimed == size:
                return _described(path, n_samples, period, width, code, order == "<"), n_samples, width
            claims.append((n_samples, width, claimed))
    if not claims:
        raise CorpusError(
            f"{path}: is not an HTK parameter file, because it begins with {head.hex(' ')}. Expected the number of "
            "frames, a shift of up to 0.1 s, the bytes per frame and a kind."
        )
    n_samples, width, claimed = claims[0]
    raise CorpusError(
        f"{path}: has {size} bytes. Expected {claimed} bytes for the {n_samples} frames of {width} bytes in its "
        "header; the file is truncated or not an HTK parameter file.",
        code="truncated",
    )


def _described(path: Path, n_samples: int, period: int, width: int, code: int, little_endian: bool) -> ParameterHeader:
    base = _NAMES[code & _BASE]
    if base in _NO_FRAMES:
        raise CorpusError(f"{path}: is of kind {base}, {_NO_FRAMES[base]}. Expected features such as MFCC.")
    compressed = bool(code & _COMPRESSED)
    bytes_a_value = 2 if compressed or base == "IREFC" else 4
    if width % bytes_a_value:
        raise CorpusError(f"{path}: has frames of {width} bytes. Expected a multiple of {bytes_a_value} bytes.")
    if compressed and n_samples <= _VECTORS:
        raise CorpusError(f"{path}: is compressed and has no samples after its scales ({n_samples} in all).")
    kind = "_".join([base, *(name for name, bit in QUALIFIERS.items() if code & bit)])
    return ParameterHeader(kind, period / 1e7, compressed, bool(code & _CHECKED), little_endian)


def _kind_code(path: Path, header: ParameterHeader) -> int:
    base, *qualifiers = header.kind.split("_")
    if base not in KINDS or base in _NO_FRAMES or not QUALIFIERS.keys() >= set(qualifiers):
        known = ", ".join(name for name in KINDS if name not in _NO_FRAMES)
        raise CorpusError(
            f"{path}: {header.kind!r} cannot be written. Expected one of {known}, followed by any of "
            f"{' '.join(f'_{name}' for name in QUALIFIERS)} (use `compressed` and `checked` for _C and _K)."
        )
    code = KINDS[base] | sum(QUALIFIERS[name] for name in set(qualifiers))
    return code | (_COMPRESSED if header.compressed else 0) | (_CHECKED if header.checked else 0)


def _scales(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B of each column (HTK Book 3.4, section 5.10.1), float32, which map its range to -32767 to 32767."""
    low, high = values.min(axis=0).astype(float), values.max(axis=0).astype(float)
    with np.errstate(all="ignore"):
        a = (2 * _MAX_CODE / (high - low)).astype(np.float32)
        b = ((high + low) * _MAX_CODE / (high - low)).astype(np.float32)
    constant = ~np.isfinite(a)
    return np.where(constant, np.float32(1), a), np.where(constant, values.max(axis=0), b)


def _codes(values: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return rounded codes, clipped because B is rounded to float32."""
    return np.clip(np.rint(values * a.astype(float) - b.astype(float)), -_MAX_CODE, _MAX_CODE)


def _check_values(path: Path, frames: np.ndarray) -> None:
    largest = max(abs(float(frames.min())), abs(float(frames.max())))
    if not largest < np.inf:
        raise CorpusError(f"{path}: the frames have values that are not finite numbers.", code="not-finite")
    if largest > MAX_VALUE:
        raise CorpusError(
            f"{path}: the frames have values up to {largest:g}. Expected at most {MAX_VALUE:g}.", code="out-of-range"
        )


def _order(header: ParameterHeader) -> str:
    return "<" if header.little_endian else ">"


def _is_irefc(kind: str) -> bool:
    return kind.split("_")[0] == "IREFC"
