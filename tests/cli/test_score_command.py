"""`asr score` on files small enough to count by hand."""

import json
from pathlib import Path

import pytest

from asr.cli.reporting import report_failures
from asr.runs.outcome import Outcome
from asr.util.errors import Issue
from tests.cli.place import Asr

Files = tuple[Path, Path, Path]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    reference, hypothesis, utt2spk = (tmp_path / name for name in ("text", "hyp.txt", "utt2spk"))
    reference.write_text("a-1 one two three\na-2 four\nb-1 five six\n")
    hypothesis.write_text("a-1 one too three\na-2 four\nb-1 five six seven\n")
    utt2spk.write_text("a-1 a\na-2 a\nb-1 b\n")
    return reference, hypothesis, utt2spk


def test_the_rates_are_those_counted_by_hand(asr: Asr, files: Files) -> None:
    status, out, err = asr("score", *files[:2])
    assert (status, err) == (0, "")
    assert "WER 33.33 %" in out
    assert "2 errors in 6 words: 1 substituted, 0 deleted, 1 inserted" in out
    assert "SER 66.67 %  (2 of 3 utterances)" in out


def test_the_list_without_a_speaker_is_named(asr: Asr, files: Files) -> None:
    files[2].write_text("a-1 a\nb-1 b\n")
    status, _, err = asr("score", *files[:2], "--utt2spk", files[2])
    assert (status, str(files[2]) in err, "a-2" in err) == (1, True, True)


def test_master_label_files_are_scored_as_text_is(asr: Asr, files: Files, tmp_path: Path) -> None:
    mlf = tmp_path / "hyp.mlf"
    mlf.write_text(
        '#!MLF!#\n"*/a-1.rec"\n0 10 one -1.5\n10 20 too\n20 30 three\n.\n"*/a-2.rec"\n0 10 four\n.\n'
        '"*/b-1.rec"\nfive\nsix\nseven\n.\n'
    )
    assert asr("score", files[0], mlf) == asr("score", *files[:2])


def test_a_ctm_file_is_scored_as_text_is(asr: Asr, files: Files, tmp_path: Path) -> None:
    ctm = tmp_path / "hyp.ctm"
    lines = [line.split() for line in files[1].read_text().splitlines()]
    ctm.write_text("".join(f"{id} 1 {n}.0 0.5 {word}\n" for id, *words in lines for n, word in enumerate(words)))
    assert asr("score", files[0], ctm) == asr("score", *files[:2])


def test_an_stm_file_gives_speakers_and_files_for_sclite(asr: Asr, tmp_path: Path) -> None:
    stm, ctm, sgml, trn = (tmp_path / name for name in ("ref.stm", "hyp.ctm", "out.sgml", "out.trn"))
    stm.write_text("r A ann 0.0 1.0 <o> { one / two } (three)\nr A bob 1.0 2.0 <o> IGNORE_TIME_SEGMENT_IN_SCORING\n")
    ctm.write_text("r A 0.1 0.2 two\nr A 0.4 0.1 four\nr A 1.5 0.1 noise\n")
    status, out, err = asr("score", stm, ctm, "--sgml", sgml, "--trn", trn)
    assert status == 0, err
    assert "| ann " in out and "(1 error in " in out
    assert err.startswith("asr: 1 segment marked") and "r at 1 s" in err
    assert trn.read_text() == "two four (ann-000)\n"
    speakers = tmp_path / "utt2spk"
    speakers.write_text("ann-000 ann\n")
    status, _, err = asr("score", stm, ctm, "--utt2spk", speakers)
    assert (status, "own speakers" in err, "--utt2spk" in err) == (1, True, True)
    assert '<PATH id="(ann-000)" word_cnt="2"' in sgml.read_text() and 'C,"two","two":' in sgml.read_text()


def test_phones_are_folded_and_their_confusions_drawn(asr: Asr, files: Files, tmp_path: Path) -> None:
    (tmp_path / "map").write_text("too two\nseven\n")
    plot = tmp_path / "confusions.png"
    status, out, _ = asr("score", *files[:2], "--fold", tmp_path / "map", "--plot", plot)
    assert (status, "WER 0.00 %" in out) == (0, True)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_compare_prints_a_conclusion_and_writes_json(asr: Asr, files: Files, tmp_path: Path) -> None:
    report = tmp_path / "compared.json"
    status, out, err = asr("compare", *files[:2], files[0], "--utt2spk", files[2], "--json", report)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].startswith("No significant difference between ")
    made = json.loads(report.read_text())
    assert [system["errors"] for system in made["systems"]] == [2, 0]
    assert (made["pairs"][0]["segments"], made["pairs"][0]["mcnemar"], made["pairs"][0]["interval"]) == (2, 0.5, None)


def test_compare_refuses_one_system_and_other_utterances(asr: Asr, files: Files, tmp_path: Path) -> None:
    assert asr("compare", *files[:2])[0] == 2
    status, _, err = asr("compare", files[0], files[1], files[1])
    assert (status, f"{files[1]} is given more than once" in err) == (1, True)
    (tmp_path / "few").write_text("a-1 one two three\n")
    status, out, err = asr("compare", *files[:2], tmp_path / "few")
    assert (status, out, "few lacks 2 utterances: a-2, b-1" in err) == (1, "", True)


def test_a_speaker_table_and_alignments_are_written_on_request(asr: Asr, files: Files, tmp_path: Path) -> None:
    alignments = tmp_path / "score.pra"
    status, out, _ = asr("score", *files[:2], "--utt2spk", files[2], "--alignments", alignments)
    assert status == 0
    assert "| a " in out
    assert "TOO" in alignments.read_text()


def test_a_missing_hypothesis_is_counted_and_listed(asr: Asr, files: Files) -> None:
    files[1].write_text("a-1 one two three\na-2 four\n")
    status, out, err = asr("score", *files[:2])
    assert status == 0
    assert "2 deleted" in out
    assert err == "asr: 1 utterance without a hypothesis; all their words count as deleted: b-1\n"


def test_few_references_give_no_interval(asr: Asr, files: Files) -> None:
    files[0].write_text("u-01 one\n")
    files[1].write_text("".join(f"u-{number:02d} one\n" for number in range(61)))
    status, out, err = asr("score", *files[:2])
    assert status == 0
    assert out.startswith("WER 0.00 %  [no interval: ")
    assert err.startswith("asr: 60 utterances of HYP without a reference")
    assert err.endswith(": u-00, u-02, u-03, u-04, u-05 and 55 more\n")


def test_an_utterance_left_out_is_listed_in_one_printable_line(capsys: pytest.CaptureFixture[str]) -> None:
    problem = Issue("unknown-word", "the lexicon has no pronunciation for \x1b[2J " + "x" * 100_000, utterances=("u1",))
    report_failures(Outcome(0, [problem]), Path("out"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all(line.isprintable() and len(line) < 2000 for line in lines)


def test_score_references_without_words_counts_insertions(asr: Asr, files: Files) -> None:
    files[0].write_text("u1\nu2\n")
    files[1].write_text("u1 ONE TWO\nu2\n")
    files[2].write_text("u1 anna\nu2 bob\n")
    code, out, err = asr("score", *files[:2], "--utt2spk", files[2])
    assert code == 0, err
    assert "2 errors in 0 words" in out and "2 inserted" in out
    assert "undefined" in out
