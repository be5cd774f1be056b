"""The lines of a text file a user hands in, plain or gzip-compressed, or one clear sentence about why not."""

import gzip
import zlib
from pathlib import Path

from asr.errors import AsrError

GZIP_MAGIC = b"\x1f\x8b"


def read_text_lines(path: Path | str, error: type[AsrError]) -> list[str]:
    """Lines of the UTF-8 file `path` (gzip recognised by content, byte-order mark removed), without line
    ends.

    Lines end at a line feed alone, so that line numbers agree with every editor; a carriage return before it
    is left to the callers, who split at white space.

    Raises
    ------
    error
        When the file cannot be opened, is a damaged gzip file, or is not UTF-8 (the message has the line).
    """
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror or problem}.") from problem
    if content.startswith(GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as problem:
            raise error(f"{path} is a damaged gzip file: {problem}.") from problem
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        value = problem.object[problem.start]
        raise error(
            f"{path}, line {line}: the byte 0x{value:02x} is not UTF-8 text; convert the file first "
            "(for instance iconv -f latin1 -t utf-8)."
        ) from problem
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
