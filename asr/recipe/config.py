"""Settings of a training run, from defaults, a TOML file or a recipe."""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.errors import ConfigError
from asr.features.config import FeatureConfig


class TuningSettings(BaseModel):
    """How the search's scale and penalty are chosen on training speakers held out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    held_out: float = Field(0.15, ge=0, lt=1)
    """Fraction of the training speakers (utterances, if there is only one speaker) held out; 0 for no tuning."""
    scale_factors: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2)
    """Language-model scales tried, as multiples of the search settings' own."""
    penalty_factors: tuple[float, ...] = (-4.0, -2.5, -1.5, -0.75, 0.0, 0.75, 1.5)
    """Insertion penalties tried, likewise multiples of that scale."""


class TrainingConfig(BaseModel):
    """Everything that `asr train` can be told; the TOML file has one table for each part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    states_per_phone: int = Field(3, ge=1)
    ngram_order: int = Field(2, ge=1)
    """Order of the default grammar, estimated from the training transcripts."""
    features: FeatureConfig = FeatureConfig()
    """Frames of the Gaussian mixtures."""
    hybrid_features: FeatureConfig = FeatureConfig(normalise="speaker", context=7, lda_dimension=60)
    """Frames of the classifier; what concerns static features has to agree with `features`."""
    gmm: GmmSettings = GmmSettings()
    hybrid: HybridSettings = HybridSettings()
    gmm_search: SearchSettings = SearchSettings()
    hybrid_search: SearchSettings = SearchSettings(lm_scale=4.0, beam=100.0)
    tuning: TuningSettings = TuningSettings()


def load_config(path: Path | None) -> TrainingConfig:
    """Read settings from a TOML file; the defaults where there is none.

    Raises
    ------
    ConfigError
        Naming the file and every key that is unknown or has a wrong value.
    """
    if path is None:
        return TrainingConfig()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from error
    defaults = TrainingConfig()
    shared = values.get("features")
    for name, default in defaults:
        own = values.get(name, {})
        if isinstance(default, BaseModel) and isinstance(own, dict):
            # What both front ends share need be said only once.
            common = shared if name == "hybrid_features" and isinstance(shared, dict) else {}
            values[name] = {**default.model_dump(), **common, **own}
    try:
        return TrainingConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{path}: {'; '.join(_reasons(error))}") from error


def _reasons(error: ValidationError) -> list[str]:
    """A phrase for every wrong setting; one that both front ends share is named once."""
    found: dict[str, str] = {}
    for problem in error.errors():
        where = ".".join(map(str, problem["loc"])) or "settings"
        if where.removeprefix("hybrid_") in found:
            continue
        if problem["type"] == "extra_forbidden":
            found[where] = f"{where} is no setting"
        else:
            found[where] = f"{where}: {problem['msg'].removeprefix('Value error, ')}, not {problem['input']!r}"
    return list(found.values())
