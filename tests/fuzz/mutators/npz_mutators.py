"""Arrays of an .npz file spoilt and packed again."""

import io
import zipfile
from collections.abc import Sequence
from random import Random

import numpy as np

from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.model_mutators import spoilt_arrays


def spoil_npz(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One or two arrays changed; what is no .npz file any more is spoilt as bytes."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception:
        return spoil_bytes(random, content, others)
    for _ in range(random.choice((1, 1, 2))):
        arrays = spoilt_arrays(random, arrays)
    return npz_bytes(arrays)


def spoil_npy(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """One array changed, or its header; what is no .npy file any more is spoilt as bytes."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:
        return spoil_bytes(random, content, others)
    if random.random() < 0.3:
        old, new = random.choice(_HEADERS)
        return content.replace(old, new, 1)
    changed = spoilt_arrays(random, {"x": array})
    return npy_bytes(next(iter(changed.values()), array))


def npz_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    """An .npz file of any names, equal arrays giving equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), npy_bytes(array))
    return buffer.getvalue()


def npy_bytes(array: np.ndarray) -> bytes:
    """A .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


_HEADERS = (
    (b"<f4", b"|O "), (b"<f4", b">f4"), (b"<f4", b"<f8"), (b"<f4", b"<c8"), (b"<f4", b"V99"), (b"False", b"True "),
    (b"'shape': (", b"'shape': (9"), (b"'shape': (", b"'shape': (-"), (b"descr", b"decsr"), (b"{", b"["),
)  # fmt: skip
