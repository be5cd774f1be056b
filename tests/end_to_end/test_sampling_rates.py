"""Audio of another sampling rate than the model's: refused if lower, unless the user says otherwise."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from asr.cli import main

Asr = Callable[..., tuple[int, str, str]]


def low_corpus(corpus: Path, folder: Path) -> Path:
    """The test directory of a corpus with one of its files at 4 kHz."""
    shutil.copytree(corpus / "test", folder / "test")
    shutil.copytree(corpus / "audio" / "test", folder / "audio" / "test")
    first = sorted((folder / "audio" / "test").iterdir())[0]
    samples, rate = soundfile.read(first)
    soundfile.write(first, soxr.resample(samples, rate, rate // 2), rate // 2)
    lines = [line.split() for line in (folder / "test" / "wav.scp").read_text().splitlines()]
    (folder / "test" / "wav.scp").write_text(
        "".join(f"{key} {folder / 'audio' / 'test' / Path(value).name}\n" for key, value in lines)
    )
    return first


@pytest.mark.parametrize("command", ["decode", "align", "features"])
def test_audio_of_a_lower_rate_costs_its_utterance_and_the_remedy_is_told(
    asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path, command: str
) -> None:
    first = low_corpus(toy_corpus, tmp_path)
    given = ["--config", toy_corpus / "settings.toml"] if command == "features" else ["--model", toy_model]
    arguments = [command, *given, "--data", tmp_path / "test"]
    status, _, err = asr(*arguments, "--out", tmp_path / "out")
    assert status == 0
    failed = [line.split("\t") for line in (tmp_path / "out" / "failed.tsv").read_text().splitlines()[1:]]
    assert [line[:2] for line in failed] == [[first.stem, "low-rate"]]
    assert "4000 Hz" in failed[0][2]
    assert "sample_rate = 4000" in failed[0][2]
    assert "--upsample" in failed[0][2]
    assert "1 low-rate" in err
    status, _, err = asr(*arguments, "--out", tmp_path / "more", "--upsample")
    assert status == 0
    assert (tmp_path / "more" / "failed.tsv").read_text().splitlines()[1:] == []


def test_features_take_the_corpus_s_rate_where_they_are_told_to(asr: Asr, toy_corpus: Path, tmp_path: Path) -> None:
    status, _, err = asr("features", "--data", toy_corpus / "test", "--out", tmp_path / "refused")
    assert status == 1
    assert "16000" in err
    settings = tmp_path / "auto.toml"
    settings.write_text('features = {sample_rate = "auto"}\n')
    outs = (tmp_path / "auto", settings), (tmp_path / "set", toy_corpus / "settings.toml")
    for out, config in outs:
        assert asr("features", "--data", toy_corpus / "test", "--out", out, "--config", config)[0] == 0
    assert (outs[0][0] / "feats.ark").read_bytes() == (outs[1][0] / "feats.ark").read_bytes()


@pytest.mark.slow
def test_training_takes_the_rate_of_the_corpus_and_stores_it_as_a_number(
    asr: Asr, tiny_corpus: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text((tiny_corpus / "settings.toml").read_text().replace("features = {sample_rate = 8000}\n", ""))
    arguments = [
        "train", "--data", tiny_corpus / "train", "--lexicon", tiny_corpus / "lexicon.txt", "--config", settings,
        "--jobs", "1", "--work-dir", tmp_path / "run",
    ]  # fmt: skip
    assert asr(*arguments)[0] == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())["configuration"]
    assert record["features"]["sample_rate"] == record["hybrid_features"]["sample_rate"] == 8000
    assert asr(*arguments)[0] == 0  # resumes, without changes
    model = tmp_path / "run" / "model.safetensors"
    assert "  sample_rate: 8000\n" in asr("info", model)[1]


def test_decoding_says_in_a_line_each_what_sounds_wrong(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    samples, rate = soundfile.read(sorted((toy_corpus / "audio" / "test").iterdir())[0])
    soundfile.write(tmp_path / "fine.wav", samples, rate)
    soundfile.write(tmp_path / "silent.wav", np.zeros(rate), rate)
    soundfile.write(tmp_path / "stereo.wav", np.stack([samples, -samples], axis=1), rate)
    files = [str(tmp_path / f"{name}.wav") for name in ("fine", "silent", "stereo")]
    with pytest.raises(SystemExit) as stop:
        main(["decode", "--model", str(toy_model), "--out", str(tmp_path / "out"), *files])
    assert stop.value.code == 0
    found = [message for message in caplog.messages if "utterance" in message]
    starts = (
        "1 utterance (silent): digital silence",
        "1 utterance (stereo): channels of opposite phase",
        "no word in 2 of 3 utterances; the first: silent",
    )
    assert len(found) == len(starts)
    assert all(map(str.startswith, found, starts))
