"""The download of public files, from a server on the loopback address that behaves and misbehaves."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from asr.grammar.openfst_magic import FST_MAGIC
from asr.util.errors import CorpusError
from asr.util.text_lines import GZIP_MAGIC
from recipes import download as downloading
from recipes.download import Source, download, fetch, unpack
from tests.recipes.conftest import CONTENT


def source(*urls: str, **more: Any) -> Source:
    return Source("corpus.tar.gz", urls, GZIP_MAGIC, top="rm1", **more)


FETCHES: dict[str, tuple[bytes | None, list[int], bool, list[str | None] | None]] = {
    "whole": (None, [], True, [None]),
    "broken off twice": (None, [1000, 500], True, [None, "bytes=1000-", "bytes=1500-"]),
    "a part is there": (CONTENT[:777], [], True, ["bytes=777-"]),
    "all is there": (CONTENT, [], True, None),
    "more is there": (CONTENT + b"more", [], True, None),
    "a server without ranges": (None, [1000], False, None),
}
"""What is there before, bytes after which answers break off, whether the server knows ranges, and what is asked."""


@pytest.mark.parametrize("name", FETCHES)
def test_fetch_ends_with_the_whole_file(server, tmp_path, name):
    part, server.cut_after, server.ranges, asked = FETCHES[name]
    if part is not None:
        (tmp_path / "file.part").write_bytes(part)
    fetch(source(server.url), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert asked is None or server.asked == asked


def test_a_server_that_sends_another_part_is_not_believed(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT[:100])
    server.lie = "bytes 5-9/10"
    with pytest.raises(CorpusError, match="did not continue"):
        fetch(source(server.url), tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_connection_without_progress_raises_and_keeps_the_part(server, tmp_path):
    server.ranges = False
    server.cut_after = [1000] * 9
    with pytest.raises(CorpusError, match=r"could not be downloaded.*too early.*--download"):
        fetch(source(server.url), tmp_path / "file")
    assert (tmp_path / "file.part").stat().st_size == 1000


def test_without_a_network_one_sentence_says_what_to_do_by_hand(tmp_path):
    nowhere = "http://127.0.0.1:9/rm1_cepstra.tar.gz"
    with pytest.raises(CorpusError) as error:
        download(tmp_path / "corpus", [source(nowhere)])
    message = str(error.value)
    assert nowhere in message and str(tmp_path / "corpus" / "corpus.tar.gz") in message and "\n" not in message


def test_a_second_address_is_asked_where_the_first_sends_a_web_page(server, tmp_path):
    page = f"{server.url}?page"
    server.content = b"<html>choose a mirror</html>"
    with pytest.raises(CorpusError, match="<html>"):
        fetch(source(page), tmp_path / "file")
    assert not list(tmp_path.iterdir())
    server.content = CONTENT
    fetch(source("http://127.0.0.1:9/", server.url), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_file_larger_than_any_of_the_corpus_is_not_fetched(server, tmp_path, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_DOWNLOAD", 1000)
    with pytest.raises(CorpusError, match="at most 1000"):
        fetch(source(server.url), tmp_path / "file")


def tar(*members: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return buffer.getvalue()


GOOD = tar(("rm1/etc/rm1.dic", b"A AH\n"), ("./rm1/feat/abc/sr001.mfc", b"\0" * 56), ("README", b"read me"))


def test_the_archive_is_unpacked_and_what_came_is_recorded(server, tmp_path):
    server.content = GOOD
    pairs = Source("RM_G.fst", (server.url,), FST_MAGIC)
    (tmp_path / "RM_G.fst").write_bytes(FST_MAGIC)  # copied there by hand
    download(tmp_path, [source(server.url), pairs])
    assert (tmp_path / "rm1" / "etc" / "rm1.dic").read_bytes() == b"A AH\n"
    assert (tmp_path / "rm1" / "feat" / "abc" / "sr001.mfc").stat().st_size == 56
    assert not (tmp_path / "README").exists()
    digest = hashlib.sha256(GOOD).hexdigest()
    assert (tmp_path / "corpus.tar.gz.sha256").read_text() == f"{digest}  corpus.tar.gz\n"
    assert len(server.asked) == 1
    download(tmp_path, [source(server.url), pairs])
    assert len(server.asked) == 1


def test_a_file_that_has_changed_since_it_was_recorded_is_refused(server, tmp_path):
    server.content = GOOD
    (tmp_path / "corpus.tar.gz").write_bytes(GOOD)
    (tmp_path / "corpus.tar.gz.sha256").write_text("0" * 64 + "  corpus.tar.gz\n")
    with pytest.raises(CorpusError, match=r"corpus\.tar\.gz\.sha256"):
        download(tmp_path, [source(server.url)])
    assert not (tmp_path / "rm1").exists()


@pytest.mark.parametrize("kind", ["md5", "sha256"])
def test_file_with_another_published_checksum_is_refused(server, tmp_path, kind):
    server.content, server.cut_after = GOOD, [100]
    right = source(server.url, checksum=f"{kind}:{hashlib.new(kind, GOOD).hexdigest()}", n_bytes=len(GOOD))
    download(tmp_path / "right", [right])
    assert (tmp_path / "right" / "rm1" / "etc" / "rm1.dic").is_file() and server.asked[1] == "bytes=100-"
    with pytest.raises(CorpusError, match=f"published {kind.upper()}"):
        download(tmp_path / "wrong", [replace(right, checksum=f"{kind}:{'0' * 32}")])
    assert [path.name for path in (tmp_path / "wrong").iterdir()] == ["corpus.tar.gz"]


def test_file_of_another_published_size_is_removed(server, tmp_path):
    with pytest.raises(CorpusError, match=f"{len(CONTENT)} bytes"):
        download(tmp_path, [source(server.url, n_bytes=5)])
    assert not list(tmp_path.iterdir())


def test_folder_inside_an_archive_gets_another_name(server, tmp_path):
    server.content = tar(("./a/one.wav", b"1"), ("./list.txt", b"2"))
    download(tmp_path, [replace(source(server.url), top=".", target="corpus")])
    found = sorted(path.relative_to(tmp_path / "corpus").as_posix() for path in (tmp_path / "corpus").rglob("*"))
    assert found == ["a", "a/one.wav", "list.txt"]
    server.content = tar(("Top/a/one.wav", b"1"), ("Top/b/two.wav", b"2"))
    download(tmp_path, [replace(source(server.url), name="b.tar.gz", top="Top/b")])
    assert [path.name for path in (tmp_path / "Top").rglob("*")] == ["b", "two.wav"]


def special(kind: bytes, name: str = "rm1/odd") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def lying() -> bytes:
    """The archive's first entry claims a megabyte; it ends long before."""
    info = tarfile.TarInfo("rm1/etc/rm1.dic")
    info.size = 1 << 20
    return gzip.compress(info.tobuf() + b"A AH\n")


def corrupted() -> bytes:
    return GOOD[:-8] + b"\0\0\0\0" + GOOD[-4:]


EVIL: dict[str, tuple[Callable[[], bytes], str]] = {
    "a path upwards": (lambda: tar(("rm1/../../outside", b"x")), "leads out"),
    "an absolute path": (lambda: tar(("/tmp/outside", b"x")), "leads out"),
    "a backslash": (lambda: tar(("rm1\\..\\outside", b"x")), "leads out"),
    "a control character": (lambda: tar(("rm1/a\x1b[2J", b"x")), "leads out"),
    "a symbolic link": (lambda: tar(special(tarfile.SYMTYPE)), "link"),
    "a hard link": (lambda: tar(special(tarfile.LNKTYPE)), "link"),
    "a device": (lambda: tar(special(tarfile.CHRTYPE)), "device"),
    "a pipe": (lambda: tar(special(tarfile.FIFOTYPE)), "device"),
    "a sparse file": (lambda: tar(special(tarfile.GNUTYPE_SPARSE)), "sparse|damaged"),
    "a file twice": (lambda: tar(("rm1/a", b"x"), ("rm1/a", b"y")), "twice"),
    "a file that is a folder": (lambda: tar(("rm1/a", b"x"), ("rm1/a/b", b"y")), "both a file and a folder"),
    "a size that lies": (lying, "damaged"),
    "an end cut off": (lambda: GOOD[:-40], "damaged"),
    "a wrong checksum": (corrupted, "damaged"),
    "no archive at all": (lambda: gzip.compress(b"plain text"), "damaged|no files below"),
    "no gzip at all": (lambda: b"plain text", "damaged"),
    "nothing of the corpus": (lambda: tar(("other/a", b"x")), "no files below"),
}


@pytest.mark.parametrize("name", EVIL)
def test_of_an_evil_archive_nothing_is_unpacked(tmp_path, name):
    make, message = EVIL[name]
    (tmp_path / "inside").mkdir()
    archive = tmp_path / "inside" / "corpus.tar.gz"
    archive.write_bytes(make())
    with pytest.raises(CorpusError, match=message):
        unpack(archive, tmp_path / "inside" / "rm1", "rm1")
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert left == ["inside", "inside/corpus.tar.gz"]


def test_an_archive_that_becomes_too_large_is_refused_while_it_is_small(tmp_path, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_UNPACKED", 1 << 20)
    (tmp_path / "corpus.tar.gz").write_bytes(tar(("rm1/a", bytes(600_000)), ("rm1/b", bytes(600_000))))
    with pytest.raises(CorpusError, match="bytes when extracted"):
        unpack(tmp_path / "corpus.tar.gz", tmp_path / "rm1", "rm1")
    assert not (tmp_path / "rm1").exists()


def test_an_archive_of_too_many_entries_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_MEMBERS", 3)
    (tmp_path / "corpus.tar.gz").write_bytes(tar(*((f"rm1/{number}", b"x") for number in range(5))))
    with pytest.raises(CorpusError, match="exceeds the number"):
        unpack(tmp_path / "corpus.tar.gz", tmp_path / "rm1", "rm1")
