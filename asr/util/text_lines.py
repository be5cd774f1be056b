"""The lines of a text file a user hands in, plain or gzip-compressed, or one clear sentence about why not.

Lists, lexica, grammars, transcripts and settings all come in through here: one rule for encoding, byte-order marks,
Unicode's normalization form, and how large a file may become when it is unpacked.
"""

import logging
import re
import stat
import zlib
from pathlib import Path

from asr.util.errors import AsrError, printable
from asr.util.file_kinds import fault_in_kind, is_binary
from asr.util.unicode_text import nfc

log = logging.getLogger(__name__)

GZIP_MAGIC = b"\x1f\x8b"
MAX_TEXT = 1 << 30
"""Bytes; a file that is larger, or becomes larger when it is unpacked, is refused."""
MAX_LINE_LENGTH = 1 << 20
"""Characters; an hour of speech in one transcript has a tenth of them."""
_PACKING = 50  # times; text packs three to twenty times
_SMALL = 32 << 20  # bytes that any gzip file may become
_PIECE = 1 << 16
_FIRST_BYTES = 1 << 9  # of a member: some programs write very small ones
_MAX_MEMBERS = 100_000
_ZEROS = re.compile(rb"\0*")


def read_text_lines(path: Path | str, error: type[AsrError]) -> list[str]:
    """Lines of the UTF-8 file `path` (gzip recognized by content, byte-order mark removed, NFC), without line ends.

    Lines end at a line feed alone, so that line numbers agree with every editor; a carriage return before it
    is left to the callers, who split at white space.

    Raises
    ------
    error
        When the file cannot be opened or is none (a folder, a pipe), is a damaged gzip file, is or becomes too large,
        is of a binary kind (see `asr.util.file_kinds`), holds a zero byte, is not UTF-8 or has a line that is too long
        (the message has the line).
    """
    lines = read_text(path, error).split("\n")
    if lines[-1] == "":
        lines.pop()
    if max(map(len, lines), default=0) > MAX_LINE_LENGTH:
        number = next(number for number, line in enumerate(lines, 1) if len(line) > MAX_LINE_LENGTH)
        raise error(
            f"{path}, line {number}: has {len(lines[number - 1])} characters; a line may have {MAX_LINE_LENGTH}."
        )
    return lines


def read_bytes(path: Path | str, error: type[AsrError], *, largest: int) -> bytes:
    """The content of a regular file of at most `largest` bytes; `error`, with the reason, for any other."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise error(f"{path} cannot be read: it is no file, but a folder, a pipe or a device.")
        if status.st_size > largest:
            raise error(f"{path} has more than {_size(largest)}; no file of its kind is as large.")
        return Path(path).read_bytes()
    except (OSError, ValueError) as problem:
        raise error(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from problem


def read_text(path: Path | str, error: type[AsrError], *, largest: int = MAX_TEXT) -> str:
    """The whole text of a file of at most `largest` bytes, as `read_text_lines` reads it."""
    content = read_bytes(path, error, largest=largest)
    if content.startswith(GZIP_MAGIC):
        content = _unpacked(path, content, error, largest)
    fault = fault_in_kind(content)
    if fault is not None:
        raise error(f"{path} {fault}.")
    try:
        text = content.decode().lstrip("\ufeff")  # a program that adds a mark may find one there
    except UnicodeDecodeError as problem:
        if is_binary(content):
            raise error(f"{path} is a binary file. Expected UTF-8 text.") from problem
        line = problem.object.count(b"\n", 0, problem.start) + 1
        value = problem.object[problem.start]
        raise error(
            f"{path}, line {line}: the byte 0x{value:02x} is not UTF-8 text; convert the file first "
            "(for instance iconv -f latin1 -t utf-8)."
        ) from problem
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error(f"{path}, line {line}: holds a zero byte; a text file is needed.")
    return _normalized(path, text)


def _normalized(path: Path | str, text: str) -> str:
    """Return the text in NFC; log a line, once for each file, if that changes it."""
    changed = nfc(text)
    if changed is not text and str(path) not in _reported:
        _reported.add(str(path))
        before, after = text.split("\n"), changed.split("\n")
        lines = [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]]
        log.warning(
            "%s", printable(f"{path}: {len(lines):,} lines (the first is line {lines[0]}) normalized to Unicode NFC")
        )
    return changed


_reported: set[str] = set()
"""Files whose normalization was logged: several stages read the same file."""


def _unpacked(path: Path | str, content: bytes, error: type[AsrError], largest: int) -> bytes:
    """What gzip members hold, one after the other.

    What has been unpacked is compared with what it was packed in piece by piece, so that a bomb goes off while it is
    still small.
    """
    pieces: list[bytes] = []
    size = position = n_members = 0
    while position < len(content):
        n_members += 1
        if not content.startswith(GZIP_MAGIC, position) or n_members > _MAX_MEMBERS:
            raise error(f"{path} is a damaged gzip file: {len(content) - position} bytes follow its end.")
        member = zlib.decompressobj(wbits=31)
        waiting, taken = b"", _FIRST_BYTES
        while not member.eof:
            if not waiting:
                waiting = content[position : position + taken]
                position, taken = position + len(waiting), _PIECE
            ended = not waiting
            try:
                piece = member.decompress(waiting, _PIECE)
            except zlib.error as problem:
                raise error(f"{path} is a damaged gzip file: {problem}.") from problem
            if ended and not piece and not member.eof:
                raise error(f"{path} is a damaged gzip file: it ends too early.")
            waiting = member.unconsumed_tail
            pieces.append(piece)
            size += len(piece)
            limit = min(largest, max(_SMALL, _PACKING * position))
            if size > limit:
                raise error(
                    f"{path} would become more than {_size(limit)} when unpacked, which no text file of its size does; "
                    "unpack it first if it is what you want."
                )
        found = _ZEROS.match(content, position - len(member.unused_data))  # with which tapes fill up
        assert found is not None
        position = found.end()
    return b"".join(pieces)


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MiB" if n_bytes >> 20 else f"{n_bytes >> 10} KiB"
