"""What `align` says of transcripts that are not those of the audio."""

import logging
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr import Recognizer, align
from asr.alignment.ctm import read_ctm


def copied(corpus: Path, folder: Path, transcripts: dict[str, str]) -> Path:
    """The training set of a corpus under other transcripts."""
    folder.mkdir()
    for name in ("wav.scp", "utt2spk", "spk2utt"):
        text = (corpus / "train" / name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "text").write_text("".join(f"{name} {words}\n" for name, words in transcripts.items()), encoding="utf-8")
    return folder


def transcripts_of(corpus: Path) -> dict[str, str]:
    lines = (corpus / "train" / "text").read_text(encoding="utf-8").splitlines()
    return {name: words for name, _, words in (line.partition(" ") for line in lines)}


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_alignment_has_a_score_and_the_line_of_the_log_names_a_wrong_transcript(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, caplog
) -> None:
    given = transcripts_of(toy_corpus)
    first, second = sorted(given)[2], sorted(given)[7]
    given[first], given[second] = "NO TWO NO", "WISE WISE SEVEN"
    root = toy_corpus
    with caplog.at_level(logging.WARNING, logger="asr.alignment.score_files"):
        align(toy_model, copied(toy_corpus, tmp_path / "data", given), tmp_path / "out", root=root)
    header, *scores = rows(tmp_path / "out" / "scores.tsv")
    assert header == ["utterance", "score", "trust"]
    assert [name for name, _, _ in scores] == sorted(given)
    assert all(float(score) <= 0 for _, score, _ in scores)
    assert {name for name, score, _ in scores if float(score) < -1} == {first, second}
    assert {name for name, _, trust in scores if float(trust) < 0.5} == {first, second}
    suspects = rows(tmp_path / "out" / "suspects.tsv")[1:]
    assert [row[0] for row in suspects[2:]] == ["listed"] * 3
    assert sorted((row[0], row[1], row[4]) for row in suspects[:2]) == [
        ("utterance", name, given[name]) for name in sorted([first, second])
    ]
    (record,) = caplog.records
    assert "2 of 24 transcripts" in record.getMessage() and "suspects.tsv" in record.getMessage()


def test_a_corpus_in_reversed_order_is_told(toy_corpus: Path, toy_model: Path, tmp_path: Path) -> None:
    given = transcripts_of(toy_corpus)
    turned = dict(zip(given, reversed(given.values()), strict=True))
    data = copied(toy_corpus, tmp_path / "data", turned)
    align(toy_model, data, tmp_path / "out", root=toy_corpus)
    ((kind, name, _, reason, _),) = rows(tmp_path / "out" / "suspects.tsv")[1:]
    assert (kind, name) == ("corpus", "all")
    assert "fit better than only" in reason


def test_wrong_transcripts_of_a_few_utterances_are_doubted_too(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, caplog
) -> None:
    given = transcripts_of(toy_corpus)
    names = [name for name in given if given[name] != given[sorted(given)[0]]][:5]
    turned = dict(zip(names, [given[name] for name in [*names[2:], *names[:2]]], strict=True))
    for data, transcripts, doubted in (
        ("wrong", turned, True),
        ("right", {name: given[name] for name in names}, False),
    ):
        folder = copied(toy_corpus, tmp_path / data, transcripts)
        for listed in ("wav.scp", "utt2spk"):
            lines = (folder / listed).read_text().splitlines(keepends=True)
            (folder / listed).write_text("".join(line for line in lines if line.split()[0] in names))
        (folder / "spk2utt").unlink()
        with caplog.at_level(logging.INFO, logger="asr.alignment.score_files"):
            caplog.clear()
            align(toy_model, folder, tmp_path / f"{data}-out", root=toy_corpus)
        records = [one for one in caplog.records if one.name == "asr.alignment.score_files"]
        assert [record.levelname for record in records] == ["INFO", "WARNING"][: 1 + doubted]
        assert "no suspects" in records[0].getMessage()
        assert not doubted or "5 utterances are too few" in records[1].getMessage()


def test_of_a_few_utterances_it_is_the_model_that_knows_silence(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, caplog, monkeypatch
) -> None:
    # As if the ends of a few utterances were not enough to model pauses.
    monkeypatch.setattr(
        "asr.alignment.alignment_check.pause_evidence", lambda table, shift: np.ones(table.n_frames, np.float32)
    )
    rng = np.random.default_rng(0)
    given = dict(list(transcripts_of(toy_corpus).items())[:2])

    def complaints(name: str, seconds: float, transcripts: dict[str, str], twice: bool = False) -> list[str]:
        folder = tmp_path / name
        folder.mkdir()
        for utterance in transcripts:
            samples, rate = soundfile.read(toy_corpus / "audio" / "train" / f"{utterance}.wav")
            room = 0.001 * rng.standard_normal(round(seconds * rate))
            soundfile.write(folder / f"{utterance}.wav", np.concatenate([room, *[samples] * (1 + twice), room]), rate)
        lines = {"wav.scp": "{0} {0}.wav", "utt2spk": "{0} {0}", "text": "{0} {1}"}
        for list_name, line in lines.items():
            text = "".join(f"{line.format(*pair)}\n" for pair in transcripts.items())
            (folder / list_name).write_text(text, encoding="utf-8")
        caplog.clear()
        align(toy_model, folder, tmp_path / f"{name}-out")
        return [message for message in caplog.messages if "may include speech" in message]

    with caplog.at_level(logging.WARNING):
        assert not complaints("padded", 3.0, given)
        assert complaints("left-out", 0.3, dict.fromkeys(given, "NO"), twice=True)


@pytest.mark.slow
def test_the_command_tells_how_well_transcripts_fit_in_any_case(
    toy_corpus: Path, toy_model: Path, tmp_path: Path
) -> None:
    arguments = ["align", "--model", toy_model, "--data", toy_corpus / "train", "--out", tmp_path / "out", "-j", "1"]
    done = subprocess.run([sys.executable, "-m", "asr.cli", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0
    of_alignment, of_transcripts = done.stderr.splitlines()
    assert re.search(r"worst word: [A-Z]+ at \d+\.\d\d s of train\d-\d+\.wav", of_alignment)
    assert "the median score is" in of_transcripts and "no suspects" in of_transcripts


def test_align_writes_trust_of_words_and_phones(toy_corpus: Path, toy_model: Path, tmp_path: Path) -> None:
    given = transcripts_of(toy_corpus)
    wrong = sorted(given)[2]
    given[wrong] = "NO TWO NO"
    align(toy_model, copied(toy_corpus, tmp_path / "data", given), tmp_path / "out", root=toy_corpus)
    words, phones = (read_ctm(tmp_path / "out" / name) for name in ("words.ctm", "phones.ctm"))
    assert all(0.0 <= row.confidence <= 1.0 for row in (*words, *phones))
    right = [row.confidence for row in words if row.utterance != wrong]
    assert np.median(right) > 0.8 > 0.2 > min(row.confidence for row in words if row.utterance == wrong)


def test_alignment_of_wrong_transcript_has_low_trust(toy_corpus: Path, toy_model: Path) -> None:
    name, words = sorted(transcripts_of(toy_corpus).items())[2]
    audio = toy_corpus / "audio" / "train" / f"{name}.wav"
    recognizer = Recognizer.load(toy_model)
    right, wrong = recognizer.align(audio, words), recognizer.align(audio, "NO TWO NO")
    assert right.trust > 0.8 > 0.2 > wrong.trust
    assert min(word.trust for word in right.words) > min(word.trust for word in wrong.words)
    found = wrong.to_dict()
    assert found["trust"] == wrong.trust
    assert [one["trust"] for one in found["words"]] == [word.trust for word in wrong.words]
    assert [one["trust"] for one in found["phones"]] == [phone.trust for phone in wrong.phones]
    assert all(word.confidence is None for word in wrong.words)
