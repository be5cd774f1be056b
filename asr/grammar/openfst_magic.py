"""Detection of OpenFst's binary files."""

import stat
import struct
from pathlib import Path

FST_MAGIC = struct.pack("<i", 2125659606)


def is_openfst(path: Path | str) -> bool:
    """Return whether `path` is a file that begins as a binary OpenFst file."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return False
        with Path(path).open("rb") as file:
            return file.read(len(FST_MAGIC)) == FST_MAGIC
    except (OSError, ValueError):  # the reader reports the error
        return False
