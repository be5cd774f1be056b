"""Transcripts in disorder, and some that were exchanged, in speech that is trained on."""

import logging
from dataclasses import replace

import pytest

from asr.acoustic.gmm_training import GmmSettings
from asr.alignment.score_files import SUSPECTS
from asr.features.config import FeatureConfig
from asr.training.config import TrainingConfig
from asr.training.dataset import Dataset
from asr.training.gmm_stages import TrainingContext, train_mixtures
from asr.training.transcript_check import find_suspects
from recipes.recipe import Recipe
from tests.toy_corpus import RATE

FEATURES = FeatureConfig(sample_rate=RATE, normalize="speaker")
CONFIG = TrainingConfig(features=FEATURES, gmm=GmmSettings(mixtures=(1, 2, 4), iterations=(6, 4, 4)))


@pytest.fixture
def recipe(toy_recipe) -> Recipe:
    return toy_recipe(CONFIG, n_utterances=41)


def suspects(context: TrainingContext, dataset: Dataset, caplog) -> tuple[list[list[str]], list[str]]:
    """Rows of `suspects.tsv` except those of stages, and the warnings about transcripts."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="asr.training.transcript_check"):
        find_suspects(context, "transcripts", dataset, train_mixtures(context, "gmm", dataset))
    lines = (context.run.directory / SUSPECTS).read_text(encoding="utf-8").splitlines()
    messages = [message for message in caplog.messages if "not match" in message]
    return [row for row in (line.split("\t") for line in lines[1:]) if row[0] not in ("stage", "listed")], messages


def test_right_transcripts_are_no_suspects_and_the_stage_is_not_made_twice(recipe, caplog):
    context, dataset = recipe.context, recipe.dataset("train")
    assert suspects(context, dataset, caplog) == ([], [])
    lines = (context.run.directory / SUSPECTS).read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("listed\t") for line in lines) == 5
    stage = context.run.directory / "stages" / "transcripts"
    assert len((stage / "scores.tsv").read_text().splitlines()) == 1 + len(dataset.static)
    before = (stage / "transcripts.json").stat().st_mtime_ns
    assert suspects(context, dataset, caplog) == ([], [])
    assert (stage / "transcripts.json").stat().st_mtime_ns == before


def test_transcripts_in_reversed_order_are_noticed(recipe, caplog):
    dataset = recipe.dataset("train")
    names = sorted(dataset.static.ids)
    reverse = {name: dataset.transcripts[other] for name, other in zip(names, names[::-1], strict=True)}
    rows, (message,) = suspects(recipe.context, replace(dataset, transcripts=reverse), caplog)
    assert [row[:2] for row in rows] == [["corpus", "all"]]
    assert "all transcripts" in message


def test_exchanged_transcripts_are_named_with_what_they_say(recipe, caplog):
    dataset = recipe.dataset("train")
    transcripts = dict(dataset.transcripts)
    names = sorted(dataset.static.ids)
    first = names[4]
    second = next(name for name in names[9:] if not set(transcripts[name]) & set(transcripts[first]))
    transcripts[first], transcripts[second] = transcripts[second], transcripts[first]
    rows, (message,) = suspects(recipe.context, replace(dataset, transcripts=transcripts), caplog)
    assert sorted(row[1] for row in rows) == sorted([first, second])
    assert {row[1]: row[4] for row in rows}[first] == " ".join(transcripts[first])
    assert f"2 of {len(names)} transcripts" in message
    assert str(recipe.context.run.directory / SUSPECTS) in message
