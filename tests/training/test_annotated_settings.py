"""The annotated settings file has every setting with its default and a description."""

from pathlib import Path

import pytest
from pydantic import Field

from asr.training import annotated_settings
from asr.training.annotated_settings import annotated_file, tables
from asr.training.config import TrainingConfig, load_config
from asr.util.config_base import Settings


def test_annotated_file_has_all_defaults(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(annotated_file(), encoding="utf-8")
    assert load_config(path) == TrainingConfig()
    assert load_config(path, corpus_rate=lambda: 8000).hybrid_features.sample_rate == 8000


def test_every_setting_is_described_by_a_sentence() -> None:
    settings = [setting for table in tables() for setting in table.settings]
    assert len(settings) > 90
    assert not [setting.name for setting in settings if not setting.text.endswith(".")]
    assert {setting.name: setting.values for setting in settings}[
        "vtlp_warps"
    ] == 'list of numbers from 0.5 to 2, or "auto"'


def test_setting_without_description_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    class Undescribed(Settings):
        rate: int = Field(1, ge=1)

    monkeypatch.setattr(annotated_settings, "TrainingConfig", Undescribed)
    with pytest.raises(ValueError, match=r"Undescribed\.rate"):
        list(tables())


def test_command_prints_the_settings_without_other_options(asr) -> None:
    assert asr("train", "--print-settings") == (0, annotated_file(), "")
