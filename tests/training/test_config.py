"""Settings from TOML, over the defaults."""

from pathlib import Path

import pytest

from asr.errors import ConfigError
from asr.training.config import TrainingConfig, load_config


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


def test_what_is_said_of_features_holds_for_the_hybrid_s_too_unless_it_says_otherwise(path: Path) -> None:
    path.write_text(
        "[features]\nsample_rate = 8000\nnormalize = 'utterance'\n[hybrid_features]\nnormalize = 'corpus'\n"
    )
    config = load_config(path)
    assert (config.features.sample_rate, config.hybrid_features.sample_rate) == (8000, 8000)
    assert (config.features.normalize, config.hybrid_features.normalize) == ("utterance", "corpus")
    assert config.hybrid_features.context == TrainingConfig().hybrid_features.context


def test_kernel_discriminants_take_the_place_of_the_default_lda(path: Path) -> None:
    path.write_text("[hybrid_features]\nkda_dimension = 30\n")
    features = load_config(path).hybrid_features
    assert (features.kda_dimension, features.lda_dimension, features.context) == (30, None, 7)
    path.write_text("[hybrid_features]\nkda_dimension = 30\nlda_dimension = 30\n")
    with pytest.raises(ConfigError, match="hybrid_features: kda_dimension 30 and lda_dimension 30 exclude each other"):
        load_config(path)


def test_a_setting_that_both_front_ends_share_is_complained_of_once(path: Path) -> None:
    path.write_text("[features]\nn_filter = 20\nsample_rate = 'high'\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == (
        f"{path}: features.sample_rate: Input should be a valid integer, unable to parse string as an integer, "
        "not 'high'; features.n_filter is no setting; did you mean features.n_filters?"
    )


def test_a_fault_of_the_hybrid_s_features_alone_is_complained_of_there(path: Path) -> None:
    path.write_text("[hybrid_features]\ncontext = -1\n")
    with pytest.raises(ConfigError, match=r"hybrid_features\.context: .* greater than or equal to 0, not -1"):
        load_config(path)


def test_a_directory_or_binary_file_is_no_settings(tmp_path: Path, path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: it is no file"):
        load_config(tmp_path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="line 1: the byte 0xff is not UTF-8"):
        load_config(path)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[gmm]\nmixture = [1]\n", "gmm.mixture is no setting; did you mean gmm.mixtures?"),
        ("[hybrid]\nrealignement = 1\n", "did you mean hybrid.realignments?"),
        ("held_out = 0.1\n", "held_out is no setting; did you mean tuning.held_out?"),
        ("[hybrid]\nnoise = {directory = 'x', snrdb = [3.0]}\n", "did you mean hybrid.noise.snr_db?"),
        ("sed = 3\n", "did you mean seed?"),
    ],
)
def test_a_name_that_is_no_setting_comes_with_the_one_that_was_meant(path: Path, text: str, meant: str) -> None:
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert meant in str(caught.value)


def test_a_name_unlike_any_setting_comes_with_none(path: Path) -> None:
    path.write_text("colour = 3\n")
    with pytest.raises(ConfigError, match=r"colour is no setting$"):
        load_config(path)
