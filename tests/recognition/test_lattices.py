"""Lattices and confidences from the command line and the recognizer, on the toy corpus."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from asr import Recognizer
from asr.acoustic.model_file import load_model, save_model
from asr.acoustic.search_settings import ConfidenceSettings, SearchSettings
from asr.alignment.ctm import is_uncalibrated, read_ctm
from asr.cli.app import main
from asr.lattices.kaldi_text import read_kaldi_lattices
from asr.lattices.slf import read_slf_lattice
from asr.recognition.confidence import ConfidenceFeatures, calibrated, evidence, with_confidence
from asr.scoring.files import read_transcripts
from asr.training.tuning.confidence import LabelledWords, confidence_on, fit_confidence, right_words
from asr.util.errors import ConfigError


@pytest.fixture(scope="module")
def decode(toy_model, toy_corpus, tmp_path_factory):
    def run(name: str, *options: object) -> Path:
        out = tmp_path_factory.mktemp(name)
        arguments = ["--model", toy_model, "--data", toy_corpus / "test", "--out", out, "--grammar", "loop"]
        with pytest.raises(SystemExit) as stop:
            main(["decode", *map(str, (*arguments, *options))])
        assert stop.value.code == 0
        return out

    return run


@pytest.fixture(scope="module")
def plain(decode):
    return decode("plain", "-j", 1)


@pytest.fixture(scope="module")
def full(decode, tmp_path_factory):
    wanted = "--confidence", "--n-best", 3, "--confusions", "--lattices", tmp_path_factory.mktemp("lattices")
    return decode("full", *wanted, "-j", 1), Path(wanted[-1])


def test_words_and_times_stay_as_they_are_and_get_confidences(plain, full):
    assert (plain / "hyp.txt").read_bytes() == (full[0] / "hyp.txt").read_bytes()
    rows, before = read_ctm(full[0] / "hyp.ctm"), read_ctm(plain / "hyp.ctm")
    assert [(row.utterance, row.start, row.duration, row.label) for row in rows] == [
        (row.utterance, row.start, row.duration, row.label) for row in before
    ]
    assert all(row.confidence is None for row in before)
    assert all(0 < row.confidence <= 1 for row in rows)
    assert is_uncalibrated(full[0] / "hyp.ctm") and not is_uncalibrated(plain / "hyp.ctm")


def test_lists_and_lattices_hold_the_words(full):
    out, lattices = full
    hypotheses = read_transcripts(out / "hyp.txt")
    ranked = [line.split("\t") for line in (out / "nbest.tsv").read_text().splitlines()[1:]]
    assert {name: tuple(words.split()) for name, rank, *_, words in ranked if rank == "1"} == hypotheses
    assert all(int(rank) <= 3 for _, rank, *_ in ranked)
    for name, words in hypotheses.items():
        lattice = read_slf_lattice(lattices / f"{name}.lat")
        path = lattice.path(words)
        end = lattice.target[path[-1]] if len(path) else 0
        assert lattice.score[path].sum() + lattice.final_score[end] == pytest.approx(lattice.best_score, abs=1e-2)
    places = [line.split("\t") for line in (out / "confusions.tsv").read_text().splitlines()[1:]]
    for _, start, end, words in places:
        assert 0 <= float(start) <= float(end)
        assert sum(float(word.rsplit(":", 1)[1]) for word in words.split()) == pytest.approx(1.0, abs=0.01)


def test_the_same_bytes_for_any_number_of_jobs(decode, full, tmp_path):
    out = decode("jobs", "--confidence", "--n-best", 3, "--confusions", "--lattices", tmp_path, "-j", 2)
    for name in ("hyp.txt", "hyp.ctm", "nbest.tsv", "confusions.tsv"):
        assert (out / name).read_bytes() == (full[0] / name).read_bytes()
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in full[1].iterdir()}


def test_words_of_least_risk_and_kaldi_lattices(decode, plain, tmp_path):
    out = decode("mbr", "--mbr", "--lattices", tmp_path, "--lattice-format", "kaldi", "--lattice-beam", 30)
    assert len(read_transcripts(out / "hyp.txt")) == len(read_transcripts(plain / "hyp.txt"))
    assert all(row.confidence is not None for row in read_ctm(out / "hyp.ctm"))
    found = dict(read_kaldi_lattices(tmp_path / "lattices.txt"))
    assert list(found) == list(read_transcripts(plain / "hyp.txt"))


def test_rescoring_with_a_grammar_that_has_none_of_the_sentences_keeps_the_words(decode, plain, tmp_path, caplog):
    words = sorted({word for said in read_transcripts(plain / "hyp.txt").values() for word in said})
    (tmp_path / "sentences.txt").write_text(" ".join([words[0]] * 40) + "\n")
    with caplog.at_level(logging.WARNING):
        out = decode("rescored", "--rescore", tmp_path / "sentences.txt")
    assert (out / "hyp.txt").read_bytes() == (plain / "hyp.txt").read_bytes()
    said = next(said for said in read_transcripts(plain / "hyp.txt").values() if said)
    (tmp_path / "sentences.txt").write_text(" ".join(said) + "\n")
    out = decode("rescored", "--rescore", tmp_path / "sentences.txt")
    assert said in read_transcripts(out / "hyp.txt").values()


def test_short_lists_of_sentences_are_reported(decode, caplog):
    with caplog.at_level(logging.WARNING):
        decode("short", "--n-best", 1000)
    assert any("nbest.tsv" in message and "--lattice-beam" in message for message in caplog.messages)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--lattice-beam", "10"], "only used with lattices"),
        (["--confidence", "--lattice-beam", "0"], "Expected a number above 0"),
        (["--n-best", "1000000"], "Expected 0 to 100000"),
        (["--rescore", "nowhere.arpa"], "--rescore"),
        (["--lattice-format", "htk"], "'htk' is not one of"),
    ],
)
def test_what_cannot_be_wished_is_said(options, reason, toy_model, toy_corpus, tmp_path, capsys):
    arguments = ["--model", toy_model, "--data", toy_corpus / "test", "--out", tmp_path, "-j", 1, *options]
    with pytest.raises(SystemExit) as stop:
        main(["decode", *map(str, arguments)])
    assert stop.value.code != 0
    assert reason in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_the_recognizer_gives_confidences_where_asked_and_lattices(toy_model, toy_corpus):
    audio = sorted((toy_corpus / "audio" / "test").glob("*.wav"))[:3]
    plain = Recognizer.load(toy_model, grammar="loop")
    sure = Recognizer.load(toy_model, grammar="loop", confidence=True)
    results = [sure.recognize(one) for one in audio]
    for one, result in zip(audio, results, strict=True):
        before = plain.recognize(one)
        assert before.text == result.text
        assert all(word.confidence is None for word in before.words)
        assert all(0 < word.confidence <= 1 for word in result.words)
        assert result.to_dict()["words"][0]["confidence"] == result.words[0].confidence
        assert plain.lattice(one).first == tuple(word.word for word in result.words)
    assert {one.calibrated for one in results} == {False} and plain.recognize(audio[0]).calibrated is None
    assert results[0].to_dict()["calibrated"] is False
    assert list(sure.recognize_all(audio, jobs=2)) == results
    assert [one.text for one in sure.with_settings(beam=150.0).recognize_all(audio, speakers="a")]
    assert sure.with_grammar("one").recognize(audio[0]).words[0].confidence is not None
    with pytest.raises(ConfigError, match="lattice_beam="):
        plain.lattice(audio[0], beam=0.0)


def test_a_model_keeps_its_calibration_and_others_are_read_as_before(toy_model, tmp_path):
    model = load_model(toy_model)
    settings = ConfidenceSettings(scale=0.7, slope=1.2, offset=-0.3)
    other = type(model)(**{**vars(model), "search": model.search.model_copy(update={"confidence": settings})})
    save_model(tmp_path / "model", other)
    assert load_model(tmp_path / "model").search.confidence == settings
    plain = type(model)(**{**vars(model), "search": model.search.model_copy(update={"confidence": None})})
    save_model(tmp_path / "plain", plain)
    assert load_model(tmp_path / "plain").search.confidence is None
    assert b"confidence" not in (tmp_path / "plain").read_bytes()


def test_a_fit_finds_the_curve_that_words_were_drawn_from():
    rng = np.random.default_rng(0)
    odds, fits, frames = rng.normal(2.0, 2.0, 4000), rng.normal(-3.0, 0.5, 4000), rng.integers(5, 90, 4000)
    truth = ConfidenceSettings(slope=0.5, fit=1.5, duration=-0.4, offset=5.3)
    words = ConfidenceFeatures(1 / (1 + np.exp(-np.clip(odds, -6.9, 6.9))), fits, frames.astype(np.float64))
    right = rng.random(4000) < calibrated(words, truth)
    found = fit_confidence(LabelledWords([words] * 5, right))
    for name, margin in (("slope", 0.1), ("fit", 0.3), ("duration", 0.15), ("offset", 1.2)):
        assert getattr(found, name) == pytest.approx(getattr(truth, name), abs=margin)
    confidences = calibrated(words, found)
    for low in np.arange(0.1, 0.9, 0.2):
        within = (confidences >= low) & (confidences < low + 0.2)
        assert right[within].mean() == pytest.approx(confidences[within].mean(), abs=0.06)
    few = ConfidenceFeatures(*(column[:20] for column in vars(words).values()))
    assert fit_confidence(LabelledWords([few] * 5, right[:20])) is None
    alike = ConfidenceFeatures(words.posteriors, np.zeros(4000), np.ones(4000))
    assert fit_confidence(LabelledWords([alike] * 5, right)).fit == 0.0
    for spread in (1e-6, 0.02):  # fits that separate the words completely and hardly differ
        texts = ConfidenceFeatures(words.posteriors, np.where(right, spread, -spread) - 500.0, words.frames)
        assert (fit_confidence(LabelledWords([texts] * 5, right)).fit > 0) == (spread > 0.01)


def test_too_few_words_leave_confidences_as_they_were():
    before = ConfidenceSettings(scale=0.7, slope=1.2, fit=0.5, duration=-0.4, offset=-0.3)
    assert confidence_on([], SearchSettings(confidence=before)) == before
    assert confidence_on([], SearchSettings()) is None


def test_words_that_fit_badly_are_less_sure(toy_model, toy_corpus):
    recognizer = Recognizer.load(toy_model, grammar="loop")
    lattice = recognizer.lattice(sorted((toy_corpus / "audio" / "test").glob("*.wav"))[0])
    words = lattice.segments(lattice.first_path)
    found = evidence(lattice, words, None)
    arcs = lattice.first_path
    for word, arc, fit, frames in zip(words, arcs, found.fits, found.frames, strict=True):
        rows = slice(lattice.node_frame[lattice.source[arc]], lattice.node_frame[lattice.target[arc]])
        any_state = lattice.any_state[rows]
        assert fit == pytest.approx((lattice.acoustic[arc] - any_state.sum()) / len(any_state))
        assert frames == word.end - word.start
    worse = replace(lattice, any_state=lattice.any_state + 1.0)
    settings = ConfidenceSettings(fit=1.0)
    before, after = (with_confidence(one, words, settings) for one in (lattice, worse))
    assert all(one.confidence > other.confidence for one, other in zip(before, after, strict=True))
    with pytest.raises(ValueError, match="read from a file"):
        with_confidence(replace(lattice, any_state=None), words, settings)


def test_right_words_are_those_beside_the_same_one():
    assert right_words(["A", "B", "C"], ["A", "X", "C", "C"]).count(True) == 2
    assert right_words([], ["A"]) == [False]
    assert right_words(["A"], []) == []
