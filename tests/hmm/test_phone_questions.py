"""Files of questions about neighbouring phones."""

from pathlib import Path

import numpy as np
import pytest

from asr.hmm.phone_questions import PhoneQuestion, read_questions
from asr.util.errors import ConfigError

PHONES = ("AA", "M", "N", "NG", "S", "SH")
HTK = """RO 100.0 stats
TR 0

QS "L_Nasal" { M-*, N-*+*, "NG-*" }
QS 'R_Hiss' {*+S*}
QS  L_Pause  { sil-*,sp-* }
QS "L_Sound" { *-* }
QS "C_Vowel" { *-AA+*, AA }
TB 350.0 "ST_AA_2_" {("AA","*-AA+*","AA+*","*-AA").state[2]}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "questions.hed"


def test_questions_of_htk(file):
    file.write_text(HTK)
    found = {question.name: question for question in read_questions(file)}
    assert {name: question.side for name, question in found.items()} == {
        "L_Nasal": "left",
        "R_Hiss": "right",
        "L_Pause": "left",
        "L_Sound": "left",
        "C_Vowel": "itself",
    }
    answers = {name: np.flatnonzero(question.answers(PHONES)).tolist() for name, question in found.items()}
    assert answers == {
        "L_Nasal": [2, 3, 4],
        "R_Hiss": [5, 6],
        "L_Pause": [0],
        "L_Sound": [1, 2, 3, 4, 5, 6],
        "C_Vowel": [1],
    }


def test_questions_of_kaldi(file):
    file.write_text("# nasals\nM N NG\r\n\nS SH sil\n")
    assert read_questions(file) == (
        PhoneQuestion(name="line 2", phones=("M", "N", "NG")),
        PhoneQuestion(name="line 4", phones=("S", "SH", "sil")),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "hed has no questions"),
        ("QS L_Nasal\n", "hed:1: 'QS L_Nasal' is not a question"),
        ('TR 0\nQS "Both" { N-*, *+N }\n', "hed:2: the question 'Both' is about both neighbors"),
        ('QS "Odd" { N-A-* }\n', r"hed:1: 'N-A-\*' is not a pattern"),
        ('QS "None" { }\n', "hed:1: '' is not a pattern"),
    ],
)
def test_what_is_no_question_is_told_with_its_line(file, text, message):
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_questions(file)


def test_a_file_that_is_not_there_is_told(file):
    with pytest.raises(ConfigError, match=r"questions\.hed cannot be read: No such file"):
        read_questions(file)
