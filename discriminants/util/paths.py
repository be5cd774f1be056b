"""Whether there is a file or directory, where an error of the disk is no answer.

From Python 3.14 on, `Path.exists`, `is_file` and `is_dir` say False of what cannot be looked at: in a folder without
permission, by a name that is too long, on a disk that fails. What is there would be taken for absent, in silence. These
say False of what is absent alone, on every Python.
"""

import errno
import stat
from pathlib import Path

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP})


def exists(path: Path) -> bool:
    """Whether anything is there, at the end of symbolic links; OSError where that cannot be told."""
    return _mode(path) != 0


def is_file(path: Path) -> bool:
    """Whether a regular file is there; OSError as `exists`."""
    return stat.S_ISREG(_mode(path))


def is_dir(path: Path) -> bool:
    """Whether a directory is there; OSError as `exists`."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """Of what is there, 0 where nothing is; a name that no file can have (it holds a zero byte) is that of nothing."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno not in _ABSENT:
            raise
    except ValueError:
        pass
    return 0
