"""Families of kernel machines as systems of a recipe: what they are, and how a recipe is asked for them."""

import sys
from pathlib import Path

import pytest

from asr.acoustic.classifiers import make_classifier
from asr.acoustic.fit_progress import max_frames_for
from asr.experiments import thesis_table_4_2
from asr.experiments.kernel_families import CHOICES, kernel_family
from asr.experiments.recipe import parse_arguments
from asr.features.config import FeatureConfig


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("fisher", ["kfd-4000", "sparse-greedy-kfd", "ksod-1500", "orols", "logistic"]),
        ("least-squares", ["fixed-size-lssvm", "bayesian-lssvm-1500", "logistic"]),
    ],
)
def test_the_dense_ones_are_fitted_to_as_many_frames_as_their_names_say(family, expected):
    features = FeatureConfig(sample_rate=8000)
    spliced = features.model_copy(update={"context": 3, "lda_dimension": 30})
    (mixtures,), hybrids = kernel_family(family, features, spliced)
    assert mixtures.features == features
    assert [hybrid.name for hybrid in hybrids] == expected
    for hybrid in hybrids:
        assert (hybrid.features, hybrid.kind, hybrid.settings.vtlp_warps) == (spliced, "discriminant", ())
        classifier = make_classifier(hybrid.settings.classifier, hybrid.settings.parameters)
        most = hybrid.settings.max_frames
        assert (most > 0) == (max_frames_for(classifier) > 0)
        assert most <= max_frames_for(classifier)
        assert hybrid.name.endswith(f"-{most}") or not most


def test_a_recipe_that_offers_several_can_be_asked_for_each(monkeypatch, tmp_path: Path, capsys):
    choices = {**thesis_table_4_2.CHOICE, **CHOICES}
    monkeypatch.setattr(sys, "argv", ["recipe", "--work-dir", str(tmp_path), "--systems", "fisher"])
    assert parse_arguments("", needs_corpus=False, systems=choices).systems == "fisher"
    with pytest.raises(SystemExit):
        parse_arguments("", needs_corpus=False, systems=thesis_table_4_2.CHOICE)
    assert "invalid choice: 'fisher'" in capsys.readouterr().err
