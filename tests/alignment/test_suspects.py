"""What is out of the ordinary, from scores that are made up."""

import logging
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from asr.alignment.score_files import log_suspects, write_scores, write_suspects
from asr.alignment.suspects import Suspect, TranscriptCheck, check_transcripts, first_rivals
from asr.alignment.transcript_scores import TranscriptScore
from asr.alignment.word_edits import EditMargins

N_SPEAKERS, N_EACH = 8, 10


@dataclass
class Scores:
    """Scores of right transcripts around -1, of wrong ones around -8, those of some utterances replaced."""

    replaced: dict[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self):
        self.names = [f"s{speaker}-{number}" for speaker in range(N_SPEAKERS) for number in range(N_EACH)]
        self.transcripts = {name: (name,) for name in self.names}
        self.speakers = {name: name.partition("-")[0] for name in self.names}
        random = np.random.default_rng(self.seed)
        self.right = {name: -1.0 - 0.3 * abs(random.normal()) for name in self.names} | self.replaced

    def score(self, rivals):
        random = np.random.default_rng(len(rivals))
        return {
            name: TranscriptScore(self.right[name], -8.0 + random.normal(size=len(others)))
            for name, others in rivals.items()
        }

    def check(self) -> TranscriptCheck:
        return check_transcripts(self.score(first_rivals(self.transcripts)), self.speakers)


def test_right_transcripts_are_no_suspects():
    check = Scores().check()
    assert check.suspects == ()
    assert check.beaten == 100.0
    assert -1.3 < check.median < -1.0
    assert "better than 100 % of the transcripts of other utterances" in str(check)


def test_transcript_no_better_than_others_is_named():
    check = Scores({"s3-4": -7.5, "s5-1": -8.5}).check()
    assert {(suspect.kind, suspect.name, suspect.score) for suspect in check.suspects} == {
        ("utterance", "s5-1", -8.5),
        ("utterance", "s3-4", -7.5),
    }
    assert all("hardly better than transcripts of other utterances" in suspect.reason for suspect in check.suspects)
    assert check.trust["s5-1"] < 0.5 < check.trust["s5-2"]


@pytest.mark.parametrize("n_each", [1, 2, 3])
def test_check_transcripts_with_many_wrong_names_all(n_each):
    wrong = [f"s{speaker}-{number}" for speaker in range(N_SPEAKERS) for number in range(n_each)]
    named = {one.name for one in Scores(dict.fromkeys(wrong, -8.0)).check().suspects if one.kind == "utterance"}
    assert named == set(wrong)


def test_check_transcripts_with_masked_wrong_ones_names_most():
    random = np.random.default_rng(1)
    scores = Scores()
    scores.right = {name: float(random.normal(-1.0, 0.3)) for name in scores.names}
    wrong = [f"s{speaker}-{number}" for speaker in range(N_SPEAKERS) for number in range(3)]
    scores.right |= {name: float(random.normal(-2.6, 0.3)) for name in wrong}
    check = check_transcripts(
        {name: TranscriptScore(score, random.normal(-2.6, 0.4, size=4)) for name, score in scores.right.items()},
        scores.speakers,
    )
    named = {one.name for one in check.suspects if one.kind == "utterance"}
    assert len(named & set(wrong)) >= 20
    assert len(named - set(wrong)) <= 1


def test_check_transcripts_always_lists_the_least_trusted():
    check = Scores({"s3-4": -8.0, "s5-1": -2.6}).check()
    assert [one.name for one in check.suspects] == ["s3-4"]
    assert len(check.listed) == 4
    assert check.listed[0].name == "s5-1"
    assert {one.kind for one in check.listed} == {"listed"}
    assert [check.trust[one.name] for one in check.listed] == sorted(check.trust.values())[1:5]


def test_check_transcripts_lists_two_per_cent_of_a_large_corpus():
    random = np.random.default_rng(0)
    found = {
        f"u{number}": TranscriptScore(random.normal(-1.0, 0.1), random.normal(-8.0, 1.0, size=4))
        for number in range(500)
    }
    check = check_transcripts(found, dict.fromkeys(found, "s"))
    assert len(check.suspects) + len(check.listed) == 10


def test_check_transcripts_with_a_low_margin_names_the_edit():
    scores = Scores()
    random = np.random.default_rng(0)
    found = {
        name: replace(one, edits=EditMargins(*random.normal((10.0, -3.0, -10.0, -20.0))))
        for name, one in scores.score(first_rivals(scores.transcripts)).items()
    }
    found["s1-1"] = replace(found["s1-1"], edits=EditMargins(-10.0, -3.0, -10.0, -20.0))
    found["s2-2"] = replace(found["s2-2"], edits=EditMargins(10.0, -20.0, -10.0, -20.0))
    reasons = {one.name: one.reason for one in check_transcripts(found, scores.speakers).suspects}
    assert set(reasons) == {"s1-1", "s2-2"}
    assert "without one of its words" in reasons["s1-1"]
    assert "a word may be missing" in reasons["s2-2"]


def test_transcripts_in_disorder_are_told_of_the_corpus():
    random = np.random.default_rng(1)
    names = Scores().names
    replaced = (-7.9 + random.normal(size=len(names))).tolist()
    (suspect,) = Scores(dict(zip(names, replaced, strict=True))).check().suspects
    assert (suspect.kind, suspect.name) == ("corpus", "all")
    assert "fit better than only" in suspect.reason


def test_a_speaker_whose_transcripts_are_in_disorder_is_named():
    random = np.random.default_rng(1)
    check = Scores({f"s2-{number}": float(-7.9 + 0.5 * random.normal()) for number in range(N_EACH)}).check()
    assert (check.suspects[0].kind, check.suspects[0].name) == ("speaker", "s2")
    assert {suspect.name.partition("-")[0] for suspect in check.suspects} == {"s2"}
    assert len(check.suspects) > N_EACH / 2


def test_speaker_far_below_the_others_is_named():
    random = np.random.default_rng(1)
    check = Scores({f"s6-{number}": float(-4.0 + 0.2 * random.normal()) for number in range(N_EACH)}).check()
    assert check.suspects[0].kind == "speaker"
    assert "much worse than those of other speakers" in check.suspects[0].reason


def test_a_handful_of_utterances_or_of_one_transcript_is_not_judged():
    scores = Scores()
    found = scores.score(first_rivals(dict.fromkeys(scores.names[:5], ())))
    check = check_transcripts(found, scores.speakers)
    assert check.suspects == check.listed == ()
    alike = {name: TranscriptScore(-1.0, np.zeros(0)) for name in scores.names}
    check = check_transcripts(alike, scores.speakers)
    assert check.suspects == () and np.isnan(check.beaten)
    assert "other utterances" not in str(check)


def test_scores_and_suspects_are_written_as_lines_with_tabs(tmp_path):
    suspects = (Suspect("stage", "gmm", float("nan"), "it fell"), Suspect("utterance", "b", -7.25, "fits\nill"))
    write_suspects(tmp_path / "suspects.tsv", suspects, {"b": ("ONE", "TWO")})
    assert (tmp_path / "suspects.tsv").read_text().splitlines() == [
        "kind\tname\tscore\treason\ttranscript",
        "stage\tgmm\t-\tit fell\t",
        "utterance\tb\t-7.2500\tfits ill\tONE TWO",
    ]
    write_scores(tmp_path / "scores.tsv", TranscriptCheck({"b": -7.25, "a": -1.0}, 90.0, suspects, {"b": 0.25}))
    assert (tmp_path / "scores.tsv").read_text().splitlines() == [
        "utterance\tscore\ttrust",
        "a\t-1.0000\t-",
        "b\t-7.2500\t0.2500",
    ]


STAGE = Suspect("stage", "gmm-16", float("nan"), "silence was lost")
UTTERANCES = tuple(Suspect("utterance", name, -3.0, "fits badly") for name in ("a-1", "a-2"))


SPEAKER, CORPUS = (Suspect(kind, name, -3.0, "fits badly") for kind, name in (("speaker", "b"), ("corpus", "all")))


@pytest.mark.parametrize(
    ("suspects", "warnings"),
    [
        ((SPEAKER, *UTTERANCES, STAGE), ["the transcripts of 1 speaker and 2 of 1,200 transcripts ", "stage"]),
        (UTTERANCES[:1], ["1 of 1,200 transcripts "]),
        ((CORPUS,), ["all transcripts "]),
        ((STAGE, STAGE), ["stage"]),
        ((), []),
    ],
)
def test_log_suspects_counts_them_and_names_their_list(caplog, suspects, warnings):
    check = TranscriptCheck({f"u{number}": -0.5 for number in range(1200)}, 97.0, suspects)
    with caplog.at_level(logging.INFO):
        log_suspects(check, Path("run/suspects.tsv"))
    assert [record.levelname for record in caplog.records] == ["INFO", *["WARNING"] * len(warnings)]
    assert str(check) in caplog.messages[0]
    for message, token in zip(caplog.messages[1:], warnings, strict=True):
        assert token in message and "run/suspects.tsv" in message
