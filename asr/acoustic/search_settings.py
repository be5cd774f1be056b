"""Weights and pruning of the search."""

from typing import Any, Self, TypedDict, Unpack

from pydantic import Field, SerializerFunctionWrapHandler, ValidationError, field_validator, model_serializer

from asr.util.config_base import Settings, faults
from asr.util.errors import ConfigError

MAX_SCALE = 1e6
MAX_PENALTY = 1e9
WIDEST_BEAM = 1e30  # larger than any difference of scores; JSON has no infinity


class ConfidenceSettings(Settings):
    """Conversion of a word's posterior p to its confidence, 1 / (1 + exp(-z)) with

    z = offset + slope ln(p / (1 - p)) + fit f + duration ln(d)

    for a word of d frames whose scores exceed those of no state in particular by f on average (`word_fits`). The
    logistic curve is fitted to the correct and incorrect words of held-out speech (Platt 1999).
    """

    scale: float = Field(1.0, gt=0, le=1e3)
    """Factor on lattice scores, after division by the grammar's scale, before they become probabilities."""
    slope: float = Field(1.0, ge=0, le=1e3)
    """Weight of the posterior's log odds."""
    fit: float = Field(0.0, ge=0, le=1e3)
    """Weight of the word's fit f."""
    duration: float = Field(0.0, ge=-1e3, le=1e3)
    """Weight of the logarithm of the word's duration d, in frames."""
    offset: float = Field(0.0, ge=-1e6, le=1e6)
    """Constant term."""


class SearchOptions(TypedDict, total=False):
    """Search settings that override a model's own, unless None; see `SearchSettings`."""

    lm_scale: float | None
    insertion_penalty: float | None
    filler_penalty: float | None
    min_phone_llr: float | None
    min_silence_llr: float | None
    beam: float | None
    max_active: int | None


class SearchSettings(Settings):
    """Weights and pruning of the search."""

    lm_scale: float = Field(8.0, ge=0, le=MAX_SCALE)
    """Factor on the grammar's log probabilities."""
    insertion_penalty: float = Field(0.0, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Added to a path's score for every word; negative values discourage words."""
    filler_penalty: float = Field(-50.0, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Added for every phone of a filler, `[unk]` or `$other` in a grammar. Lower values accept more commands, but also
    more other speech as commands."""
    beam: float = Field(200.0, gt=0, le=WIDEST_BEAM)
    """Tokens this far (natural log) below the best of a frame are dropped. Infinity disables it."""
    max_active: int = Field(3000, ge=0, le=2**31 - 1)
    """Maximum number of tokens in a frame; 0 for no limit."""

    confidence: ConfidenceSettings | None = None
    """Calibration of confidences; without it they are posteriors."""
    min_phone_llr: float | None = Field(None, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Utterances with a lower likelihood ratio of words to any string of phones are rejected; nats per frame of speech
    (`SpeechRatio`). Not limited by default; minus infinity also disables it."""
    min_silence_llr: float | None = Field(None, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Utterances with a lower likelihood ratio of words to silence are rejected, as for `min_phone_llr`."""

    @property
    def rejects(self) -> bool:
        """Whether utterances may be rejected."""
        return self.min_phone_llr is not None or self.min_silence_llr is not None

    def with_options(self, **options: Unpack[SearchOptions]) -> Self:
        """Return the settings with the options that are not None.

        Raises ConfigError for a value out of range, TypeError for an unknown name.
        """
        known = SearchOptions.__annotations__
        for name in options:
            if name not in known:
                raise TypeError(f"search has no keyword {name!r}. Expected {', '.join(known)}")
        given = {name: value for name, value in options.items() if value is not None}
        try:
            return self.model_validate(self.model_dump() | given)
        except ValidationError as error:
            raise ConfigError("; ".join(issue.message for issue in faults(error))) from error

    @model_serializer(mode="wrap")
    def _drop_unknown(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialize(self)
        optional = ("confidence", "min_phone_llr", "min_silence_llr")
        return {name: value for name, value in fields.items() if value is not None or name not in optional}

    @field_validator("min_phone_llr", "min_silence_llr", mode="before")
    @classmethod
    def _no_limit(cls, limit: Any) -> Any:
        return None if limit == float("-inf") else limit

    @field_validator("beam", mode="before")
    @classmethod
    def _widest(cls, beam: Any) -> Any:
        return WIDEST_BEAM if beam == float("inf") else beam
