"""The lines of a text file a user hands in, plain or gzip-compressed, or one clear sentence about why not.

Lists, lexica, grammars, transcripts and settings all come in through here: one rule for encoding, byte-order marks,
and how large a file may become when it is unpacked.
"""

import zlib
from pathlib import Path

from asr.errors import AsrError

GZIP_MAGIC = b"\x1f\x8b"
LARGEST_TEXT = 1 << 30
"""Bytes; a file that is larger, or becomes larger when it is unpacked, is refused."""
_PACKING = 50  # times; text packs three to twenty times
_SMALL = 32 << 20  # bytes that any gzip file may become
_PIECE = 1 << 20


def read_text_lines(path: Path | str, error: type[AsrError]) -> list[str]:
    """Lines of the UTF-8 file `path` (gzip recognised by content, byte-order mark removed), without line
    ends.

    Lines end at a line feed alone, so that line numbers agree with every editor; a carriage return before it
    is left to the callers, who split at white space.

    Raises
    ------
    error
        When the file cannot be opened, is a damaged gzip file, is or becomes too large, holds a zero byte, or is not
        UTF-8 (the message has the line).
    """
    lines = read_text(path, error).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def read_text(path: Path | str, error: type[AsrError]) -> str:
    """The whole text of a file, as `read_text_lines` reads it."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_TEXT + 1)
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror or problem}.") from problem
    if len(content) > LARGEST_TEXT:
        raise error(f"{path} has more than {LARGEST_TEXT >> 20} MiB; no text file here is as large.")
    if content.startswith(GZIP_MAGIC):
        content = _unpacked(path, content, error)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        value = problem.object[problem.start]
        raise error(
            f"{path}, line {line}: the byte 0x{value:02x} is not UTF-8 text; convert the file first "
            "(for instance iconv -f latin1 -t utf-8)."
        ) from problem
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error(f"{path}, line {line}: holds a zero byte; a text file is needed.")
    return text


def _unpacked(path: Path | str, content: bytes, error: type[AsrError]) -> bytes:
    """What gzip members hold, one after the other; no more is unpacked than a text file can reasonably become."""
    limit = min(LARGEST_TEXT, max(_SMALL, _PACKING * len(content)))
    pieces: list[bytes] = []
    size = 0
    while content.startswith(GZIP_MAGIC):
        member = zlib.decompressobj(wbits=31)
        waiting = content
        try:
            while not member.eof:
                piece = member.decompress(waiting, _PIECE)
                waiting = member.unconsumed_tail
                if not piece and not waiting and not member.eof:
                    raise error(f"{path} is a damaged gzip file: it ends too early.")
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    raise error(
                        f"{path} would become more than {limit >> 20} MiB when unpacked, which no text file of its "
                        "size does; unpack it first if it is what you want."
                    )
        except zlib.error as problem:
            raise error(f"{path} is a damaged gzip file: {problem}.") from problem
        content = member.unused_data.lstrip(b"\0")
    if content:
        raise error(f"{path} is a damaged gzip file: {len(content)} bytes follow its end.")
    return b"".join(pieces)
