"""Opening of corpus files, with separate errors for faults of the file and of the machine."""

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
    """Open the file.

    Raises
    ------
    CorpusError
        If the file is missing, a directory, or not readable.
    OSError
        For failures of the machine (too many open files, out of memory, disk or network errors), which affect other
        files too and may be temporary.
    """
    try:
        return path.open("rb")
    except OSError as error:
        raise faulty_file(path, error) from error


def faulty_file(path: Path, error: OSError) -> CorpusError:
    """Return a CorpusError for an OSError caused by the file; raise other errors unchanged."""
    if error.errno not in _OF_THE_FILE:
        raise error
    return CorpusError(f"{path}: cannot be read ({error.strerror}).")
