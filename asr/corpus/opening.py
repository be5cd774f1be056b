"""Files that a corpus names, opened: which failures are the file's own, and which the machine's."""

import errno
from pathlib import Path
from typing import BinaryIO

from asr.util.errors import CorpusError

_OF_THE_FILE = frozenset(
    {
        errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP,
        errno.ENXIO, errno.ENODEV, errno.EINVAL, errno.EOPNOTSUPP,
    }
)  # fmt: skip


def open_for_reading(path: Path) -> BinaryIO:
    """The file, open.

    Raises
    ------
    CorpusError
        When the file itself is at fault: it is missing, a directory, or may not be read.
    OSError
        When the machine is (too many open files, out of memory, an error of the disk or network): another file would
        fare no better, and this one may be read when the command is run again.
    """
    try:
        return path.open("rb")
    except OSError as error:
        raise faulty_file(path, error) from error


def faulty_file(path: Path, error: OSError) -> CorpusError:
    """The CorpusError for an OSError that is the file's own fault; any other is raised as it is."""
    if error.errno not in _OF_THE_FILE:
        raise error
    return CorpusError(f"{path}: cannot be read ({error.strerror}).")
