"""What a user stumbles over: earlier outcomes, letter case, no speakers, `.` as a place."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Asr = Callable[..., tuple[int, str, str]]


@pytest.fixture
def decode(asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path) -> Asr:
    def run(*more: object) -> tuple[int, str, str]:
        return asr("decode", "--model", toy_model, "--out", tmp_path / "out", *more)

    return run


def test_an_earlier_outcome_with_other_words_is_kept(
    decode: Asr, toy_corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = sorted((toy_corpus / "audio" / "test").iterdir())
    hypotheses, kept = tmp_path / "out" / "hyp.txt", tmp_path / "out" / "hyp.txt.old"
    decode(files[0])
    first = hypotheses.read_text()
    decode(files[0])
    assert not kept.exists()
    assert decode(files[1])[0] == 0
    assert kept.read_text() == first
    assert hypotheses.read_text().startswith(files[1].stem)
    (line,) = [line for line in caplog.messages if "now in hyp.txt.old" in line]
    assert f"of other utterances ({files[0].stem})" in line
    assert line.endswith("Give all files to one command, or use another folder for every command (--out DIR, output=)")
    caplog.clear()
    hypotheses.write_text(f"{files[1].stem} OTHER\n")
    assert decode(files[1])[0] == 0
    assert any(line.endswith("had other words, now in hyp.txt.old") for line in caplog.messages)


def test_where_no_utterance_can_be_aligned_failed_tsv_has_the_reasons(
    asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(toy_corpus / "test", tmp_path / "test"))
    names = [line.split()[0] for line in (data / "text").read_text().splitlines()]
    (data / "text").write_text("".join(f"{name} ELEVEN\n" for name in names))
    arguments = ["--model", toy_model, "--data", data, "--root", toy_corpus]
    assert asr("align", *arguments, "--out", tmp_path / "out")[0] == 1
    rows = [line.split("\t") for line in (tmp_path / "out" / "failed.tsv").read_text().splitlines()]
    assert [row[:2] for row in rows[1:]] == [[name, "unknown-word"] for name in sorted(names)]


def test_a_grammar_in_another_letter_case_is_told_so(
    decode: Asr, toy_corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    grammar, file = tmp_path / "g.txt", sorted((toy_corpus / "audio" / "test").iterdir())[0]
    grammar.write_text("one two\nwise\n")
    status, _, err = decode(file, "--grammar", grammar)
    assert status == 1
    assert "letter case matters, and the model's lexicon has one as ONE, two as TWO, wise as WISE" in err
    assert "`tr a-z A-Z` makes a matching copy" in err
    grammar.write_text("One two.\nWise!\n")  # a change of letter case does not make these words known
    status, _, err = decode(file, "--grammar", grammar)
    assert (status, "`tr" in err) == (1, False)
    assert "words must not have punctuation marks, as here Wise! for WISE, two. for TWO" in err
    grammar.write_text("#JSGF V1.0;\ngrammar g;\npublic <g> = one | two;\n")
    assert "is a JSGF grammar" in decode(file, "--grammar", grammar)[2]
    grammar.write_text("one two\nWISE\n")
    assert decode(file, "--grammar", grammar)[0] == 0
    assert "letter case matters, and the model's lexicon has one as ONE, two as TWO" in caplog.text


def test_letter_case_in_scoring_is_told_and_can_be_ignored(asr: Asr, tmp_path: Path) -> None:
    (tmp_path / "ref").write_text("u ONE TWO\n")
    (tmp_path / "hyp").write_text("u one two\n")
    status, out, err = asr("score", tmp_path / "ref", tmp_path / "hyp")
    assert status == 0
    assert err.startswith("asr: 2 of the 2 errors") and "--ignore-case (ignore_case=True)" in err
    assert out.startswith("WER 100.00 %")
    status, out, err = asr("score", tmp_path / "ref", tmp_path / "hyp", "--ignore-case")
    assert (status, err) == (0, "")
    assert out.startswith("WER 0.00 %")


def test_without_utt2spk_decoding_goes_on_and_training_tells_the_remedy(
    asr: Asr, decode: Asr, toy_corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(toy_corpus / "test", tmp_path / "test")
    (tmp_path / "test" / "utt2spk").unlink()
    status, _, _ = decode("--data", tmp_path / "test", "--root", toy_corpus)
    assert status == 0
    assert "utt2spk not found" in caplog.text
    arguments = ["--data", tmp_path / "test", "--lexicon", toy_corpus / "lexicon.txt", "--root", toy_corpus]
    status, _, err = asr("train", *arguments, "--work-dir", tmp_path / "run")
    assert status == 1
    assert "utt2spk: " in err and "UTTERANCE SPEAKER" in err
    status, _, err = asr("features", *arguments[:2], *arguments[4:], "--out", tmp_path / "features")
    assert status == 1
    assert "utt2spk: " in err and "UTTERANCE SPEAKER" in err


def test_the_working_directory_is_named_in_messages(
    asr: Asr, toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("features", "validate"):
        more = ["--out", "out"] if command == "features" else ["--lexicon", toy_corpus / "lexicon.txt"]
        _, out, err = asr(command, "--data", ".", *more)
        assert f"{tmp_path}: " in out + err
        assert not any(line.startswith(".:") or " .:" in line for line in (out + err).splitlines())


def test_a_work_directory_that_is_none_is_told_before_anything_is_read(
    asr: Asr, toy_corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "thesis.tex").touch()
    lexicon = toy_corpus / "lexicon.txt"
    arguments = ["train", "--data", toy_corpus / "train", "--lexicon", lexicon, "--work-dir"]
    status, _, err = asr(*arguments, tmp_path)
    assert (status, "'thesis.tex'" in err) == (1, True)
    status, _, err = asr(*arguments, tmp_path / "thesis.tex")
    assert (status, "is a file" in err) == (1, True)
    assert not caplog.messages
