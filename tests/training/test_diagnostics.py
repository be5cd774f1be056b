"""How bad word errors are said to be, and what is said to help first."""

import pytest

from asr.alignment.suspects import Suspect, TranscriptCheck
from asr.training.diagnostics import FEW_SPEAKERS, LITTLE_SPEECH, advice

FITTING = TranscriptCheck({f"u{number}": -0.5 for number in range(100)}, 98.0, ())


def heard(n_words: int, vocabulary: int = 20, n_speakers: int = FEW_SPEAKERS) -> tuple[dict, dict]:
    """Transcripts of ten words each, and their speakers."""
    words = [f"W{number % vocabulary}" for number in range(n_words)]
    spoken = {f"u{first}": words[first : first + 10] for first in range(0, n_words, 10)}
    return spoken, {name: f"s{number % n_speakers}" for number, name in enumerate(spoken)}


@pytest.mark.parametrize(
    ("wer", "begins"),
    [(25.0, None), (26.0, "many words are wrong (26.0 %"), (78.0, "most words are wrong (78.0 %"),
     (83.3, "so little is recognized (83.3 %")],
)  # fmt: skip
def test_it_is_graded_by_the_word_errors(wer: float, begins: str | None) -> None:
    texts = advice(wer, "2-gram", *heard(LITTLE_SPEECH), FITTING)
    if begins is None:
        assert texts == []
    else:
        assert texts[0].startswith(begins)
        assert texts[0].endswith("under this grammar, the 2-gram of the training transcripts")
        assert texts[1].startswith("what helps, the likeliest first: (1) ")


def steps(*arguments: object) -> list[str]:
    return advice(60.0, "2-gram", *arguments)[1].partition("(1) ")[2].split("; (")  # type: ignore[arg-type]


def test_speech_and_speakers_are_asked_for_where_there_are_few_of_them() -> None:
    few = "more speech: training heard 4,990 words, 20 of them different, of 8 speakers"
    assert steps(*heard(LITTLE_SPEECH - 10), FITTING)[0] == few
    assert steps(*heard(LITTLE_SPEECH, n_speakers=1), FITTING)[0].startswith(
        "more speakers: training heard 5,000 words"
    )
    assert steps(*heard(100, n_speakers=2), FITTING)[0].startswith("more speech and more speakers: ")
    assert steps(*heard(LITTLE_SPEECH, vocabulary=1000), FITTING)[0].startswith("more speech: ")
    assert steps(*heard(LITTLE_SPEECH), FITTING)[0].startswith("a grammar that allows less")


def test_transcripts_that_are_suspect_come_before_all_else() -> None:
    def check(kind: str, n: int) -> TranscriptCheck:
        return TranscriptCheck(FITTING.scores, 60.0, tuple(Suspect(kind, f"u{i}", -9.0, "fits ill") for i in range(n)))  # type: ignore[arg-type]

    for found in (check("corpus", 1), check("speaker", 1), check("utterance", 6)):
        assert steps(*heard(100), found)[0].startswith("transcripts that are those of the audio: suspects.tsv")
    assert steps(*heard(100), check("utterance", 5))[0].startswith("more speech")
    assert steps(*heard(100), check("stage", 9))[0].startswith("more speech")
    assert steps(*heard(100), FITTING, ["silence has only 3 %"])[0].startswith("the alignment")
