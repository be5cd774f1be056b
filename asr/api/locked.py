"""Objects that threads share, and that process pools may copy."""

from threading import RLock
from typing import Any


class Locked:
    """A base of objects with a lock: `pickle` and `copy` give each copy a new one.

    The state is read under the lock, so that a copy never holds half of a change.
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        """All attributes except the lock."""
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes of another object, and a new lock."""
        vars(self).update(state, _lock=RLock())
