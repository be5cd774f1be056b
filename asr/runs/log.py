"""Log of a training: one line per stage on the screen, and all details in `train.log`."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        target = _PlainFile(path, encoding="utf-8")
        target.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.setTarget(target)
        self.capacity = 1
        self.flush()

    def close(self) -> None:
        target = self.target
        super().close()
        if target is not None:
            with suppress(OSError):
                target.close()


class _PlainFile(logging.FileHandler):
    """A log file whose errors, such as those of a full disk, are left to the stages."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass


@contextmanager
def training_log(*, verbose: bool = False) -> Iterator[None]:
    """Log to standard error, with the details if `verbose`; runs write all details to `train.log`.

    If the application has log handlers, these are kept and nothing is added to standard error.
    """
    root = logging.getLogger()
    file = _LogFile()
    handlers: list[logging.Handler] = [file]
    if not root.handlers:
        screen = logging.StreamHandler()
        screen.setLevel(logging.DEBUG if verbose else logging.INFO)
        screen.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        handlers.append(screen)
    levels = {logger: logger.level for logger in (root, *map(logging.getLogger, _PACKAGES))}
    for logger in levels:
        logger.setLevel(min(logger.level, logging.INFO) if logger is root else logging.DEBUG)
    for handler in handlers:
        root.addHandler(handler)
    _WAITING.append(file)
    try:
        yield
    finally:
        _WAITING.pop()
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
        for logger, level in levels.items():
            logger.setLevel(level)


@contextmanager
def stage_lines() -> Iterator[None]:
    """Log one line per finished stage, also where other messages of this level are not logged."""
    stages = logging.getLogger("asr.runs.run")
    level = stages.level
    stages.setLevel(logging.INFO)
    try:
        yield
    finally:
        stages.setLevel(level)


def write_log(directory: Path) -> None:
    """Write the records of the running command to `directory/train.log`, if `training_log` is active."""
    if _WAITING and _WAITING[-1].target is None:
        _WAITING[-1].open(directory / LOG)
