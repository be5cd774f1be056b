"""Arrays in files, so that only their names travel between processes."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class StoredArray:
    """An `.npy` file, mapped where its rows are needed; ValueError on use if it is no array or holds Python objects."""

    path: Path  # the same for all workers

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole array."""
        return self.open().shape

    @property
    def dtype(self) -> np.dtype:
        """Of its entries."""
        return self.open().dtype

    def open(self) -> np.ndarray:
        """The array, mapped for reading; once a process."""
        status = self.path.stat()
        return _mapped(self.path, status.st_mtime_ns, status.st_size)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return np.asarray(self.open()[rows])


@lru_cache(maxsize=16)
def _mapped(path: Path, modified: int, size: int) -> np.ndarray:
    array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
