"""Lines of text files from users, plain or gzip-compressed, with one-sentence errors.

All lists, lexica, grammars, transcripts and settings are read here, with the same rules for encoding, byte-order marks,
Unicode normalization, and size after decompression.
"""

import logging
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from asr.util.errors import AsrError, Issue, printable, without_place
from asr.util.unicode_text import nfc

_MODEL = "Use its ARPA file"
_KINDS = {
    b"PK\x03\x04": (
        "a zip archive, or a spreadsheet",
        "Save a spreadsheet as CSV, or unpack the archive (unzip)",
    ),
    b"BZh91AY&SY": ("packed with bzip2", "Unpack it first (bunzip2), or pack it with gzip"),
    b"\xfd7zXZ\0": ("packed with xz", "Unpack it first (unxz), or pack it with gzip"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "Unpack it first (7z x)"),
    b"\x28\xb5\x2f\xfd": ("packed with zstd", "Unpack it first (unzstd), or pack it with gzip"),
    b"\x04\x22\x4d\x18": ("packed with lz4", "Unpack it first (unlz4), or pack it with gzip"),
    b"\x1f\x9d": ("packed with compress", "Unpack it first (uncompress), or pack it with gzip"),
    b"mmap lm http://kheafield.com/code": ("a binary language model of KenLM", _MODEL),
    b"SRILM_BINARY_NGRAM": (
        "a binary language model of SRILM",
        f"{_MODEL}, made by ngram -lm FILE -write-lm model.arpa",
    ),
    b"Trie Language Model": (
        "a binary language model of CMU Sphinx",
        f"{_MODEL}, made by sphinx_lm_convert -i FILE -o model.arpa -ofmt arpa",
    ),
    b"blmt": ("a binary language model of IRSTLM", f"{_MODEL}, made by compile-lm FILE --text=yes model.arpa"),
    b"Qblmt": ("a quantized language model of IRSTLM", _MODEL),
    b"\xd6\xfd\xb2\x7e": ("a binary transducer of OpenFst", "Use its text form, made by fstprint"),
    b"\xff\xfe": ("text in UTF-16", "Convert it first (iconv -f utf-16 -t utf-8)"),
    b"\xfe\xff": ("text in UTF-16", "Convert it first (iconv -f utf-16 -t utf-8)"),
    b"fLaC\0": ("FLAC audio", "Expected a text file"),
    b"OggS\0": ("Ogg audio", "Expected a text file"),
    b"%PDF-": ("a PDF document", "Save its text as a text file"),
}
_SPHINX_DMP = (b"Darpa Trigram LM", b"Darpa Quadrigram LM")  # after their length, in either byte order
_TAR = slice(257, 262)
_CONTROL = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})
_LOOKED_AT, _FEWEST, _MANY = 1 << 16, 8, 0.02  # bytes; minimum number of control characters, and of their fraction


def fault_in_kind(content: bytes) -> str | None:
    """Return the type of a binary file and a remedy, as two sentences; None for a file that may be text."""
    for beginning, (kind, remedy) in _KINDS.items():
        if content.startswith(beginning):
            return f"is {kind}. {remedy}"
    if content[4:].startswith(_SPHINX_DMP):
        return "is a binary language model of CMU Sphinx. " + _KINDS[b"Trie Language Model"][1]
    if content.startswith(b"RIFF") and content[8:12] == b"WAVE":
        return "is WAV audio. Expected a text file"
    if content[_TAR] == b"ustar":
        return "is a tar archive. Unpack it first (tar xf)"
    return None


def is_binary(content: bytes) -> bool:
    """Whether bytes are not text in any encoding because of many control characters."""
    beginning = content[:_LOOKED_AT]
    n_control = len(beginning) - len(beginning.translate(None, _CONTROL))
    return n_control >= max(_FEWEST, _MANY * len(beginning))


log = logging.getLogger(__name__)

GZIP_MAGIC = b"\x1f\x8b"
MAX_TEXT = 1 << 30
"""Bytes; larger files are refused, also after decompression."""
MAX_LINE_LENGTH = 1 << 20
"""Characters; the transcript of an hour of speech has a tenth of this."""
_PACKING = 50  # maximum compression ratio; text has 3 to 20
_SMALL = 32 << 20  # decompressed bytes that are always allowed
_PIECE = 1 << 16
_FIRST_BYTES = 1 << 9  # per member: some programs write very small ones
_MAX_MEMBERS = 100_000
_ZEROS = re.compile(rb"\0*")


def read_text_lines(path: Path | str, error: type[AsrError], issues: list[Issue] | None = None) -> list[str]:
    """Read the lines of a UTF-8 file without line ends (gzip detected by content, byte-order mark removed, NFC).

    Only line feeds end a line, so line numbers agree with editors; callers remove carriage returns by splitting at
    white space. With `issues`, they are collected: a line with an issue is returned without its invalid bytes, and an
    unreadable file has no lines.

    Raises
    ------
    error
        Without `issues`: if the file is unreadable or not regular (a folder, a pipe), is damaged gzip, too large,
        binary (see `asr.util.text_lines`), not UTF-8, or has a zero byte or a line that is too long (with the line
        number).
    """
    lines = read_text(path, error, issues=issues).split("\n")
    if lines[-1] == "":
        lines.pop()
    if max(map(len, lines), default=0) > MAX_LINE_LENGTH:
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_LINE_LENGTH:
                reason = f"{len(line)} characters. Expected at most {MAX_LINE_LENGTH}"
                _report(Issue("unreadable", reason, path=Path(path), line=number), error, issues)
    return lines


def _report(issue: Issue, error: type[AsrError], issues: list[Issue] | None) -> None:
    if issues is None:
        raise error(f"{issue.path}, line {issue.line}: {issue.message}")
    issues.append(replace(issue, stops=True))


def read_bytes(path: Path | str, error: type[AsrError], *, largest: int) -> bytes:
    """Read a regular file of at most `largest` bytes; raise `error`, with the reason, for others."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise error(f"{path} is not a regular file, but a folder, a pipe or a device.")
        if status.st_size > largest:
            raise error(f"{path} is larger than {_size(largest)}, the limit for files of its type.")
        return Path(path).read_bytes()
    except (OSError, ValueError) as problem:
        raise error(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from problem


def read_text(
    path: Path | str,
    error: type[AsrError],
    *,
    largest: int = MAX_TEXT,
    issues: list[Issue] | None = None,
    log_changes: bool = True,
) -> str:
    """Read the text of a file of at most `largest` bytes, like `read_text_lines`.

    `log_changes` is false for callers that report the normalization of the text themselves.
    """
    try:
        content = _content(path, error, largest)
    except error as problem:
        if issues is None:
            raise
        issues.append(Issue("unreadable", without_place(problem, path), path=Path(path), stops=True))
        return ""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode(errors="replace")
        for number, value in _undecodable(content):
            reason = (
                f"the byte 0x{value:02x} is not UTF-8 text. Save the file as UTF-8 (spreadsheets: CSV UTF-8), or "
                "convert it from its encoding (for example: iconv -f cp1250 -t utf-8)"
            )
            _report(Issue("not-utf8", reason, path=Path(path), line=number), error, issues)
    text = text.lstrip("\ufeff")  # a program may add a second mark
    if "\0" in text:
        for number, line in enumerate(text.split("\n"), 1):
            if "\0" in line:
                reason = "contains a null byte. Expected a text file"
                _report(Issue("zero-byte", reason, path=Path(path), line=number), error, issues)
        text = text.replace("\0", "")
    return _normalized(path, text) if log_changes else nfc(text)


def _content(path: Path | str, error: type[AsrError], largest: int) -> bytes:
    """Read the uncompressed content of a text file; raise `error` for a binary file."""
    content = read_bytes(path, error, largest=largest)
    if content.startswith(GZIP_MAGIC):
        content = _unpacked(path, content, error, largest)
    fault = fault_in_kind(content)
    if fault is not None:
        raise error(f"{path} {fault}.")
    if is_binary(content):
        try:
            content.decode()
        except UnicodeDecodeError as problem:
            raise error(f"{path} is a binary file. Expected UTF-8 text.") from problem
    return content


def _undecodable(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the number and the first invalid byte of each line that is not UTF-8."""
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            line.decode()
        except UnicodeDecodeError as problem:
            yield number, line[problem.start]


def _normalized(path: Path | str, text: str) -> str:
    """Return the text in NFC; log once per file if that changes it."""
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
"""Files whose normalization was logged, because several stages read the same file."""


def _unpacked(path: Path | str, content: bytes, error: type[AsrError], largest: int) -> bytes:
    """Decompress all gzip members.

    Sizes are compared with the compressed ones piece by piece, which stops decompression bombs early.
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
                raise error(f"{path} is a damaged gzip file: it is truncated.")
            waiting = member.unconsumed_tail
            pieces.append(piece)
            size += len(piece)
            limit = min(largest, max(_SMALL, _PACKING * position))
            if size > limit:
                raise error(
                    f"{path} has more than {_size(limit)} of text when decompressed, too much for its compressed "
                    "size. Decompress it first if this is correct."
                )
        found = _ZEROS.match(content, position - len(member.unused_data))  # padding of tapes
        assert found is not None
        position = found.end()
    return b"".join(pieces)


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MiB" if n_bytes >> 20 else f"{n_bytes >> 10} KiB"
