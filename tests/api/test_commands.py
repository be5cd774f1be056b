"""The commands as functions: the same results as on the command line, from paths, tables and plain Python values."""

import json

import pytest

import asr as package
from asr import Recognizer
from asr.corpus.audio_stats import measure
from asr.training.config import TrainingConfig
from asr.util.errors import ConfigError, CorpusError, ModelFormatError

SETTINGS = {
    "features": {"sample_rate": 8000},
    "gmm": {"mixtures": [1, 2], "iterations": [3, 2]},
    "hybrid": {"vtlp_warps": [], "realignments": 1},
    "tuning": {"words": 1},
}
PARAMETERS = {"n_centers": 30, "n_candidates": 60, "max_iter": 2, "min_steps": 20}


@pytest.mark.slow
def test_training_from_python_makes_the_model_of_the_command(tiny_corpus, tmp_path, asr):
    table = SETTINGS | {"hybrid": SETTINGS["hybrid"] | {"parameters": PARAMETERS}}
    trained = package.train(
        str(tiny_corpus / "train"), tiny_corpus / "lexicon.txt", tmp_path / "a", config=table, seed=3, jobs=1
    )
    assert trained.outcome.n_done == 9
    assert isinstance(trained.load(grammar="loop"), Recognizer)
    assert trained.baseline.is_file()
    assert trained.grammar.is_file()
    status, _, err = asr(
        "train", "--data", tiny_corpus / "train", "--lexicon", tiny_corpus / "lexicon.txt",
        "--work-dir", tmp_path / "b", "--config", tiny_corpus / "settings.toml", "--seed", 3, "--jobs", 1,
    )  # fmt: skip
    assert status == 0, err
    record = json.loads((tmp_path / "b" / "run.json").read_text())
    assert record["seed"] == record["configuration"]["seed"] == 3
    assert trained.model.read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


def test_settings_that_are_none_are_refused_before_audio_is_read(tiny_corpus, tmp_path, monkeypatch):
    read = []

    def noted(utterance, rate, samples_too):
        read.append(samples_too)
        return measure(utterance, rate, samples_too)

    monkeypatch.setattr("asr.validation.recordings.measure", noted)
    with pytest.raises(ConfigError, match=r"features\.rate"):
        wrong = {"features": {"rate": 8000}}
        package.train(tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "a", config=wrong, jobs=1)
    assert not (tmp_path / "a").exists()
    assert set(read) == {False}


def test_a_seed_out_of_range_is_refused_before_anything_is_done(tiny_corpus, tmp_path):
    with pytest.raises(ConfigError, match=r"seed: must be at most 4294967295, not 4294967296$"):
        package.train(tiny_corpus / "train", tiny_corpus / "lexicon.txt", tmp_path / "a", seed=2**32)
    assert not (tmp_path / "a").exists()


def test_validation_from_python_reports_what_the_command_does(tiny_corpus, asr):
    report = package.validate(tiny_corpus / "train", tiny_corpus / "lexicon.txt", tests=[tiny_corpus / "test"], jobs=1)
    status, out, _ = asr(
        "validate", "--data", tiny_corpus / "train", "--lexicon", tiny_corpus / "lexicon.txt",
        "--test", tiny_corpus / "test", "--json", "-j", 1,
    )  # fmt: skip
    assert status == 0  # the rate of the corpus
    assert json.loads(out) == json.loads(json.dumps(report.as_json()))
    rate = {"sample_rate": 8000}
    config = TrainingConfig.model_validate({"features": rate, "hybrid_features": rate})
    assert not package.validate(tiny_corpus / "train", tiny_corpus / "lexicon.txt", config=config, jobs=1).errors


def test_scores_come_from_files_mappings_and_lists(tmp_path):
    (tmp_path / "ref").write_text("a ONE TWO\nb THREE\n")
    (tmp_path / "hyp").write_text("a ONE\nb THREE FOUR\n")
    (tmp_path / "utt2spk").write_text("a anna\nb bert\n")
    from_files = package.score(tmp_path / "ref", str(tmp_path / "hyp"), speakers=tmp_path / "utt2spk")
    counts = (from_files.words, from_files.substitutions, from_files.deletions, from_files.insertions)
    assert counts == (3, 0, 1, 1)
    assert [score.speaker for score in from_files.speakers()] == ["anna", "bert"]
    mapped = package.score(
        {"a": "ONE TWO", "b": ["THREE"]}, {"a": ["ONE"], "b": "THREE FOUR"}, speakers={"a": "anna", "b": "bert"}
    )
    assert mapped == from_files
    assert package.score(["ONE TWO", "THREE"], ["ONE", "THREE FOUR"]).errors == 2


def test_transcripts_that_do_not_belong_together_are_refused(tmp_path):
    (tmp_path / "ref").write_text("a ONE TWO\n")
    with pytest.raises(CorpusError, match="2 references and 1 hypotheses"):
        package.score(["ONE", "TWO"], ["ONE"])
    with pytest.raises(CorpusError, match="no utterance in common"):
        package.score(tmp_path / "ref", {"b": "ONE"})


def test_alignments_and_features_are_those_of_the_commands(toy_model, toy_corpus, tmp_path, asr):
    outcome = package.align(toy_model, toy_corpus / "test", tmp_path / "a", formats="textgrid", jobs=1)
    assert outcome.n_done == 10
    asr(
        "align",
        "--model",
        toy_model,
        "--data",
        toy_corpus / "test",
        "--out",
        tmp_path / "b",
        "--format",
        "textgrid",
        "-j",
        1,
    )
    for path in sorted((tmp_path / "b").rglob("*.*")):
        if path.name != "report.html":  # the title has the name of the folder
            assert path.read_bytes() == (tmp_path / "a" / path.relative_to(tmp_path / "b")).read_bytes()
    loaded = Recognizer.load(toy_model)
    assert package.align(loaded, toy_corpus / "test", tmp_path / "c", jobs=1).n_done == 10
    settings = {"features": {"sample_rate": 8000}}
    assert package.extract_features(toy_corpus / "test", tmp_path / "f", config=settings, jobs=1).n_done == 10
    assert (tmp_path / "f" / "feats.scp").is_file()


def test_a_model_is_described(toy_model, tmp_path):
    described = package.describe(toy_model)
    assert described["kind"] == "hybrid"
    assert described["features"]["high_hz"] == described["features"]["sample_rate"] / 2  # the default
    (tmp_path / "no-model").write_bytes(b"")
    with pytest.raises(ModelFormatError):
        package.describe(tmp_path / "no-model")


def test_tables_of_settings_mean_what_a_file_with_them_means(tiny_corpus, tmp_path):
    """The rate is the corpus's in either case, where none is set."""
    tables = {"features": {"n_filters": 20}, "gmm": {"mixtures": [1], "iterations": [1]}}
    report = package.validate(tiny_corpus / "train", tiny_corpus / "lexicon.txt", config=tables)
    assert not [finding for finding in report.findings if "sample_rate" in str(finding)]
    with pytest.raises(ConfigError, match=r"^features\.n_filters"):
        package.extract_features(tiny_corpus / "train", tmp_path / "out", config={"features": {"n_filters": -1}})
