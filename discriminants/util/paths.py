"""Tests for files and directories that do not hide disk errors.

From Python 3.14 on, `Path.exists`, `is_file` and `is_dir` return False for paths that cannot be checked: a folder
without permission, a name that is too long, or a failing disk. An existing path would silently count as missing. These
functions return False only for missing paths, in every Python version.
"""

import errno
import stat
from pathlib import Path

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP})


def exists(path: Path) -> bool:
    """Return whether the path exists, following symbolic links; OSError if it cannot be checked."""
    return _mode(path) != 0


def is_file(path: Path) -> bool:
    """Return whether the path is a regular file; OSError as in `exists`."""
    return stat.S_ISREG(_mode(path))


def is_dir(path: Path) -> bool:
    """Return whether the path is a directory; OSError as in `exists`."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """Return the mode of a path, or 0 if it is missing or its name is impossible (contains a zero byte)."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno not in _ABSENT:
            raise
    except ValueError:
        pass
    return 0
