"""Thread-safe objects that can be pickled."""

from threading import RLock
from typing import Any


class Locked:
    """Base of objects with a lock: `pickle` and `copy` give each copy a new one.

    The state is read under the lock, so copies are consistent.
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the lock."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes, and create a new lock."""
        vars(self).update(state, _lock=RLock())
