"""Log of a training: one line per stage on the screen, and all details in `train.log`."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import MemoryHandler
from pathlib import Path

LOG = "train.log"
_PACKAGES = ("asr", "discriminants", "recipes")
_WAITING: list["_LogFile"] = []  # the handler of the running command, if any


class _LogFile(MemoryHandler):
    """Keep records until the work directory exists, then append them to its log file."""

    def __init__(self) -> None:
        super().__init__(capacity=10_000, flushLevel=logging.CRITICAL + 1, flushOnClose=False)

    def open(self, path: Path) -> None:
        """Write the records to a file from now on."""
        target = logging.FileHandler(path, encoding="utf-8")
        target.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.setTarget(target)
        self.capacity = 1
        self.flush()

    def close(self) -> None:
        target = self.target
        super().close()
        if target is not None:
            target.close()


@contextmanager
def training_log(*, verbose: bool = False) -> Iterator[None]:
    """Log to standard error, with the details if `verbose`; runs write all details to `train.log`.

    If the application has log handlers, these are kept and nothing is added to standard error.
    """
    root = logging.getLogger()
    handlers: list[logging.Handler] = [_LogFile()]
    if not root.handlers:
        screen = logging.StreamHandler()
        screen.setLevel(logging.DEBUG if verbose else logging.INFO)
        screen.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        handlers.append(screen)
    levels = {name: logging.getLogger(name).level for name in (*_PACKAGES, None)}
    for name in _PACKAGES:
        logging.getLogger(name).setLevel(logging.DEBUG)
    root.setLevel(min(root.level, logging.INFO))
    for handler in handlers:
        root.addHandler(handler)
    _WAITING.append(handlers[0])
    try:
        yield
    finally:
        _WAITING.pop()
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def write_log(directory: Path) -> None:
    """Write the records of the running command to `directory/train.log`, if `training_log` is active."""
    if _WAITING and _WAITING[-1].target is None:
        _WAITING[-1].open(directory / LOG)
