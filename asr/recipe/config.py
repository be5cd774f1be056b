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
    features: FeatureConfig = FeatureConfig(normalise="speaker")
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
    shared = values.get("features")
    if isinstance(shared, dict):
        # What both front ends share need be said only once.
        own = values.setdefault("hybrid_features", {})
        if isinstance(own, dict):
            values["hybrid_features"] = {
                "normalise": "speaker",
                "context": 7,
                "lda_dimension": 60,
                **shared,
                **own,
            }
            values["features"] = {"normalise": "speaker", **shared}
    try:
        return TrainingConfig.model_validate(values)
    except ValidationError as error:
        reasons = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'settings'}: {problem['msg']}" for problem in error.errors()
        )
        raise ConfigError(f"{path}: {reasons}") from error
