"""`asr report`: pages on folders of `asr align` and `asr decode`."""

import re
import shutil
from pathlib import Path

import pytest

from asr.alignment.ctm import CtmRow, write_ctm
from asr.alignment.recording_labels import Label
from asr.commands.report import report_runs
from asr.commands.run_results import read_run
from asr.corpus.data_directory import read_data_directory
from asr.util.errors import CorpusError, RunError
from tests.report.test_page import Page


@pytest.fixture(scope="module")
def data(toy_corpus):
    return toy_corpus / "test"


def write_alignment(folder: Path, data: Path, *, shift: float = 0.0, trust: float = 0.9) -> Path:
    """Write the files of `asr align` with words of 0.2 s, of which the third utterance is suspicious."""
    folder.mkdir()
    utterances = read_data_directory(data).utterances
    words = [
        CtmRow(one.id, 0.1 + 0.2 * number + shift * (index == 5), 0.2, word)
        for index, one in enumerate(utterances)
        for number, word in enumerate(one.words)
    ]
    write_ctm(folder / "words.ctm", words)
    write_ctm(folder / "phones.ctm", [CtmRow(one.id, 0.0, 0.1, "SIL") for one in utterances])
    scores = [f"{one.id}\t-0.5\t{0.02 if index == 2 else trust}\n" for index, one in enumerate(utterances)]
    (folder / "scores.tsv").write_text("utterance\tscore\ttrust\n" + "".join(scores))
    suspect = f"utterance\t{utterances[2].id}\t-0.5\tit fits <badly>\tONE\n"
    (folder / "suspects.tsv").write_text(f"kind\tname\tscore\treason\ttranscript\n{suspect}")
    return folder


def write_recognition(folder: Path, data: Path, *, wrong: tuple[int, ...]) -> Path:
    """Write the files of `asr decode`, without the last word in some utterances."""
    folder.mkdir()
    found = {
        one.id: one.words[:-1] if index in wrong else one.words
        for index, one in enumerate(read_data_directory(data).utterances)
    }
    rows = [CtmRow(name, 0.2 * n, 0.2, word, 0.3) for name, words in found.items() for n, word in enumerate(words)]
    write_ctm(folder / "hyp.ctm", rows, uncalibrated=True)
    (folder / "hyp.txt").write_text("".join(f"{' '.join([name, *words])}\n" for name, words in found.items()))
    return folder


def reported(folders: list[Path], path: Path, **options: Path) -> tuple[Page, list[str]]:
    report_runs(folders, path, **options)
    html = path.read_text(encoding="utf-8")
    return Page(html), re.findall(r"<section class=\"utterance\" id=\"utterance-\d+\">\n<h3>(\S+) ", html)


def test_alignment_has_the_least_trusted_utterance_first(tmp_path, data):
    folder = write_alignment(tmp_path / "ali", data)
    page, excerpts = reported([folder], tmp_path / "r.html", data=data)
    names = [one.id for one in read_data_directory(data).utterances]
    assert excerpts[0] == names[2] and sorted(excerpts) == names[:20]
    assert len(page.all("audio")) == len(excerpts)
    assert "trust 0.02, score -0.50 It fits <badly>." in page.words
    assert "Alignment: ali" in page.words
    assert [attrs["data-end"] for attrs in page.all("button")][:1] == ["0.3000"]


def test_two_recognitions_are_side_by_side(tmp_path, data):
    folders = [write_recognition(tmp_path / name, data, wrong=wrong) for name, wrong in (("a", (0, 1)), ("b", (1,)))]
    page, excerpts = reported(folders, tmp_path / "r.html", data=data)
    names = [one.id for one in read_data_directory(data).utterances]
    assert excerpts[:2] == names[:2]
    for expected in (
        "Errors (a)",
        "Errors (b)",
        "Missed (a)",
        "words (b)",
        "Recognition: a and b",
        "b minus a: -",
        "Lowest uncalibrated confidence (b)",
    ):
        assert expected in page.words
    assert {attrs["class"] for attrs in page.all("button")} == {"low"}  # confidence 0.3


def test_two_alignments_begin_with_the_largest_shift(tmp_path, data):
    folders = [write_alignment(tmp_path / "a", data), write_alignment(tmp_path / "b", data, shift=0.05)]
    page, excerpts = reported(folders, tmp_path / "r.html", data=data)
    assert excerpts[0] == read_data_directory(data).utterances[5].id
    assert "largest shift 50 ms" in page.words


def test_equal_runs_give_equal_bytes(tmp_path, data):
    folder = write_alignment(tmp_path / "ali", data)
    for name in ("1.html", "2.html"):
        report_runs([folder], tmp_path / name, data=data)
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_without_data_there_are_tables_only(tmp_path, data):
    page, excerpts = reported([write_alignment(tmp_path / "ali", data)], tmp_path / "r.html")
    assert not excerpts and not page.all("audio")
    assert "asr report --data DIR" in page.words and "Largest" not in page.words
    assert len(page.all("table")) == 2


def test_moved_audio_is_named_and_the_errors_stay(tmp_path, data):
    folder = write_recognition(tmp_path / "dec", data, wrong=(0,))
    copy = shutil.copytree(data, tmp_path / "elsewhere" / "test")
    issues = report_runs([folder], tmp_path / "r.html", data=copy)
    assert issues and "missing" in issues[0].code
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert not page.all("audio") and "without a player" in page.words


def test_folder_or_data_of_other_runs_raises(tmp_path, data, toy_corpus):
    with pytest.raises(CorpusError, match=r"words\.ctm"):
        read_run(tmp_path)
    with pytest.raises(CorpusError, match="no utterance"):
        report_runs([write_alignment(tmp_path / "ali", data)], tmp_path / "r.html", data=toy_corpus / "train")


def test_run_has_confidences_as_trust(tmp_path, data):
    run = read_run(write_recognition(tmp_path / "dec", data, wrong=()))
    label = next(iter(run.words.values()))[0]
    assert label == Label(0.0, 0.2, label.text, 0.3)


def test_command_writes_a_page_into_the_run(asr, tmp_path, data):
    folders = [write_alignment(tmp_path / name, data) for name in "ab"]
    assert asr("report", folders[0], "--data", data)[:2] == (0, f"{folders[0] / 'report.html'}\n")
    assert asr("report", *folders)[:2] == (0, f"{folders[0] / 'compare.html'}\n")
    status, _, error = asr("report", tmp_path)
    assert status == 1 and "words.ctm" in error


def test_training_gets_its_report_again(asr, tmp_path, toy_run):
    run = Path(shutil.copytree(toy_run, tmp_path / "run"))
    before = (run / "report.html").read_bytes()
    models = {path: path.stat().st_mtime_ns for path in run.glob("*.safetensors")}
    (run / "report.html").write_text("lost")
    assert asr("report", run)[:2] == (0, f"{run / 'report.html'}\n")
    assert (run / "report.html").read_bytes() == before
    assert {path: path.stat().st_mtime_ns for path in models} == models
    assert asr("report", run, "--out", tmp_path / "r.html")[0] == 0
    assert (tmp_path / "r.html").read_bytes() == before


def test_trainings_are_compared_by_held_out_speech(tmp_path, toy_run, toy_corpus):
    other = shutil.copytree(toy_run, tmp_path / "other")
    page, excerpts = reported([toy_run, other], tmp_path / "c.html")
    assert excerpts and set(excerpts) <= {one.id for one in read_data_directory(toy_corpus / "train").utterances}
    for expected in ("Errors (run)", "Errors (other)", "other minus run: +0.00"):
        assert expected in page.words


def test_training_that_is_damaged_or_mixed_raises(tmp_path, toy_run, data):
    with pytest.raises(CorpusError, match="Expected two trainings"):
        report_runs([toy_run, write_alignment(tmp_path / "ali", data)], tmp_path / "r.html")
    other = shutil.copytree(toy_run, tmp_path / "other")
    shutil.rmtree(other / "stages" / "transcripts")
    with pytest.raises(RunError, match="not finished"):
        report_runs([other], tmp_path / "r.html")
    shutil.rmtree(other / "stages" / "tuning-search")
    with pytest.raises(RunError, match="held_out"):
        report_runs([toy_run, other], tmp_path / "r.html")
    (other / "run.json").write_text("{}")
    with pytest.raises(RunError, match=r"run\.json"):
        report_runs([other], tmp_path / "r.html")
