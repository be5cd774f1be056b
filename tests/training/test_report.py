"""The table, the results and the page at the end of a training."""

import json
import logging
from dataclasses import replace

import pytest

from asr import Recognizer, describe
from asr.acoustic.model_file import SearchSettings, describe_model, load_model
from asr.alignment.alignment_check import AlignmentCheck
from asr.alignment.suspects import Suspect, TranscriptCheck
from asr.lexicon.phone_units import phone_lexicon
from asr.training.report import HeldOutSystem, report_training
from tests.report.test_page import Page

REFERENCES = {f"s{number % 2}-{number}": ("ONE", "TWO", "THREE") for number in range(10)}
SPEAKERS = {name: name.partition("-")[0] for name in REFERENCES}
ALIGNMENT = AlignmentCheck(silence=10.0, pauses=40.0, long_phones=1.0, long_words=0.0, worst="")
CHECK = TranscriptCheck(
    {"a": -0.5, "b": -7.0},
    98.0,
    (Suspect("utterance", "b", -7.0, "fits <ill>"), Suspect("stage", "gmm", float("nan"), "fell")),
)


def system(name: str, kind: str, wrong: int, **options) -> HeldOutSystem:
    """One that gets a word of the first `wrong` utterances wrong."""
    hypotheses = {
        utterance: ("ONE", "SIX", "THREE") if number < wrong else words
        for number, (utterance, words) in enumerate(REFERENCES.items())
    }
    return HeldOutSystem(name, kind, hypotheses, SearchSettings(lm_scale=6.5, insertion_penalty=-2.0), **options)


def reported(tmp_path, caplog, systems, references=REFERENCES, **options):
    with caplog.at_level(logging.DEBUG, logger="asr.training.report"):
        rows = report_training(
            tmp_path, systems, references, SPEAKERS, transcripts=CHECK, alignment=ALIGNMENT,
            spoken={"a": ("YES",), "b": ("NO", "NO")}, **options,
        )  # fmt: skip
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    return rows, lines, Page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_both_systems_stand_side_by_side_in_table_results_and_page(tmp_path, caplog):
    systems = [
        system("mixtures", "gmm", 8, curves={"log-likelihood per frame by re-estimation": (-40.0, -35.0)}),
        system("hybrid", "discriminant", 2, remarks=("the held-out words tell little",)),
    ]
    rows, lines, page = reported(tmp_path, caplog, systems)
    assert json.loads((tmp_path / "results.json").read_text()) == rows
    assert [(row["system"], row["errors"], row["words"], row["sub"]) for row in rows] == [
        ("mixtures", 8, 30, 8),
        ("hybrid", 2, 30, 2),
    ]
    assert all(row["wer_low"] <= row["wer"] <= row["wer_high"] for row in rows)
    assert (rows[1]["lm_scale"], rows[1]["insertion_penalty"]) == (6.5, -2.0)
    assert not any(value is None for row in rows for value in row.values())
    assert "RTF" not in page.words and "Frames %" not in page.words
    assert [line.split()[:2] for line in lines[1:]] == [["mixtures", "26.67"], ["hybrid", "6.67"]]
    assert "2 speakers, 10 utterances, 30 words" in lines[0] and "bigram" in lines[0]
    assert "hybrid makes 20.0 fewer errors in 100 words than mixtures" in caplog.text
    assert "Hybrid makes 20.0 fewer errors in 100 words than mixtures" in page.words
    assert "Hybrid: the held-out words tell little." in page.words
    assert "mixtures: log-likelihood per frame" in page.words
    assert "s0" in page.words and "s1" in page.words


def test_page_tells_of_alignment_and_suspects(tmp_path, caplog):
    _, _, page = reported(tmp_path, caplog, [system("mixtures", "gmm", 1), system("hybrid", "other", 1)])
    assert "only 10 % of the frames are aligned to silence" in page.words
    assert "better than 98 % of the transcripts of other utterances" in page.words
    assert "Suspects" in page.words
    assert "utterance b -7.00 fits <ill> NO NO" in page.words
    assert "stage gmm – fell" in page.words


def test_phone_errors_are_named_in_log_page_and_model(tmp_path, caplog, toy_run):
    _, lines, page = reported(
        tmp_path, caplog, [system("mixtures", "gmm", 8), system("hybrid", "other", 2)], token="phone"
    )
    assert "30 phones" in lines[0] and "PER" in lines[1]
    assert "fewer errors in 100 phones" in page.words
    assert "PER: phone error rate" in page.words and "Phones" in page.words
    assert not {"WER", "Words", "word"} & set(page.words.split())
    model = load_model(toy_run / "gmm.safetensors")
    phones = describe_model(replace(model, lexicon=phone_lexicon([model.hmm.topology.phones])))
    assert "phone error rate" in phones["held-out speech"] and phones["pronunciations"] == "each word is a phone"


@pytest.mark.parametrize("systems", [[], [HeldOutSystem("hybrid", "discriminant", {}, SearchSettings())]])
def test_without_held_out_speech_there_is_a_page_and_no_results(tmp_path, caplog, systems):
    rows, lines, page = reported(tmp_path, caplog, systems, {})
    assert rows == json.loads((tmp_path / "results.json").read_text()) == []
    assert len(lines) == 1 and "held out" in lines[0]
    assert "no speech was held out" in page.words


def test_an_utterance_without_hypothesis_counts_as_deleted(tmp_path, caplog):
    empty = HeldOutSystem("hybrid", "discriminant", {}, SearchSettings())
    rows, _, _ = reported(tmp_path, caplog, [system("mixtures", "gmm", 0), empty])
    assert (rows[1]["errors"], rows[1]["del"]) == (30, 30)


def test_training_leaves_both_systems_on_held_out_speech(toy_run):
    rows = json.loads((toy_run / "results.json").read_text())
    assert [row["system"] for row in rows] == ["mixtures", "hybrid"]
    assert rows[0]["words"] == rows[1]["words"] > 0
    page = Page((toy_run / "report.html").read_text(encoding="utf-8"))
    assert "Training: mixtures and hybrid" in page.words
    assert "Least trusted transcripts" in page.words and len(page.all("audio")) >= 5
    assert len([attrs for attrs in page.all("button") if attrs["title"].startswith("SIL")]) >= 5
    assert "sound like a pause" in page.words
    assert (toy_run / "suspects.tsv").read_text().startswith("kind\tname")


def test_the_help_of_training_names_every_file_that_it_leaves(toy_run, asr):
    status, text, _ = asr("train", "--help")
    assert status == 0
    left = {path.name for path in toy_run.iterdir()} - {"run.json", "stages", ".lock"}
    assert {name for name in left if name not in text} == set()


def test_the_models_say_what_they_were_trained_on(toy_run, toy_corpus, asr):
    said = [line.split()[1:] for line in (toy_corpus / "train" / "text").read_text().splitlines()]
    for name in ("model", "gmm"):
        path = toy_run / f"{name}.safetensors"
        texts = describe(path)["trained on"]
        assert (texts["utterances"], texts["speakers"], texts["words"]) == (24, 4, sum(map(len, said)))
        assert 0.005 < texts["hours"] < 0.05
        assert Recognizer.load(path).info() == describe(path) == describe(Recognizer.load(path))
        status, text, _ = asr("info", path)
        assert status == 0
        assert "trained on:\n  hours: 0.0" in text
        assert ("  prior_ceiling: 2.0\n" in text) == (name == "model")


def test_the_models_say_what_errors_were_made_on_held_out_speech(toy_run, asr):
    recorded = json.loads((toy_run / "held-out.json").read_text())
    for name in ("model", "gmm"):
        path, record = toy_run / f"{name}.safetensors", recorded[name]
        texts = describe(path)["held-out speech"]
        assert (texts["errors"], texts["words"]) == (record["errors"], record["words"])
        assert texts["word error rate"].startswith(
            f"{record['wer']:.1f} % (standard error {record['standard_error']:.1f})"
        )
        assert "without it" in texts["recognized by"]
        assert "held-out speech:\n  words: " in asr("info", path)[1]
