"""`asr validate`, and the same check at the start of `asr train`."""

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.validation.corpora import Corpus

Asr = Callable[..., tuple[int, str, str]]


@pytest.fixture
def corpus(tiny_corpus: Path, tmp_path: Path) -> Corpus:
    folder = Path(shutil.copytree(tiny_corpus, tmp_path / "corpus"))
    for path in folder.glob("t*/*"):
        path.write_text("".join(sorted(path.read_text().splitlines(keepends=True))))
    return Corpus(folder)


@pytest.fixture
def validate(asr: Asr, corpus: Corpus) -> Callable[..., tuple[int, str, str]]:
    arguments = ["--data", corpus.folder / "train", "--lexicon", corpus.folder / "lexicon.txt"]
    return lambda *more: asr("validate", *arguments, "--config", corpus.folder / "settings.toml", "-j", 1, *more)


@pytest.fixture
def train(asr: Asr, corpus: Corpus, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    arguments = ["--data", corpus.folder / "train", "--lexicon", corpus.folder / "lexicon.txt"]
    settings = ["--config", corpus.folder / "settings.toml", "--work-dir", tmp_path / "run", "-j", 1]
    return lambda *more: asr("train", *arguments, *settings, *more)


def test_a_clean_corpus_has_status_0_and_a_summary(validate: Asr, corpus: Corpus) -> None:
    status, out, err = validate("--test", corpus.folder / "test")
    assert (status, err) == (0, "")
    rows = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert rows["utterances"] == "9 of 9 can be used"
    assert rows["rates"] == "8000 Hz (9)"
    assert rows["findings"] == "0 errors, 0 warnings"
    lines = [line.split()[1:] for line in corpus.lines("test/text")]
    texts = f"{len(lines)} utterances, 2 speakers, {sum(map(len, lines))} words (100.00 % of them in the lexicon)"
    assert rows["test"] == f"{corpus.folder / 'test'}: {texts}; no findings"


def test_warnings_have_status_0_and_errors_1(validate: Asr, corpus: Corpus) -> None:
    corpus.record(3, np.full(9000, 0.25))
    status, out, _ = validate()
    assert status == 0
    assert out.startswith(f"{corpus.folder}/train/wav.scp:3: warning: ") and "[constant]\n" in out
    corpus.audio(4).unlink()
    status, out, err = validate()
    assert (status, err) == (1, "")
    assert out.startswith(f"{corpus.folder}/train/wav.scp:4: error: ")  # errors first
    assert "1 error, 1 warning (1 missing-file, 1 constant)" in out


def test_the_json_has_the_same_findings(validate: Asr, corpus: Corpus) -> None:
    corpus.audio(4).unlink()
    status, out, _ = validate("--json")
    texts = json.loads(out)
    assert status == 1
    assert (texts["errors"], texts["warnings"], texts["counts"]) == (1, 0, {"missing-file": 1})
    assert texts["findings"][0]["utterances"] == [corpus.names[3]]
    assert (texts["findings"][0]["file"], texts["findings"][0]["line"]) == (f"{corpus.folder}/train/wav.scp", 4)
    assert texts["summary"]["usable"] == 8


@pytest.mark.slow
def test_train_tells_faults_first_and_goes_on(
    train: Asr, corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    corpus.audio(4).unlink()
    corpus.set_line("train/text", 5, f"{corpus.names[4]} ELEVEN")
    corpus.record(6, corpus.samples(6)[:700])
    corpus.set_line("train/text", 7, f"{corpus.names[6]} {' '.join(['ONE'] * 99)}")
    with caplog.at_level(logging.INFO):
        status, _, err = train()
    assert status == 0, err
    first = next(n for n, message in enumerate(caplog.messages) if message.startswith("features "))
    before = caplog.messages[:first]
    assert any(message.startswith("4 utterances of 9 will be left out: 2 too-short, 1 ") for message in before)
    assert any("/train/wav.scp:4: error: " in message for message in before)
    assert any("/train/text:5: error: " in message for message in before)
    assert len([message for message in caplog.messages if message.startswith("tuning fold 1 of ")]) == 1
    failed = {
        line.split("\t")[0]: line.split("\t")[1] for line in (tmp_path / "run/failed.tsv").read_text().splitlines()
    }
    assert {name: failed[name] for name in corpus.names[3:7]} == dict(
        zip(corpus.names[3:7], ["missing-file", "unknown-word", "too-short", "too-short"], strict=True)
    )


def test_left_out_are_listed_before_features_are_made(
    train: Asr, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def stop(*arguments: object, **options: object) -> None:
        seen.append((tmp_path / "run/failed.tsv").read_text())
        raise KeyboardInterrupt

    monkeypatch.setattr("asr.training.pipeline.build_static", stop)
    corpus.record(6, corpus.samples(6)[:700])
    assert train()[0] == 130
    assert seen[0].splitlines()[1].startswith(f"{corpus.names[5]}\ttoo-short\t")


def test_train_stops_with_all_reasons_at_once(
    train: Asr, corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    corpus.set_line("train/wav.scp", 2, f"{corpus.names[1]} cat x |")
    corpus.append("lexicon.txt", "WELL W SIL")
    corpus.change("settings.toml", 4, "words = 1", "held_out = 7")
    status, out, err = train()
    assert (status, out) == (1, "")
    assert err.startswith("asr: error: ") and err.count("\n") == 1
    for part in ("settings.toml:4: tuning.held_out", "lexicon.txt:6: the word 'WELL'", "wav.scp:2: the entry of"):
        assert part in err
    assert not [
        record for record in caplog.records if record.levelno >= logging.ERROR
    ]  # otherwise it would be reported twice
    assert not (tmp_path / "run").exists()


def test_log_has_all_of_many_faults_the_error_one(train: Asr, corpus: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    for line in range(1, 8):
        corpus.set_line("train/utt2spk", line, corpus.names[line - 1])
    status, _, err = train()
    assert status == 1
    assert err.startswith(f"asr: error: {corpus.folder}/train/utt2spk:1: ")
    assert "6 more are in the log" in err and "utt2spk:2" not in err
    texts = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert [f"utt2spk:{line}: " in "".join(texts) for line in range(1, 8)] == [True] * 7


@pytest.mark.slow
def test_resumed_training_counts_those_left_out(train: Asr, corpus: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    corpus.record(6, np.zeros(9000))
    corpus.set_line("train/text", 5, f"{corpus.names[4]} ELEVEN")

    def texts() -> list[str]:
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert train()[0] == 0
        return [message for message in caplog.messages if " left out: " in message]

    first, again = texts(), texts()
    assert len(first) == 1 and first[0].startswith("2 utterances of 9 will be left out: 1 unknown-word, 1 silent")
    assert len(again) == 1 and again[0].startswith("2 utterances of 9 left out: 1 unknown-word, 1 silent; ")


@pytest.mark.slow
def test_audio_is_checked_once(train: Asr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asr.corpus.audio_stats as measuring

    asked = []
    kept = measuring.measure
    monkeypatch.setattr(
        "asr.validation.recordings.measure", lambda u, rate, samples: asked.append(samples) or kept(u, rate, samples)
    )
    assert train("--no-validate")[0] == 0
    assert asked == [False] * 9
    shutil.rmtree(tmp_path / "run")
    assert train()[0] == 0
    assert asked[9:] == [True] * 9
    assert train()[0] == 0  # the features exist
    assert asked[18:] == [False] * 9


@pytest.mark.slow
def test_the_model_is_the_same_without_validation(train: Asr, corpus: Corpus, tmp_path: Path) -> None:
    corpus.record(6, np.zeros(9000))
    assert train()[0] == 0
    model = (tmp_path / "run/model.safetensors").read_bytes()
    shutil.rmtree(tmp_path / "run")
    assert train("--no-validate")[0] == 0
    assert (tmp_path / "run/model.safetensors").read_bytes() == model
