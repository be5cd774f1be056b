"""The lists of Sphinx corpora: what they say, and the line of whatever is wrong."""

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.corpus.sphinx_lists import read_fileids, read_transcription
from asr.util.errors import CorpusError


def saved(tmp_path: Path, text: str, name: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_fileids_are_read_in_order_with_their_lines(tmp_path: Path) -> None:
    found = read_fileids(saved(tmp_path, "b/two\r\n\n ./a//one \nalone\n", "x.fileids"))
    assert [(entry.line, str(entry.path)) for entry in found] == [(1, "b/two"), (3, "a/one"), (4, "alone")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a/b\n/etc/passwd\n", "x.fileids:2: '/etc/passwd' is an absolute path"),
        ("a/b\n\na/../../c\n", "x.fileids:3: 'a/../../c' leaves the folder"),
        ("..\n", "x.fileids:1: '..' leaves"),
        ("a/b\nc/d\na/b\n", "x.fileids:3: 'a/b' is already on line 1"),
        ("a/b\n./a//b\n", "x.fileids:2: './a//b' is already on line 1"),
        ("a/b 0 100 a-b\n", "x.fileids:1: 'a/b 0 100 a-b' has white space"),
        (".\n", "x.fileids:1: '.' is not the path"),
        ("a\0b\n", "x.fileids, line 1: contains a null byte"),
        ("A (x)\nB C\n", "x.transcription:2: 'C' at the end of the line is not an id in brackets"),
        ("A B(2)\n", "x.transcription:1: 'B(2)' at the end of the line is not an id in brackets"),
        ("A ()\n", "x.transcription:1: '()' at the end of the line is not an id in brackets"),
        ("A (x\n", "x.transcription:1: '(x' at the end of the line is not an id"),
        ("A (;;x)\n", "x.transcription:1: '(;;x)' at the end of the line begins like a comment"),
        ("A (\x07)\n", "x.transcription:1: '(\\x07)' at the end of the line has a character that cannot be printed"),
    ],
)
def test_malformed_line_is_refused_with_its_number(tmp_path: Path, text: str, reason: str) -> None:
    name, read = ("x.fileids", read_fileids) if "fileids" in reason else ("x.transcription", read_transcription)
    with pytest.raises(CorpusError) as refused:
        read(saved(tmp_path, text, name))
    assert reason in str(refused.value)


def test_transcripts_lose_silences_and_marks_of_variants(tmp_path: Path) -> None:
    text = "<s> SHOW THE(2) <sil> SHIPS(12) </s> (sr249)\n<S> <SIL> </S> (adg0_4/sr250)\r\n\nA(B) (2) A.(2) (x)\n(y)\n"
    found = read_transcription(saved(tmp_path, text, "x.transcription"))
    assert [tuple(entry) for entry in found] == [
        (1, "sr249", ("SHOW", "THE", "SHIPS")),
        (2, "adg0_4/sr250", ()),
        (4, "x", ("A(B)", "(2)", "A.")),
        (5, "y", ()),
    ]


def test_a_long_line_of_escapes_is_quoted_in_part(tmp_path: Path) -> None:
    for read, line in ((read_fileids, "a/b\x1b " * 1000), (read_transcription, "A (" + "\x1b" * 1000)):
        with pytest.raises(CorpusError) as refused:
            read(saved(tmp_path, line + "\n", "x"))
        assert len(str(refused.value)) < 1000 and str(refused.value).isprintable()


PATH_LIKE = st.text(st.sampled_from("ab./- \n\t(2)<s>\\é\x1b"), max_size=30)


@given(text=st.text(max_size=40) | PATH_LIKE)
def test_any_text_gives_paths_below_the_folder_or_a_corpus_error(tmp_path_factory, text: str) -> None:
    path = saved(tmp_path_factory.getbasetemp(), text, "any.fileids")
    try:
        found = read_fileids(path)
    except CorpusError as error:
        assert str(path) in str(error)
        return
    assert len({entry.path for entry in found}) == len(found)
    root = PurePosixPath("/root")
    assert all((root / entry.path).is_relative_to(root) and ".." not in entry.path.parts for entry in found)


@given(text=st.text(max_size=40) | PATH_LIKE)
def test_any_text_gives_one_transcript_a_line_or_a_corpus_error(tmp_path_factory, text: str) -> None:
    path = saved(tmp_path_factory.getbasetemp(), text, "any.transcription")
    try:
        found = read_transcription(path)
    except CorpusError as error:
        assert str(path) in str(error)
        return
    assert len(found) == sum(bool(line.split()) for line in text.removeprefix("\ufeff").split("\n"))
    assert all(word.split() == [word] for entry in found for word in entry.words)
