"""What is out of the ordinary, from scores that are made up."""

import logging
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from asr.alignment.score_files import tell, write_scores, write_suspects
from asr.alignment.suspects import Suspect, TranscriptCheck, check_transcripts, first_rivals
from asr.alignment.transcript_scores import TranscriptScore

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
        self.looked_at: list[str] = []

    def score(self, rivals):
        self.looked_at += rivals
        random = np.random.default_rng(len(rivals))
        return {
            name: TranscriptScore(self.right[name], -8.0 + random.normal(size=len(others)))
            for name, others in rivals.items()
        }

    def check(self, frames: int = 300) -> TranscriptCheck:
        first = self.score(first_rivals(self.transcripts))
        self.looked_at.clear()
        lengths = dict.fromkeys(self.names, frames)
        return check_transcripts(first, self.score, self.transcripts, self.speakers, lengths)


def test_right_transcripts_are_no_suspects():
    check = Scores().check()
    assert check.suspects == ()
    assert check.beaten == 100.0
    assert -1.3 < check.median < -1.0
    assert "better than 100 % of the transcripts of other utterances" in str(check)


def test_transcript_no_better_than_others_is_named():
    scores = Scores({"s3-4": -7.5, "s5-1": -8.5})
    check = scores.check()
    assert [(suspect.kind, suspect.name, suspect.score) for suspect in check.suspects] == [
        ("utterance", "s5-1", -8.5),
        ("utterance", "s3-4", -7.5),
    ]
    assert "than 40 transcripts of other utterances" in check.suspects[0].reason
    assert {"s3-4", "s5-1"} <= set(scores.looked_at)
    assert len(scores.looked_at) < 10


def test_a_fifth_of_wrong_transcripts_do_not_hide_each_other():
    wrong = [f"s{speaker}-{number}" for speaker in range(N_SPEAKERS) for number in (0, 1)]
    named = {one.name for one in Scores(dict.fromkeys(wrong, -8.5)).check().suspects if one.kind == "utterance"}
    assert named == set(wrong)


def test_where_the_worse_half_spreads_wide_more_is_needed_to_stand_out():
    clean, heavy = Scores({"s3-4": -4.4}), Scores({"s3-4": -4.4})
    for number in range(N_SPEAKERS):  # a model that fits its speech badly: a tail of correct transcripts
        heavy.right |= {f"s{number}-{place}": -3.0 - 0.3 * place for place in (0, 1)}
    assert [one.name for one in clean.check().suspects] == ["s3-4"]
    assert heavy.check().suspects == ()


def test_of_few_different_transcripts_another_has_to_be_what_was_said():
    scores = Scores({"s3-4": -7.5, "s5-1": -7.6})
    for name in scores.names:
        scores.transcripts[name] = (name[-1],)
    said_elsewhere = {"s3-4"}

    def with_the_right_one(rivals, score=scores.score):
        found = score(rivals)
        for name in said_elsewhere & set(found):
            found[name].rivals[0] = -1.1
        return found

    scores.score = with_the_right_one
    assert [(one.name, one.reason[:11]) for one in scores.check().suspects] == [
        ("s5-1", "fits much w"),
        ("s3-4", "fits hardly"),
    ]


def test_transcript_far_below_the_others_is_named():
    (suspect,) = Scores({"s0-0": -4.4}).check().suspects
    assert suspect.name == "s0-0"
    assert "a part of it may be wrong" in suspect.reason


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


def test_speaker_far_below_the_others_is_named():
    random = np.random.default_rng(1)
    check = Scores({f"s6-{number}": float(-4.0 + 0.2 * random.normal()) for number in range(N_EACH)}).check()
    assert check.suspects[0].kind == "speaker"
    assert "much worse than those of other speakers" in check.suspects[0].reason


def test_a_handful_of_utterances_or_of_one_transcript_is_not_judged():
    scores = Scores()
    few = scores.names[:5]
    rivals = first_rivals({name: scores.transcripts[name] for name in few})
    lengths = dict.fromkeys(few, 300)
    assert check_transcripts(scores.score(rivals), scores.score, rivals, scores.speakers, lengths).suspects == ()
    alike = {name: TranscriptScore(-1.0, np.zeros(0)) for name in scores.names}
    check = check_transcripts(alike, scores.score, scores.transcripts, scores.speakers, {})
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
    write_scores(tmp_path / "scores.tsv", TranscriptCheck({"b": -7.25, "a": -1.0}, 90.0, suspects))
    assert (tmp_path / "scores.tsv").read_text().splitlines() == ["utterance\tscore", "a\t-1.0000", "b\t-7.2500"]


STAGE = Suspect("stage", "gmm-16", float("nan"), "silence was lost")
UTTERANCES = tuple(Suspect("utterance", name, -3.0, "fits badly") for name in ("a-1", "a-2"))


SPEAKER, CORPUS = (Suspect(kind, name, -3.0, "fits badly") for kind, name in (("speaker", "b"), ("corpus", "all")))


@pytest.mark.parametrize(
    ("suspects", "start", "part"),
    [
        ((SPEAKER, *UTTERANCES, STAGE), "the transcripts of 1 speaker and 2 of 1,200 utterances ", "; 1 remark about"),
        (UTTERANCES[:1], "the transcripts of 1 of 1,200 utterances ", "the first: utterance a-1: fits badly."),
        ((CORPUS,), "the transcripts of all 1,200 utterances ", "the first: corpus all: fits badly."),
        ((STAGE, STAGE), "2 remarks about training. ", "the first: stage gmm-16: silence"),
    ],
)
def test_one_line_counts_the_suspects_and_names_their_list(caplog, suspects, start, part):
    check = TranscriptCheck({f"u{number}": -0.5 for number in range(1200)}, 97.0, suspects)
    with caplog.at_level(logging.INFO):
        tell(check, Path("run/suspects.tsv"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].startswith(start) and part in caplog.messages[0]
    assert ". List: run/suspects.tsv; the first: " in caplog.messages[0]
    assert caplog.messages[0].endswith(f". All transcripts: {check}")
