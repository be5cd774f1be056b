import re
import time

from hypothesis import given
from hypothesis import strategies as st

from asr.scoring.transcript import aligned_transcript, aligned_transcripts, speaker_summary
from asr.scoring.wer import score_utterances

words = st.lists(st.sampled_from(["one", "THREE", "naïve", "Straße", "数", "e\u0301te"]), max_size=6)


def score(reference, hypothesis):
    return score_utterances({"u1": reference.split()}, {"u1": hypothesis.split()}).utterances[0]


def test_a_transcript_is_laid_out_as_sclite_does():
    assert aligned_transcript(score("SHOW THE SHIPS NOW", "PLEASE SHOW SHIP SHIPS NOW AT")) == (
        "id: (u1)\n"
        "Scores: (#C #S #D #I) 3 1 0 2\n"
        "REF:  ****** show THE  ships now **\n"
        "HYP:  PLEASE show SHIP ships now AT\n"
        "Eval: I           S              I\n"
    )


def test_a_deleted_word_faces_asterisks():
    assert aligned_transcript(score("one two", "two")).splitlines()[2:] == [
        "REF:  ONE two",
        "HYP:  *** two",
        "Eval: D",
    ]


def test_an_utterance_without_words_has_empty_lines():
    assert aligned_transcript(score("", "")).splitlines() == [
        "id: (u1)",
        "Scores: (#C #S #D #I) 0 0 0 0",
        "REF:",
        "HYP:",
        "Eval:",
    ]


@given(words, words)
def test_the_marks_of_a_transcript_are_its_counts(reference, hypothesis):
    utterance = score_utterances({"u1": reference}, {"u1": hypothesis}).utterances[0]
    _, scores, _, _, marks = aligned_transcript(utterance).splitlines()
    counts = [marks.removeprefix("Eval:").count(mark) for mark in "SDI"]
    assert scores == f"Scores: (#C #S #D #I) {utterance.counts.correct} {' '.join(map(str, counts))}"


def test_columns_of_wide_and_combining_letters_stay_aligned():
    lines = aligned_transcript(score("数字 a", "ab a")).splitlines()
    assert lines[2:4] == ["REF:  数字 a", "HYP:  AB   a"]


def test_all_transcripts_are_grouped_by_speaker():
    references = {"u1": ["ONE"], "u2": ["TWO"], "u3": ["SIX"]}
    report = score_utterances(references, references, speakers={"u1": "bob", "u2": "ann", "u3": "bob"})
    text = aligned_transcripts(report)
    assert re.findall(r"id: \((\w+)\)", text) == ["u2", "u1", "u3"]
    assert "Speaker sentences   1:  bob   #utts: 2" in text


def test_the_summary_has_a_line_for_every_speaker_and_the_sum():
    references = {"a-1": ["ONE", "TWO"], "b-1": ["ONE"] * 4, "b-2": ["ONE"] * 4}
    hypotheses = {"a-1": ["ONE", "SIX"], "b-1": ["ONE"] * 4, "b-2": ["ONE"] * 3}
    speakers = {"a-1": "ann", "b-1": "bob", "b-2": "bob"}
    lines = speaker_summary(score_utterances(references, hypotheses, speakers=speakers)).splitlines()
    rows = {line.split("|")[1].strip(): line.replace("|", " ").split()[1:] for line in lines if line.count("|") == 4}
    assert rows["ann"] == ["1", "2", "50.0", "50.0", "0.0", "0.0", "50.0", "100.0"]
    assert rows["bob"] == ["2", "8", "87.5", "0.0", "12.5", "0.0", "12.5", "50.0"]
    assert rows["Sum/Avg"] == ["3", "10", "80.0", "10.0", "10.0", "0.0", "20.0", "66.7"]
    assert rows["Mean"] == ["1.5", "5.0", "68.8", "25.0", "6.2", "0.0", "31.2", "75.0"]
    assert len({len(line) for line in lines}) == 1


def test_the_summary_of_one_speaker_has_no_spread():
    summary = speaker_summary(score_utterances({"a": ["ONE"]}, {}), title="A title wider than the table " * 5)
    assert "S.D." not in summary
    assert len({len(line) for line in summary.splitlines()}) == 1


def test_as_many_speakers_as_utterances_take_no_longer_than_one():
    words = {f"u{number:05}": ("a", "b") for number in range(15_000)}
    report = score_utterances(words, words, speakers={name: name for name in words})
    started = time.process_time()
    text = aligned_transcripts(report)
    assert time.process_time() - started < 5.0
    assert text.count("#utts: 1") == 15_000
