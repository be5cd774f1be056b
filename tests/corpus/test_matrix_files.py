"""Matrices of many utterances: every form gives the same, and files of other content are refused."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from asr.corpus.kaldi_ark import write_archive
from asr.corpus.matrix_files import read_matrices
from asr.util.errors import CorpusError

GIVEN = {"ä-1": np.arange(6.0).reshape(3, 2), "b": np.ones((1, 2))}


def test_every_form_gives_the_same_matrices(tmp_path: Path) -> None:
    write_archive(tmp_path / "lists" / "given.ark", tmp_path / "lists" / "given.scp", GIVEN.items())
    np.savez_compressed(tmp_path / "given.npz", **GIVEN)
    (tmp_path / "folder").mkdir()
    for name, matrix in GIVEN.items():
        np.save(tmp_path / "folder" / f"{name}.npy", np.asfortranarray(matrix))
    for place in ("lists/given.ark", "lists/given.scp", "given.npz", "folder"):
        found = read_matrices(tmp_path / place)
        assert found.keys() == GIVEN.keys(), place
        for name, matrix in GIVEN.items():
            np.testing.assert_array_equal(found[name], matrix)


def _bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1 << 22))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("text.ark", lambda path: path.write_text("a  [ 1 2 ]\n")),
        ("cut.ark", lambda path: path.write_bytes(b"a \0BFM \x04\x02\0\0\0\x04\x02\0\0\0" + bytes(9))),
        ("range.scp", lambda path: path.write_text("a given.ark:2[0:1]\n")),
        ("missing.scp", lambda path: path.write_text("a given.ark:2\n")),
        ("text.npz", lambda path: path.write_text("text")),
        ("bomb.npz", _bomb),
        ("objects.npz", lambda path: np.savez(path, a=np.array([[{}]], object))),
        ("texts.npz", lambda path: np.savez(path, a=np.array([["x"]]))),
    ],
)
def test_files_of_other_content_are_refused(tmp_path: Path, name: str, write) -> None:
    write(tmp_path / name)
    with pytest.raises(CorpusError, match=name):
        read_matrices(tmp_path / name)


def test_repeated_utterance_of_an_archive_is_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "once.ark", tmp_path / "once.scp", GIVEN.items())
    (tmp_path / "twice.ark").write_bytes(2 * (tmp_path / "once.ark").read_bytes())
    with pytest.raises(CorpusError, match="no new utterance"):
        read_matrices(tmp_path / "twice.ark")
