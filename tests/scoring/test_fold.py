"""Maps of symbols to classes, in the form of Kaldi's phones.60-48-39.map."""

import numpy as np
import pytest

import asr
from asr.scoring.confusion_plot import confusion_matrix, write_confusions
from asr.scoring.fold import read_fold
from asr.util.errors import ConfigError, CorpusError

TIMIT = "aa aa aa\nao ao aa\nax-h ax ah\nq\nbcl vcl sil\nzh zh sh\n"


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="phones.map"):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write_file


def test_a_column_gives_the_classes_of_all_columns_before_it(write):
    path = write(TIMIT)
    classes = {"aa": "aa", "ao": "aa", "ax-h": "ah", "ax": "ah", "q": "", "bcl": "sil", "vcl": "sil", "zh": "sh"}
    assert read_fold(f"{path}:3") == classes
    assert read_fold(f"{path}:2") == {"aa": "aa", "ao": "ao", "ax-h": "ax", "q": "", "bcl": "vcl", "zh": "zh"}


def test_a_file_of_two_columns_needs_no_number(write):
    assert read_fold(write("a x\nb x\nc\n\n")) == {"a": "x", "b": "x", "c": ""}
    assert read_fold(write("a x\n", "file:3")) == {"a": "x"}  # a name that ends like a column


@pytest.mark.parametrize(
    ("content", "column", "token"),
    [
        (TIMIT, "", "3 columns. Use FILE:COLUMN"),
        (TIMIT, ":1", "no column 1"),
        (TIMIT, ":4", "no column 4"),
        ("", "", "no column 2"),
        ("a x\na y\n", "", "phones.map:2: 'a' maps to 'y', but to 'x' on line 1"),
        ("a x\nb\u200b x\n", "", "phones.map:2: .*U\\+200B"),
    ],
)
def test_maps_that_are_not_clear_are_refused(write, content, column, token):
    with pytest.raises(CorpusError, match=token):
        read_fold(f"{write(content)}{column}")


def test_both_sides_are_folded_before_scoring(write):
    reference, hypothesis = {"u": "ao q zh bcl aa"}, {"u": "aa sh sil q ao"}
    assert asr.score(reference, hypothesis).errors == 5
    report = asr.score(reference, hypothesis, fold=f"{write(TIMIT)}:3")
    assert (report.words, report.errors, report.confusions()) == (4, 0, ())


def test_the_confusion_matrix_is_counted_by_hand(tmp_path):
    report = asr.score({"u": "a b c", "v": "a b", "w": "a"}, {"u": "a b x", "v": "b b", "w": ""})
    classes, matrix = confusion_matrix(report)
    assert classes == ["a", "b", "c"]
    thirds = 100 / 3
    expected = [[thirds, thirds, 0, 0, thirds], [0, 100, 0, 0, 0], [0, 0, 0, 100, 0]]
    assert np.allclose(matrix, expected)
    assert confusion_matrix(report, 1)[0] == ["a"]
    for name in ("c.png", "c.svg"):
        write_confusions(report, tmp_path / name)
        content = (tmp_path / name).read_bytes()
        write_confusions(report, tmp_path / name)
        assert content == (tmp_path / name).read_bytes()
    with pytest.raises(ConfigError, match=r"'.txt'"):
        write_confusions(report, tmp_path / "c.txt")
