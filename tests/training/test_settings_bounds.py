"""Whatever a file of settings says, it is refused on reading with one sentence, or can be used."""

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from asr.acoustic.classifiers import make_classifier
from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings, NoiseSettings
from asr.acoustic.model_file import WIDEST_BEAM, SearchSettings
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.mfcc import mfcc
from asr.features.warping import warping_matrix
from asr.hmm.topology import Topology
from asr.recognition.input_network import AdaptationSettings
from asr.training.config import TrainingConfig, TuningSettings, load_config
from asr.util.config_base import Settings, fault_in_value
from asr.util.errors import ConfigError

TABLES = {"": TrainingConfig} | {name: type(value) for name, value in TrainingConfig() if isinstance(value, Settings)}
FIELDS = sorted((table, name) for table, kind in TABLES.items() for name in kind.model_fields if name not in TABLES)
ENDLESS = (("beam", "inf"), ("min_phone_llr", "-inf"), ("min_silence_llr", "-inf"), ("penalty_factors", "[-1]"))
HUGE = "9" * 5000
PLAIN = (
    st.sampled_from(
        "inf|-inf|nan|0|-1|1|2|1e39|-1e39|1e-300|5e-324|4294967296|true|''|'auto'|'none'|'speaker'|1e9|2024-01-01|[]|{}"
        f"|0.5|8000|{HUGE}|0x{'f' * 1900}|{'9' * 1900}".split("|")
    )
    | st.integers(-10, 10_000).map(str)
    | st.floats(0, 1000).map(repr)
    | st.floats().map(repr)
    | st.text(st.characters(categories=["L", "N", "Zs"]), max_size=8).map(lambda text: json.dumps(text))
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(["directory", "snr_db", "alpha"]), inner, max_size=2).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        )
    ),
    max_leaves=6,
)
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)


def written(chosen: dict[tuple[str, str], str]) -> str:
    """The settings as TOML, those of no table first."""
    lines: dict[str, list[str]] = {}
    for (table, name), value in sorted(chosen.items()):
        lines.setdefault(table, []).append(f"{name} = {value}")
    return "".join((f"[{table}]\n" if table else "") + "\n".join(rows) + "\n" for table, rows in lines.items())


def use(config: TrainingConfig) -> None:
    """What training does with settings, on a tenth of a second of noise."""
    again = TrainingConfig.model_validate(json.loads(json.dumps(config.model_dump(mode="json"), allow_nan=False)))
    assert again == config
    assert np.random.default_rng(config.seed).random() >= 0
    assert np.random.RandomState(config.seed).rand() >= 0
    assert Topology(("a",), config.states_per_phone).n_states == 2 * config.states_per_phone
    assert sum(config.gmm.iterations) >= len(config.gmm.mixtures) >= 1
    for name in ("features", "hybrid_features"):
        features: FeatureConfig = getattr(config, name)
        n_samples = max(features.sample_rate // 10, 2 * features.window_samples)
        signal = (1000 * np.random.default_rng(0).standard_normal(n_samples)).astype(np.float32)
        static = FrameTable.from_utterances(["u"], ["s"], [mfcc(signal, features)])
        front_end = FrontEnd(features.model_copy(update={"lda_dimension": None})).fit(static)
        assert np.isfinite(front_end.transform(static).frames).all()
        for warp in config.hybrid.vtlp_warps if config.hybrid.vtlp_warps != "auto" else ():
            assert np.isfinite(warping_matrix(warp, features)).all()
    scales = [factor * config.gmm_search.lm_scale for factor in config.tuning.scale_factors]
    penalties = [factor * config.gmm_search.lm_scale for factor in config.tuning.penalty_factors]
    for scale, penalty in zip(scales * len(penalties), penalties * len(scales), strict=True):
        SearchSettings(lm_scale=scale, insertion_penalty=penalty)


@SAME_FOLDER
@given(chosen=st.dictionaries(st.sampled_from(FIELDS), VALUES, min_size=1, max_size=3))
@example(chosen={("gmm", "mixtures"): "[1, 2, 4]"})
@example(chosen={("features", "lifter"): "2", ("hybrid", "vtlp_warps"): "[0.9]"})
def test_any_settings_are_refused_with_one_sentence_or_can_be_used(tmp_path: Path, chosen: dict) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(written(chosen), encoding="utf-8")
    try:
        config = load_config(path)
    except ConfigError as error:
        assert str(path) in str(error)
        assert len(str(error)) < 2000
        return
    use(config)


@pytest.mark.parametrize(("table", "name"), FIELDS)
def test_no_number_without_an_end_is_a_setting(tmp_path: Path, table: str, name: str) -> None:
    path = tmp_path / "settings.toml"
    for value in ("inf", "-inf", "nan", HUGE, "0x" + "f" * 1900, "-1e39", "[nan]", "[inf, 1.0]", "[-1]"):
        path.write_text(written({(table, name): value}))
        if (name, value) in ENDLESS:
            assert load_config(path)
            continue
        with pytest.raises(ConfigError, match=r"settings\.toml[:,] "):
            load_config(path)


NUMBERS = [
    (kind, name)
    for kind in (*TABLES.values(), AdaptationSettings)
    for name, field in kind.model_fields.items()
    if isinstance(field.get_default(call_default_factory=True), int | float)
    and not isinstance(field.get_default(call_default_factory=True), bool)
]


@pytest.mark.parametrize(("kind", "name"), dict.fromkeys(NUMBERS), ids=str)
def test_every_number_has_bounds(kind: type[Settings], name: str) -> None:
    for value in (10**40, -(10**40), 10**400, math.nan, -math.inf):
        with pytest.raises(ValidationError, match=name):
            kind(**{name: value})


@pytest.mark.parametrize(
    ("kind", "values", "part"),
    [
        (TrainingConfig, {"seed": -1}, "seed"),
        (TrainingConfig, {"seed": 2**32}, "seed"),
        (TrainingConfig, {"ngram_order": 1000}, "ngram_order"),
        (FeatureConfig, {"sample_rate": 10**9}, "sample_rate"),
        (FeatureConfig, {"sample_rate": 384_000, "window_ms": 1000}, "384000 samples"),
        (FeatureConfig, {"n_filters": 500}, "filter 1 covers no bin"),
        (FeatureConfig, {"low_hz": 100, "high_hz": 100.0000001}, "covers no bin"),
        (FeatureConfig, {"lifter": 2}, "third cepstrum zero"),
        (FeatureConfig, {"context": 100, "n_cepstra": 25, "delta_order": 4}, "spliced frames of 26130 values"),
        (FeatureConfig, {"lda_dimension": 40}, "lda_dimension 40 is above the 39"),
        (FeatureConfig, {"shift_ms": 0.1}, "shift_ms"),
        (GmmSettings, {"mixtures": []}, "mixtures"),
        (GmmSettings, {"mixtures": [2**n for n in range(30)]}, "mixtures"),
        (GmmSettings, {"iterations": [1, 2]}, "Expected 5 numbers, one for each of mixtures"),
        (GmmSettings, {"variance_floor": 0}, "variance_floor"),
        (HybridSettings, {"vtlp_warps": [0.0]}, "vtlp_warps"),
        (HybridSettings, {"vtlp_warps": [math.inf]}, "vtlp_warps"),
        (HybridSettings, {"vtlp_warps": [0.9, 0.9]}, "must differ from each other"),
        (HybridSettings, {"speed_perturb": [0.9, 1.0]}, "must not contain 1"),
        (HybridSettings, {"speed_perturb": [0.9, 0.90000001]}, "must differ"),
        (HybridSettings, {"parameters": {"alpha": math.nan}}, "alpha: must be a finite number, not nan"),
        (HybridSettings, {"parameters": {"a": [{"b": 10**30}]}}, r"a\.0\.b: must be an integer between"),
        (HybridSettings, {"parameters": {"alpha": 1j}}, "not a complex"),
        (HybridSettings, {"classifier": "m\x1bp"}, "classifier"),
        (HybridSettings, {"prior_exponent": math.inf}, "prior_exponent"),
        (HybridSettings, {"mixtures": 2**40}, "mixtures"),
        (NoiseSettings, {"directory": "n\0ise"}, "directory"),
        (NoiseSettings, {"directory": "noise", "snr_db": [math.inf]}, "snr_db"),
        (NoiseSettings, {"directory": "noise", "snr_db": [10, 10.0]}, "must differ"),
        (TuningSettings, {"scale_factors": []}, "scale_factors"),
        (TuningSettings, {"scale_factors": [-1.0]}, "scale_factors"),
        (TuningSettings, {"penalty_factors": [math.nan]}, "penalty_factors"),
        (AdaptationSettings, {"sharpness": []}, "sharpness"),
        (AdaptationSettings, {"sharpness": [-1]}, "sharpness"),
        (TrainingConfig, {"features": {"lda_dimension": 20}}, r"hybrid_features"),
        (TrainingConfig, {"features": {"dynamic_range_db": 9.9}}, "dynamic_range_db 9.9 must be 0"),
        (TrainingConfig, {"context": 1, "tied_states": 300}, "tied_states: .* with context = 1"),
        (TrainingConfig, {"gmm_search": {"lm_scale": 1e6}}, "scale_factors"),
    ],
)
def test_a_setting_that_could_only_fail_later_is_refused(kind: type[Settings], values: dict, part: str) -> None:
    with pytest.raises(ValidationError, match=part):
        kind(**values)


def test_mixtures_given_alone_take_the_usual_iterations() -> None:
    assert GmmSettings(mixtures=(1, 2)).iterations == (10, 5)
    assert GmmSettings(mixtures=[1, 2, 4, 8, 16, 32, 64]).iterations == (10, 5, 5, 6, 6, 6, 6)
    assert GmmSettings(mixtures=(1, 2), iterations=(3, 3)).iterations == (3, 3)


def test_mixtures_alone_are_enough_in_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[gmm]\nmixtures = [1, 2, 4]\n")
    more = {"silence_gaussian_ratio": 4, "flat_start_restarts": 1, "recording_noise_model": True}
    assert load_config(path).gmm == GmmSettings(mixtures=(1, 2, 4), iterations=(10, 5, 5), **more)


def test_an_infinite_beam_is_kept_as_the_widest() -> None:
    search = SearchSettings(beam=math.inf)
    assert search.beam == WIDEST_BEAM
    assert json.loads(json.dumps(search.model_dump(), allow_nan=False))["beam"] == WIDEST_BEAM


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("seed = " + "[" * 1500, "cannot be read as TOML"),
        ("\n".join(["seed = ["] + ["["] * 2000), "cannot be read as TOML"),
        ("[hybrid]\nparameters = {" + ".".join("a" * 60) + " = 1}", "more than 20 deep"),
        (".".join("a" * 30_000) + " = 1", "line 1: has 60003 characters"),
        ("seed = " + HUGE, "line 1: has 5007 characters"),
        ("seed = " + "9" * 1900, "integer"),
        ("# " + "x" * 70_000, "larger than 64 KiB"),
        ("\x1b = 1", "cannot be read as TOML"),
        (r'"\u001b[2J" = 1', "is not a setting"),
        ("seed = 1\nseed = 2", "cannot be read as TOML"),
        ("features = 3", "features"),
        ("features = []", "features"),
        ("[hybrid_features]\nsample_rate = 8000\n", "differ in sample_rate"),
    ],
)
def test_a_file_that_is_hard_to_read_is_refused_with_one_sentence(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=part) as caught:
        load_config(path)
    assert str(caught.value).isprintable()


def test_a_value_within_itself_is_refused_and_not_followed() -> None:
    value: list[Any] = []
    value.append(value)
    assert "more than 20 deep" in str(fault_in_value({"a": value}))


def test_parameters_of_a_classifier_stay_as_they_are_given() -> None:
    parameters = {"hidden_layer_sizes": [8], "alpha": 1e-4, "solver": "adam", "shuffle": True, "random_state": None}
    assert HybridSettings(classifier="mlp", parameters=parameters).parameters == parameters
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make_classifier("mlp", parameters).alpha == 1e-4
