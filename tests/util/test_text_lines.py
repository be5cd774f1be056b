"""One way in for text files, whatever they hold."""

import bz2
import gzip
import lzma
import os
import re
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest

from asr.alignment.ctm import read_ctm
from asr.corpus.htk_labels import read_labels
from asr.corpus.list_file import read_list
from asr.corpus.synth_sentences import read_sentence_grammar
from asr.features.augmentation import read_noise
from asr.grammar import read_arpa, read_word_pair
from asr.lexicon import read_lexicon
from asr.scoring.files import read_transcripts, read_utt2spk
from asr.training.config import load_config
from asr.util.errors import CorpusError, GrammarError, Issue
from asr.util.text_lines import MAX_LINE_LENGTH, read_text, read_text_lines

MARK = b"\xef\xbb\xbf"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "text"


def bomb(n_mebibytes: int) -> bytes:
    """Zeros, packed about a thousand times."""
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    return b"".join([*(packer.compress(zeros) for _ in range(n_mebibytes)), packer.flush()])


def refused(path: Path, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason) as caught:
        read_text_lines(path, CorpusError)
    assert str(path) in str(caught.value)


def test_lines_end_at_a_line_feed_alone(path: Path) -> None:
    path.write_bytes("a b\r\n\nc\u2028d\x85e\x0bf".encode())
    assert read_text_lines(path, CorpusError) == ["a b\r", "", "c\u2028d\x85e\x0bf"]
    path.write_bytes(b"")
    assert read_text_lines(path, CorpusError) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_belongs_to_no_line(path: Path, pack) -> None:
    path.write_bytes(pack(MARK + b"u1 a\nu2 b\n"))
    assert read_text_lines(path, CorpusError) == ["u1 a", "u2 b"]


READERS = {
    "list": (read_list, b"u1 a\n", lambda found: "u1" in found),
    "transcripts": (read_transcripts, b"u1 a\n", lambda found: "u1" in found),
    "speakers": (read_utt2spk, b"u1 a\n", lambda found: found == {"u1": "a"}),
    "times": (read_ctm, b"u1 1 0 1 a\n", lambda found: found[0].utterance == "u1"),
    "labels": (read_labels, b'#!MLF!#\n"*/u1.lab"\na\n.\n', lambda found: "u1" in found),
    "lexicon": (read_lexicon, b"A a\n", lambda found: found.words == ("A",)),
    "word pairs": (read_word_pair, b">SENTENCE-END\na\n>a\nSENTENCE-END\n", lambda found: "a" in found),
    "settings": (load_config, b"seed = 3\n", lambda found: found.seed == 3),
    "sentences": (read_sentence_grammar, b"<SENTENCE> = A | B\n", lambda found: found.words == ("A", "B")),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_reader_of_text_takes_a_byte_order_mark_and_gzip(path: Path, reader: str, pack) -> None:
    read, content, is_right = READERS[reader]
    path.write_bytes(pack(MARK + content))
    assert is_right(read(path))


def test_noise_list_with_a_byte_order_mark_keeps_its_first_clip(tmp_path: Path) -> None:
    (tmp_path / "hum.wav").touch()
    (tmp_path / "noise.scp").write_bytes(MARK + b"hum hum.wav\n")
    assert read_noise(tmp_path).ids == ("hum",)


def test_several_gzip_members_are_one_text_and_zeros_may_follow(path: Path) -> None:
    a, empty, b = (gzip.compress(text, mtime=0) for text in (b"a\n", b"", b"b\n" * 100_000))
    path.write_bytes(a + empty + bytes(600) + b + bytes(512))
    assert read_text_lines(path, CorpusError) == ["a"] + ["b"] * 100_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b"a b c\n" * 10_000, mtime=0)[:-1], "truncated"),
        (gzip.compress(b"a b c\n" * 10_000, mtime=0)[:30], "truncated"),
        (b"\x1f\x8b", "truncated"),
        (gzip.compress(b"a\n", mtime=0) + b"rubbish", "7 bytes follow its end"),
        (gzip.compress(b"a\n", mtime=0)[:-5] + b"12345", "damaged gzip file"),
        (b"\x1f\x8b\x08" + bytes(40), "damaged gzip file|truncated"),
        (gzip.compress(b"u1 a\nu2 \0\n", mtime=0), "line 2: contains a null byte"),
        (gzip.compress(b"u1 a\nu2 \xff\n", mtime=0), "line 2: the byte 0xff is not UTF-8"),
        (b"u1 a\nu2 \0\n", "line 2: contains a null byte"),
        (b"a\n\n" + b"b" * (MAX_LINE_LENGTH + 1), f"line 3: {MAX_LINE_LENGTH + 1} characters"),
        (gzip.compress(b"\n", mtime=0) * 100_001, "follow its end"),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(path: Path, content: bytes, reason: str) -> None:
    path.write_bytes(content)
    refused(path, reason)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(range(256)), "KenLM.*ARPA"),
        (gzip.compress(b"mmap lm http://kheafield.com/code format version 5\n\0\xff", mtime=0), "KenLM.*ARPA"),
        (b"\x10\0\0\0Darpa Trigram LM\0" + bytes(range(256)), "Sphinx.*sphinx_lm_convert"),
        (b"Trie Language Model\x03\xff\0\0", "Sphinx"),
        (b"SRILM_BINARY_NGRAM_002\n\xff\0", "SRILM.*-write-lm"),
        (b"blmt 3 10 20 30\n\xff\0", "IRSTLM.*compile-lm"),
        (bz2.compress(b"\\data\\\n"), "bzip2"),
        (lzma.compress(b"\\data\\\n"), "xz"),
        (b"\x28\xb5\x2f\xfd\x04\0", "zstd"),
        (b"PK\x03\x04\x14\0\xff", "zip"),
        (b"\xd6\xfd\xb2\x7e\x06\0\0\0vector", "OpenFst"),
        ("u1 a\n".encode("utf-16"), "UTF-16.*iconv -f utf-16"),
        (b"RIFF\x24\x08\0\0WAVEfmt ", "WAV"),
        (bytes(range(256)) * 8, "binary"),
    ],
)
def test_text_of_binary_kind_names_the_kind(path: Path, content: bytes, kind: str) -> None:
    path.write_bytes(content)
    refused(path, kind)
    with pytest.raises(GrammarError, match=kind):
        read_arpa(path)
    issues = []
    assert read_text_lines(path, CorpusError, issues) == []
    (issue,) = issues
    assert issue.code == "unreadable"
    assert re.search(kind, issue.message)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_read_text_lines_collects_an_issue_for_each_bad_line(path: Path, pack) -> None:
    path.write_bytes(pack(MARK + b"u1 a\nu2 \xff\nu3\0 b\n" + b"c" * (MAX_LINE_LENGTH + 1) + b"\nu5 e\n"))
    issues: list[Issue] = []
    lines = read_text_lines(path, CorpusError, issues)
    assert (lines[:3], len(lines)) == (["u1 a", "u2 \ufffd", "u3 b"], 5)
    assert [(issue.code, issue.line) for issue in issues] == [("not-utf8", 2), ("zero-byte", 3), ("unreadable", 4)]
    assert all(issue.path == path and issue.stops for issue in issues)


def test_text_beginning_like_a_kind_is_read(path: Path) -> None:
    for text in ("RIFF R IH F\n", "BZh B\n", "OggS O\n", "\x07 bell\n"):
        path.write_text(text)
        assert read_text_lines(path, CorpusError) == [text.rstrip("\n")]


def test_a_gzip_bomb_is_refused_while_it_is_small(path: Path) -> None:
    path.write_bytes(bomb(512))
    started = time.monotonic()
    tracemalloc.start()
    refused(path, "more than 32 MiB of text")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20
    assert time.monotonic() - started < 5.0


def test_a_bomb_behind_a_harmless_member_is_refused_as_well(path: Path) -> None:
    path.write_bytes(gzip.compress(os.urandom(1 << 16).hex().encode()) + bomb(256))
    refused(path, "when decompressed")


def test_many_small_members_cost_no_more_than_their_bytes(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a\n", mtime=0) * 50_000)
    started = time.monotonic()
    assert len(read_text_lines(path, CorpusError)) == 50_000
    assert time.monotonic() - started < 5.0


def test_a_file_larger_than_its_kind_is_refused(path: Path) -> None:
    path.write_bytes(b"a" * 3000)
    with pytest.raises(CorpusError, match="larger than 2 KiB"):
        read_text(path, CorpusError, largest=2048)
    path.write_bytes(gzip.compress(b"a" * 3000, mtime=0))
    with pytest.raises(CorpusError, match="more than 2 KiB"):
        read_text(path, CorpusError, largest=2048)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    refused(tmp_path, "not a regular file")
    refused(tmp_path / "none", "cannot be read: No such file")
    refused(Path("/dev/zero"), "not a regular file")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "not a regular file")
    refused(tmp_path / ("x" * 500), "cannot be read")


def test_a_second_byte_order_mark_is_no_text_either(path: Path) -> None:
    path.write_bytes(MARK + MARK + b"utt1 x\n")
    assert read_text(path, CorpusError) == "utt1 x\n"
