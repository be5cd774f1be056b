"""Settings from TOML, over the defaults."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asr.features.config import FeatureConfig
from asr.training.config import SettingsError, TrainingConfig, load_config, sets_nothing
from asr.util.errors import ConfigError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_without_a_file_the_defaults_hold(path: Path) -> None:
    assert load_config(None) == TrainingConfig()
    path.write_text("")
    assert load_config(path) == TrainingConfig()


@pytest.mark.parametrize("table", [name for name, value in TrainingConfig() if hasattr(value, "model_dump")])
def test_one_setting_of_a_table_leaves_the_others_at_their_defaults(path: Path, table: str) -> None:
    default = getattr(TrainingConfig(), table)
    key, value = next((key, value) for key, value in default if isinstance(value, str | int | float))
    written = f'"{value}"' if isinstance(value, str) else repr(value)
    path.write_text(f"[{table}]\n{key} = {written}\n")
    assert load_config(path) == TrainingConfig()


def test_hybrid_features_take_the_settings_of_features(path: Path) -> None:
    path.write_text(
        "[features]\nsample_rate = 8000\nnormalize = 'utterance'\n[hybrid_features]\nnormalize = 'corpus'\n"
    )
    config = load_config(path)
    assert (config.features.sample_rate, config.hybrid_features.sample_rate) == (8000, 8000)
    assert (config.features.normalize, config.hybrid_features.normalize) == ("utterance", "corpus")
    assert config.hybrid_features.context == TrainingConfig().hybrid_features.context


def test_both_kinds_of_frames_are_normalized_by_speaker():
    config = TrainingConfig()
    assert (config.features.normalize, config.hybrid_features.normalize) == ("speaker", "speaker")


def test_rate_in_words_names_auto(path: Path) -> None:
    path.write_text("features = {sample_rate = 'fast'}\n")
    with pytest.raises(ConfigError, match=r'sample_rate.*"auto"'):
        load_config(path)


def test_iterations_of_tied_states_follow_their_mixtures(path: Path) -> None:
    path.write_text("context = 3\n[tied_gmm]\nmixtures = [1, 2]\n")
    config = load_config(path)
    assert (config.tied_gmm.iterations, config.tied_gmm.min_gaussian_count) == ((4, 4), 20.0)


def test_a_setting_that_both_front_ends_share_is_complained_of_once(path: Path) -> None:
    path.write_text("[features]\nn_filter = 20\nsample_rate = 'high'\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: features.sample_rate: ") and '"auto"' in message
    assert "features.n_filters?" in message
    assert message.count("features.") == 3 and "hybrid_features" not in message


MANY = """seed = -1
ngram_order = 2024-01-01
features = {n_cepstra = 30, low_hz = 9000.0}
[hybrid_features]
context = 500
[gmm]
mixtures = [1, 3]
iterations = [1]
[hybrid]
realignments = -4
[tied_gmm]
transform = "lda-mllt"
[speakers]
maps = "vtln"
"""


def test_all_faults_that_can_be_seen_together_are_told_together(path: Path) -> None:
    path.write_text(MANY)
    with pytest.raises(SettingsError) as caught:
        load_config(path)
    assert sorted(fault.setting for fault in caught.value.faults) == [
        "features.low_hz", "features.n_cepstra", "gmm.iterations", "gmm.mixtures", "hybrid.realignments",
        "hybrid_features.context", "ngram_order", "seed", "tied_gmm.transform",
    ]  # fmt: skip
    sound = caught.value.sound
    assert sound == load_config({"speakers": {"maps": "vtln"}})  # without the invalid settings


def test_faulty_table_hides_faults_that_depend_on_it(path: Path) -> None:
    path.write_text("[features]\nn_filters = 'many'\nn_cepstra = 30\n[hybrid_features]\nlow_hz = 7.0\n")
    with pytest.raises(SettingsError) as caught:
        load_config(path)
    assert [fault.setting for fault in caught.value.faults] == ["features.n_filters"]


def test_a_file_that_sets_nothing_is_known(path: Path) -> None:
    for text, nothing in (("", True), ("# seed = 3\n", True), ("seed = 0\n", False)):
        path.write_text(text)
        assert sets_nothing(path) == nothing


def test_small_dynamic_range_is_refused_in_settings_alone(path: Path) -> None:
    for number in (0.0, 10.0, 35.0):
        path.write_text(f"[features]\ndynamic_range_db = {number}\n")
        assert load_config(path).hybrid_features.dynamic_range_db == number
    path.write_text("[features]\ndynamic_range_db = 3.0\n")
    with pytest.raises(SettingsError, match=r"dynamic_range_db 3 must be 0 .* at least 10") as caught:
        load_config(path)
    assert [fault.setting for fault in caught.value.faults] == ["features.dynamic_range_db"]
    assert FeatureConfig(dynamic_range_db=3.0).dynamic_range_db == 3.0


def test_a_fault_of_the_hybrid_s_features_alone_is_complained_of_there(path: Path) -> None:
    path.write_text("[hybrid_features]\ncontext = -1\n")
    with pytest.raises(ConfigError, match=r"hybrid_features\.context: must be at least 0, not -1"):
        load_config(path)


def test_a_directory_or_binary_file_is_no_settings(tmp_path: Path, path: Path) -> None:
    with pytest.raises(ConfigError, match="not a regular file"):
        load_config(tmp_path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="UTF-16"):
        load_config(path)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[gmm]\nmixture = [1]\n", "gmm.mixture is not a setting. Did you mean gmm.mixtures?"),
        ("[hybrid]\nrealignement = 1\n", "Did you mean hybrid.realignments?"),
        ("held_out = 0.1\n", "held_out is not a setting. Did you mean tuning.held_out?"),
        ("[hybrid]\nnoise = {directory = 'x', snrdb = [3.0]}\n", "Did you mean hybrid.noise.snr_db?"),
        ("sed = 3\n", "Did you mean seed?"),
        ("clasifier = 'orols'\n", "clasifier is not a setting. Did you mean hybrid.classifier?"),
        ("[tuning]\nclasifier = 'orols'\n", "Did you mean hybrid.classifier?"),
    ],
)
def test_a_name_that_is_no_setting_comes_with_the_one_that_was_meant(path: Path, text: str, meant: str) -> None:
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert meant in str(caught.value)


def test_a_name_unlike_any_setting_comes_with_none(path: Path) -> None:
    path.write_text("colour = 3\n")
    with pytest.raises(ConfigError, match=r"colour is not a setting$"):
        load_config(path)


TIED_STATES = "tied_states: must be the total number of states, from 1 to 100000, or 'auto' (by the amount of speech)"
WORDED = {
    "seed: must be a whole number, not '1' (text). Write it without quotes": "seed = '1'",
    "seed: must be a whole number, not 'one' (text)": "seed = 'one'",
    "seed: must be a whole number, not 1.0 (a number with a decimal point). Write 1": "seed = 1.0",
    "seed: must be a whole number, not true (a boolean)": "seed = true",
    "seed: must be a whole number, not a table": "seed = {}",
    "seed: must be at least 0, not -1": "seed = -1",
    "tuning.held_out: must be less than 1, not 1.5": "[tuning]\nheld_out = 1.5",
    f"{TIED_STATES}, not 0": "tied_states = 0",
    f"{TIED_STATES}, not 100001": "tied_states = 100001",
    "gmm_search.beam: must be greater than 0, not 0": "[gmm_search]\nbeam = 0",
    "gmm_search.beam: must be a finite number, not nan": "[gmm_search]\nbeam = nan",
    "tuning.held_out: must be a number, not '0.2' (text). Write it without quotes": "[tuning]\nheld_out = '0.2'",
    "tuning.tune_beam: must be true or false, not 1 (a whole number)": "[tuning]\ntune_beam = 1",
    "tuning.tune_beam: must be true or false, not 'true' (text). Write it without quotes": "tuning.tune_beam = 'true'",
    "gmm.mixtures: must be a list in square brackets, not 4 (a whole number). Write [4]": "[gmm]\nmixtures = 4",
    "gmm.mixtures.1: must be a whole number, not '2' (text). Write it without quotes": "[gmm]\nmixtures = [1, '2']",
    "gmm.mixtures: must have at least 1 entry, not []": "[gmm]\nmixtures = []",
    "gmm: must be a table of settings, not [1] (a list)": "gmm = [1]",
    "lexicon.stress: must be 'auto', 'strip' or 'keep', not 'no'": "[lexicon]\nstress = 'no'",
    (
        "hybrid.vtlp_warps: must be a list in square brackets or 'auto', not 1.1 (a number with a decimal point). "
        "Write [1.1]"
    ): ("[hybrid]\nvtlp_warps = 1.1"),
    "hybrid.max_frames: must be a whole number or 'auto', not 'all' (text)": "[hybrid]\nmax_frames = 'all'",
    "hybrid.vtlp_warps.0: must be at least 0.5, not 0.1": "[hybrid]\nvtlp_warps = [0.1]",
    "hybrid.classifier: must be text, not 3 (a whole number)": "[hybrid]\nclassifier = 3",
    "hybrid.noise.directory is missing": "[hybrid]\nnoise = {}",
    "gmm.colour is not a setting": "[gmm]\ncolour = 3",
}


@pytest.mark.parametrize("told", WORDED)
def test_fault_is_told_with_what_is_right_and_the_value(path: Path, told: str) -> None:
    path.write_text(WORDED[told])
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}: {told}"


def test_tables_from_python_may_hold_tuples_and_numbers_of_numpy() -> None:
    config = load_config({"seed": np.int64(3), "gmm": {"mixtures": (1, np.int32(2))}, "tuning": {"held_out": 0}})
    assert (config.seed, config.gmm.mixtures, config.tuning.held_out) == (3, (1, 2), 0.0)
    assert load_config({"gmm_search": {"beam": np.float32(100)}}).gmm_search.beam == 100.0


def test_a_list_within_itself_is_refused_and_not_followed() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ConfigError, match=r"^gmm.mixtures.0: must be a whole number"):
        load_config({"gmm": {"mixtures": endless}})
