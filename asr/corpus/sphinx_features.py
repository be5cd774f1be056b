"""CMU Sphinx feature files (`.mfc`): an array of cepstra after their count.

Format: SphinxTrain's and sphinxbase's areadfloat and feat.c. An int32 is the number of float32 values; each frame has
13, c0 first. The byte order is the one in which the count fits the file size.
"""

import struct
from pathlib import Path

import numpy as np

from asr.corpus.feature_values import check_feature_values
from asr.corpus.opening import open_for_reading
from asr.util.errors import CorpusError
from asr.util.files import atomic_write

SPHINX_COEFFICIENTS = 13
_MAX_NUMBERS = 2**31 - 1


def read_sphinx_features(path: Path | str, n_coefficients: int = SPHINX_COEFFICIENTS) -> np.ndarray:
    """Read the cepstra of a Sphinx feature file: float32 (n_frames, n_coefficients), C-contiguous, n_frames at least 1.

    If the count fits the file size in both byte orders, it is big-endian, as Sphinx writes. Raises CorpusError if the
    count fits in neither, is 0 or not a multiple of `n_coefficients`, and if values are not finite or exceed 1e8.
    """
    path = Path(path)
    with open_for_reading(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        count, order = _count(path, file.read(4), size)
        if count % n_coefficients:
            raise CorpusError(
                f"{path}: has {count} numbers, {count % n_coefficients} more than whole frames. Expected a multiple of "
                f"{n_coefficients} coefficients."
            )
        data = file.read(4 * count)
    if len(data) != 4 * count:
        raise CorpusError(f"{path}: ended while it was read ({4 * count - len(data)} bytes short).", code="truncated")
    with np.errstate(invalid="ignore"):
        matrix = np.frombuffer(data, f"{order}f4").reshape(-1, n_coefficients).astype(np.float32)
    check_feature_values(matrix, str(path))
    return matrix


def write_sphinx_features(path: Path | str, features: np.ndarray) -> None:
    """Write `features` (n_frames, n_coefficients) as a Sphinx feature file, big-endian, atomically.

    Raises CorpusError for an array that is not a matrix or is empty or too large, and values that are not finite or
    exceed 1e8.
    """
    path = Path(path)
    values = np.asarray(features)
    if values.ndim != 2 or not values.size:
        raise CorpusError(f"{path}: the features have shape {values.shape}. Expected a matrix with rows and columns.")
    if values.size > _MAX_NUMBERS:
        raise CorpusError(f"{path}: the features have {values.size} numbers. Expected at most {_MAX_NUMBERS}.")
    check_feature_values(values, str(path))
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(struct.pack(">i", values.size))
        file.write(np.ascontiguousarray(values, dtype=">f4").tobytes())
        file.flush()


def _count(path: Path, head: bytes, size: int) -> tuple[int, str]:
    """Return the number of values, and their byte order in NumPy's notation."""
    if len(head) < 4:
        raise CorpusError(
            f"{path}: has {size} bytes. Expected 4 bytes with the count of numbers.",
            code="truncated" if size else "empty-file",
        )
    counts = {order: struct.unpack(f"{order}i", head)[0] for order in (">", "<")}
    order = next((order for order, count in counts.items() if 4 + 4 * count == size), None)
    if order is None:
        # The smaller valid count is more likely: in the wrong order its small bytes come first.
        message = min((count for count in counts.values() if count > 0), default=0)
        raise CorpusError(
            f"{path}: has {size} bytes. The first 4 bytes count {counts['>']} numbers (big-endian) or {counts['<']} "
            f"(little-endian). Expected {4 + 4 * counts['>']} or {4 + 4 * counts['<']} bytes; the file is truncated or "
            "not a Sphinx feature file.",
            code="truncated" if 4 + 4 * message > size else "unreadable",
        )
    if not counts[order]:
        raise CorpusError(f"{path}: has no numbers. Expected at least one frame.", code="empty-file")
    return counts[order], order
