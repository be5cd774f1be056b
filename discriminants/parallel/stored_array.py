"""Arrays in files, so that only file names are sent between processes."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class StoredArray:
    """An `.npy` file, mapped on use. Raises ValueError on use if it is not an array or holds Python objects."""

    path: Path  # the same for all workers

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole array."""
        return self.open().shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the entries."""
        return self.open().dtype

    def open(self) -> np.ndarray:
        """Map the array for reading, once per process."""
        status = self.path.stat()
        return _mapped(self.path, status.st_mtime_ns, status.st_size)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return np.asarray(self.open()[rows])


@lru_cache(maxsize=16)
def _mapped(path: Path, modified: int, size: int) -> np.ndarray:
    array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
