"""Training samples in memory or in a file, in blocks of fixed size."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.util.files import write_array

BLOCK_ROWS = 8192  # rows of a task; its sums are the same in any worker


@dataclass(frozen=True)
class Block:
    """A block of samples, as sent to a worker."""

    rows: slice | np.ndarray  # slice or ndarray of int: Of the source
    codes: np.ndarray  # int (n,): class numbers
    weight: np.ndarray  # (n,)

    def stripes(self, source: np.ndarray | StoredArray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows within the block, those rows of the source) in pieces of at most `size`."""
        n = self.codes.shape[0]
        for start in range(0, n, size):
            part = slice(start, min(start + size, n))
            if isinstance(self.rows, slice):
                yield part, source[slice(self.rows.start + part.start, self.rows.start + part.stop)]
            else:
                yield part, source[self.rows[part]]


@dataclass(frozen=True)
class Samples:
    """Training samples."""

    source: np.ndarray | StoredArray  # (n_samples, n_features) or StoredArray: where the features lie
    codes: np.ndarray  # int (n_samples,): class numbers
    weight: np.ndarray  # (n_samples,): relative weights, of mean one

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.codes.shape[0])

    def block(self, rows: slice | np.ndarray) -> Block:
        """Return the samples in these rows; row numbers are sorted."""
        if not isinstance(rows, slice):
            rows = np.sort(rows)  # the sums are the same, and a file is read sequentially
        return Block(rows, self.codes[rows], self.weight[rows])

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Block]:
        """Yield all samples in order, `size` at a time."""
        for start in range(0, self.n, size):
            yield self.block(slice(start, min(start + size, self.n)))

    def drawn(self, order: np.ndarray, size: int = BLOCK_ROWS) -> Iterator[Block]:
        """Yield the samples of `order`, `size` at a time."""
        for start in range(0, order.shape[0], size):
            yield self.block(order[start : start + size])


@contextmanager
def within_reach(X: np.ndarray, workers: Workers) -> Iterator[np.ndarray | StoredArray]:
    """Yield X in a form that the workers can read: the array in this process, else its own or a temporary file.

    Sparse samples are sent to other processes.
    """
    if isinstance(workers, SerialWorkers) or issparse(X):
        yield X
        return
    own = stored(X)
    if own is not None:
        yield own
        return
    with tempfile.TemporaryDirectory(prefix="samples-") as folder:
        path = Path(folder) / "samples.npy"
        write_array(path, X)
        yield StoredArray(path)


def opened(X: Any) -> Any:
    """Return the mapped array of a StoredArray; anything else unchanged."""
    return X.open() if isinstance(X, StoredArray) else X


def stored(X: np.ndarray) -> StoredArray | None:
    """Return the `.npy` file whose complete array X is mapped from, or None."""
    base: object = X
    while isinstance(base, np.ndarray) and not (isinstance(base, np.memmap) and base.filename is not None):
        base = base.base
    if not isinstance(base, np.memmap) or base.filename is None or base.mode not in ("r", "r+"):
        return None
    found = StoredArray(Path(base.filename).resolve())
    try:
        whole = found.open()
    except (ValueError, OSError):
        return None
    same = (whole.shape, whole.dtype, whole.strides) == (X.shape, X.dtype, X.strides)
    return found if same and whole.flags.c_contiguous else None
