"""What the metadata of a model file may hold, checked before anything is made of them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class HybridScores(BaseModel):
    """How a classifier's posteriors become scores."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    prior_exponent: float = Field(allow_inf_nan=False)
    prior_floor: float = Field(gt=0, allow_inf_nan=False)
    prior_ceiling: float | None = Field(None, ge=1, allow_inf_nan=False)
    mixture_weight: float = Field(0.5, ge=0, le=1)
    """Only there with a second stream."""


class ModelMetadata(BaseModel):
    """The JSON value beside the arrays; parts that have rules of their own are checked by those who read them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: str
    kind: Literal["gmm", "hybrid"]
    phones: list[str]
    states_per_phone: int = Field(ge=1)
    front_end: dict[str, Any]
    """As `FrontEnd.from_arrays` takes it."""
    lexicon: dict[str, list[list[str]]]
    lexicon_digest: str
    search: dict[str, Any]
    source: Literal["audio", "archive"]
    arpa: str | None
    """The grammar."""
    untrained: list[str] = []
    """Phones that training never heard; left out where there is none."""
    classifier: dict[str, Any] | None = None
    """As `estimator_from_arrays` takes it; of a hybrid."""
    hybrid: HybridScores | None = None
    calibration: dict[str, Any] | None = None
    """As `estimator_from_arrays` takes it; of a hybrid whose classifier has no posteriors."""
