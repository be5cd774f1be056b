"""Download of the public files of a corpus, and unpacking of its archives.

Interrupted transfers are resumed (HTTP Range). A file is compared with its published checksum if there is one. Its
SHA-256 is recorded next to it as `NAME.sha256` and compared in later runs. Archives are untrusted: only regular files
and folders below one folder of the archive are unpacked, up to the size of such a corpus.
"""

import gzip
import hashlib
import http.client
import logging
import re
import tarfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from asr.runs.progress import Progress
from asr.util.errors import CorpusError, printable
from asr.util.files import DISK_TROUBLE, atomic_directory, atomic_write
from asr.util.text_lines import read_text
from discriminants.util.paths import exists, is_dir, is_file

log = logging.getLogger("recipes.download")

MAX_DOWNLOAD = 1 << 32  # bytes; the largest archive of a recipe has 2.4 GB
MAX_UNPACKED = 1 << 33
MAX_MEMBERS = 200_000
_PIECE = 1 << 18
_PATIENCE = 60.0  # seconds without a byte
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")


@dataclass(frozen=True)
class Source:
    """A public file: its name, its addresses (the first that answers is used), and its first bytes.

    Attributes
    ----------
    checksum : str
        Published checksum, such as `md5:HEX`; empty if unknown.
    n_bytes : int
        Published size; 0 if unknown.
    top : str or None
        Folder inside the archive that is unpacked, `.` for all of it; None for files that are not unpacked.
    target : str
        Place of that folder below the corpus's folder; default: `top`.
    """

    name: str
    urls: tuple[str, ...]
    magic: bytes = b""
    checksum: str = ""
    n_bytes: int = 0
    top: str | None = None
    target: str = ""


def download(corpus_dir: Path, sources: Sequence[Source]) -> None:
    """Fetch files that are missing in `corpus_dir`, and unpack archives.

    Raises CorpusError if a file cannot be fetched (the next call resumes the transfer), has the wrong type or another
    checksum, and if an archive must not be unpacked.
    """
    corpus_dir.mkdir(parents=True, exist_ok=True)
    for source in sources:
        path = corpus_dir / source.name
        folder = None if source.top is None else corpus_dir / (source.target or source.top)
        if folder is not None and is_dir(folder):
            log.info("%s is there", folder)
            continue
        if not is_file(path):
            fetch(source, path)
        check_digests(path, source)
        if folder is not None:
            folder.parent.mkdir(parents=True, exist_ok=True)
            unpack(path, folder, source.top or ".")


def fetch(source: Source, path: Path) -> None:
    """Fetch a file to `path`, which appears when it is complete; until then the name ends in `.part`."""
    part = path.with_name(f"{path.name}.part")
    reasons = []
    for url in source.urls:
        try:
            _fetch_from(url, part)
            _require_kind(part, source)
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "errno", None) in DISK_TROUBLE:
                raise
            reasons.append(f"{url}: {printable(str(getattr(error, 'reason', None) or error) or repr(error), 200)}")
            continue
        part.replace(path)
        return
    raise CorpusError(
        f"{source.name} could not be downloaded ({'; '.join(reasons)}). Download {' or '.join(source.urls)} on a "
        f"computer with a network, copy it to {path}, and run the recipe again with --download",
        code="missing-file",
    )


def _fetch_from(url: str, part: Path) -> None:
    """Complete `part` from an address, repeating requests as long as each brings more data.

    Raises OSError or HTTPException if the file stays incomplete.
    """
    while True:
        before = _size(part)
        try:
            if _transfer(url, part, before):
                return
            problem: Exception = OSError("the connection ended too early")
        except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
            problem = error
        if _size(part) <= before:
            raise problem
        log.info("%s: interrupted after %d bytes; continuing from there", url, _size(part))


def _size(path: Path) -> int:
    return path.stat().st_size if exists(path) else 0


def _transfer(url: str, part: Path, have: int) -> bool:
    """Send one request from byte `have` on; return whether the end was reached."""
    request = urllib.request.Request(url, headers={"User-Agent": "hybrid-asr", "Accept-Encoding": "identity"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            start, total = _extent(answer, have)
            if total is not None and total > MAX_DOWNLOAD:
                raise CorpusError(f"{url}: {total} bytes. Expected at most {MAX_DOWNLOAD}")
            with part.open("r+b" if start else "wb") as file:
                file.seek(start)
                file.truncate()
                size = _copy(answer, file, start, total, url)
            return total is None or size == total
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        match = re.fullmatch(r"bytes \*/(\d{1,18})", error.headers.get("Content-Range", ""))
        if match and int(match[1]) == have:
            return True  # it was already complete
        part.unlink()  # of another file
        return _transfer(url, part, 0)


def _extent(answer: http.client.HTTPResponse, have: int) -> tuple[int, int | None]:
    """Return the first byte of the response, and the size of the whole file if the server sends it."""
    length = answer.headers.get("Content-Length", "")
    if answer.status == http.client.PARTIAL_CONTENT:
        match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != have:
            raise OSError(f"the server did not continue from byte {have}")
        return have, None if match[2] == "*" else int(match[2])
    return 0, int(length) if re.fullmatch(r"\d{1,18}", length) else None


def _copy(answer: http.client.HTTPResponse, file: IO[bytes], start: int, total: int | None, url: str) -> int:
    """Append the response to a file and return its size."""
    size = start
    kib = -(-total // 1024) if total is not None else 0
    with Progress(kib, f"fetching {PurePosixPath(url).name or url} (KiB)") as bar:
        bar.advance(size // 1024)
        while piece := answer.read1(_PIECE):
            size += len(piece)
            if size > MAX_DOWNLOAD:
                raise CorpusError(f"{url}: more than {MAX_DOWNLOAD} bytes, the limit for files of this corpus")
            file.write(piece)
            bar.advance(size // 1024 - bar.done)
    return size


def _require_kind(part: Path, source: Source) -> None:
    """Remove the file and raise OSError if it has another type or size, such as a web page from a mirror."""
    with part.open("rb") as file:
        head = file.read(16)
    size = _size(part)
    if not head.startswith(source.magic) or size != (source.n_bytes or size):
        part.unlink()
        raise OSError(f"the downloaded file has {size} bytes, begins with {head!r} and is not {source.name}")


def check_digests(path: Path, source: Source) -> None:
    """Compare a file with its published checksum, and with its SHA-256 of an earlier run, which is otherwise recorded.

    Raises CorpusError for another checksum.
    """
    kind, _, published = source.checksum.partition(":")
    digests = {name: hashlib.new(name) for name in {"sha256", kind or "sha256"}}
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            for digest in digests.values():
                digest.update(piece)
    if published:
        _compare(path, digests[kind].hexdigest(), published, f"the published {kind.upper()}")
    record = path.with_name(f"{path.name}.sha256")
    found = digests["sha256"].hexdigest()
    if is_file(record):
        recorded = (read_text(record, CorpusError, largest=1 << 12).split() or [""])[0]
        _compare(path, found, recorded, f"the SHA-256 in {record.name}")
        return
    with atomic_write(record) as temporary:
        temporary.write_text(f"{found}  {path.name}\n", encoding="utf-8")
    log.info("%s: SHA-256 %s", source.name, found)


def _compare(path: Path, found: str, expected: str, kind: str) -> None:
    if found != expected:
        raise CorpusError(
            f"{path}: the checksum is {found}, but {kind} is {printable(expected, 80)}. Remove the file and "
            f"{path.name}.sha256 to download it again"
        )


def unpack(archive: Path, folder: Path, top: str) -> None:
    """Unpack the folder `top` of a gzip-compressed tar archive as `folder`, which appears when it is complete.

    Raises CorpusError, and unpacks nothing, for paths outside the folder, links, devices, duplicate entries, damaged or
    truncated archives, and archives larger than any corpus of this kind.
    """
    with atomic_directory(folder) as temporary, _readable(archive):
        seen: set[str] = set()
        with gzip.open(archive) as unpacked, Progress(None, f"unpacking {archive.name}") as bar:
            with tarfile.open(mode="r|", fileobj=cast(IO[bytes], _Limited(unpacked, archive))) as members:
                for member in members:
                    _write_member(members, member, temporary, archive, PurePosixPath(top).parts, seen)
                    bar.advance()
            while unpacked.read(_PIECE):  # read to the end, which holds the checksum
                pass
        if not any(temporary.iterdir()):
            raise CorpusError(f"{archive}: no files below '{top}/'. Expected an archive of this corpus")


def _write_member(
    members: tarfile.TarFile,
    member: tarfile.TarInfo,
    root: Path,
    archive: Path,
    top: tuple[str, ...],
    seen: set[str],
) -> None:
    name = PurePosixPath(member.name)
    shown = f"{archive}: its entry '{printable(member.name, 200)}'"
    if name.is_absolute() or ".." in name.parts or "\\" in member.name or not member.name.isprintable():
        raise CorpusError(f"{shown} leads out of the target folder. No files were extracted")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise CorpusError(f"{shown} is a link, a device or a sparse file. Expected only plain files and folders")
    if len(seen) >= MAX_MEMBERS or member.size > MAX_UNPACKED:
        raise CorpusError(f"{shown} exceeds the number or size of files of this corpus")
    if name.parts[: len(top)] != top:
        log.debug("%s is outside '%s' and is left out", shown, "/".join(top))
        return
    target = root.joinpath(*name.parts[len(top) :])
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    if str(name) in seen or target == root or exists(target):
        raise CorpusError(f"{shown} appears twice")
    seen.add(str(name))
    content = members.extractfile(member)
    assert content is not None  # regular files have content
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with target.open("xb") as file:
        while piece := content.read(_PIECE):
            file.write(piece)
            written += len(piece)
    if written != member.size:
        raise CorpusError(f"{shown} has {written} bytes. Expected {member.size}. The archive is damaged")


class _Limited:
    """A stream limited to the largest allowed unpacked size, read in small pieces."""

    def __init__(self, stream: gzip.GzipFile, archive: Path):
        self.stream, self.archive, self.left = stream, archive, MAX_UNPACKED

    def read(self, size: int) -> bytes:
        piece = self.stream.read(min(size, self.left + 1))
        self.left -= len(piece)
        if self.left < 0:
            raise CorpusError(
                f"{self.archive}: more than {MAX_UNPACKED} bytes when extracted, the limit for this corpus"
            )
        return piece


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    """Turn errors of a damaged archive into messages."""
    try:
        yield
    except (tarfile.TarError, zlib.error, gzip.BadGzipFile, EOFError, UnicodeError, ValueError, OverflowError) as error:
        raise CorpusError(
            f"{archive} is damaged or truncated ({printable(str(error), 200)}). Remove it to download it again"
        ) from error
    except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
        raise CorpusError(f"{archive}: an entry is both a file and a folder") from error
