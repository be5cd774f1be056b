"""Systems that several recipes compare: what they are, and how a recipe is asked for them."""

import sys
from pathlib import Path

import pytest

from asr.acoustic.classifiers import make_classifier
from asr.acoustic.fit_progress import max_frames_for
from asr.features.config import FeatureConfig
from recipes.recipe import parse_arguments
from recipes.systems import FAMILIES, TABLE_4_2, kernel_family, table_4_2


def test_the_systems_are_those_of_the_table():
    features = FeatureConfig(sample_rate=8000)
    (mixtures,), hybrids = table_4_2(features)
    assert mixtures.system(*mixtures.components) == "gmm-8"
    assert [hybrid.name for hybrid in hybrids] == ["svm-ovo", "npd-ovo", "orols-ovo", "npd-ovo-logistic", "krls-ovr"]
    assert [hybrid.kind for hybrid in hybrids] == ["other", *4 * ["discriminant"]]
    for hybrid in hybrids:
        assert hybrid.features == mixtures.features == features
        assert hybrid.settings.vtlp_warps == () and hybrid.settings.prior_exponent == (
            1.0 if hybrid.name == "krls-ovr" else 0.7
        )
        classifier = make_classifier(hybrid.settings.classifier, hybrid.settings.parameters)
        assert classifier.sigma == {"svm-ovo": 6.0, "npd-ovo-logistic": 7.0}.get(hybrid.name, 8.0)


@pytest.mark.parametrize(("given", "found"), [([], "ours"), (["--systems", "table-4.2"], "table-4.2")])
def test_a_recipe_that_offers_them_can_be_asked_for_them(given, found, monkeypatch, tmp_path: Path):
    monkeypatch.setattr(sys, "argv", ["recipe", "--work-dir", str(tmp_path), *given])
    assert parse_arguments("", needs_corpus=False, systems=TABLE_4_2).systems == found


def test_a_recipe_that_does_not_offer_them_refuses(monkeypatch, tmp_path: Path, capsys):
    monkeypatch.setattr(sys, "argv", ["recipe", "--work-dir", str(tmp_path), "--systems", "ours"])
    with pytest.raises(SystemExit):
        parse_arguments("", needs_corpus=False)
    assert "--systems" in capsys.readouterr().err


def test_widths_that_are_given_are_tried_for_every_hybrid():
    _, hybrids = table_4_2(FeatureConfig(sample_rate=8000), widths=(6, 8.5))
    for hybrid in hybrids:
        assert [candidate.name for candidate in hybrid.candidates()] == [
            f"{hybrid.name}-width-{w}" for w in ("6", "8_5")
        ]
        assert [candidate.settings.parameters["sigma"] for candidate in hybrid.candidates()] == [6.0, 8.5]


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
    choices = {**TABLE_4_2, **FAMILIES}
    monkeypatch.setattr(sys, "argv", ["recipe", "--work-dir", str(tmp_path), "--systems", "fisher"])
    assert parse_arguments("", needs_corpus=False, systems=choices).systems == "fisher"
    with pytest.raises(SystemExit):
        parse_arguments("", needs_corpus=False, systems=TABLE_4_2)
    assert "invalid choice: 'fisher'" in capsys.readouterr().err
