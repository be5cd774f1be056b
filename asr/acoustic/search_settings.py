"""How the search of a model weighs its parts, and how wide it is."""

from typing import Any, Self, TypedDict, Unpack

from pydantic import Field, SerializerFunctionWrapHandler, ValidationError, field_validator, model_serializer

from asr.util.config_base import Settings, faults
from asr.util.errors import ConfigError

MAX_SCALE = 1e6
MAX_PENALTY = 1e9
WIDEST_BEAM = 1e30  # no two paths differ as much, and JSON has no infinity


class ConfidenceSettings(Settings):
    """How the posterior p of a word becomes its confidence: 1 / (1 + exp(-z)) with

        z = offset + slope ln(p / (1 - p)) + fit f + duration ln(d)

    of a word with d frames, of which each scores f more, on average, than in no state in particular (`word_fits`). A
    logistic curve, fitted to which words of held-out speech were right (Platt 1999).
    """

    scale: float = Field(1.0, gt=0, le=1e3)
    """By what the scores of a lattice, divided by the grammar's scale, are multiplied before they are probabilities."""
    slope: float = Field(1.0, ge=0, le=1e3)
    fit: float = Field(0.0, ge=0, le=1e3)
    duration: float = Field(0.0, ge=-1e3, le=1e3)
    offset: float = Field(0.0, ge=-1e6, le=1e6)


class SearchOptions(TypedDict, total=False):
    """Search settings that take the place of a model's own, unless None; see `SearchSettings`."""

    lm_scale: float | None
    insertion_penalty: float | None
    filler_penalty: float | None
    min_phone_llr: float | None
    min_silence_llr: float | None
    beam: float | None
    max_active: int | None


class SearchSettings(Settings):
    """How the search weighs its parts."""

    lm_scale: float = Field(8.0, ge=0, le=MAX_SCALE)
    """Factor on the grammar's log probabilities."""
    insertion_penalty: float = Field(0.0, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Added to a path's score for every word; negative discourages words."""
    filler_penalty: float = Field(-50.0, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Added for every phone of a filler, `[unk]` or `$other` in a grammar: the more negative, the fewer commands are
    taken for other speech, and the more other speech for commands."""
    beam: float = Field(200.0, gt=0, le=WIDEST_BEAM)
    """Natural log below the best token of a frame at which tokens are dropped; an infinite one is kept as the widest,
    which drops none."""
    max_active: int = Field(3000, ge=0, le=2**31 - 1)
    """Most tokens kept in a frame; 0 for no limit."""

    confidence: ConfidenceSettings | None = None
    """Of words; None where it was not fitted, and confidences are posteriors."""
    min_phone_llr: float | None = Field(None, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """Utterances whose words fit less well, compared with any string of phones, are rejected; nats a frame of speech
    (`SpeechRatio`). None rejects none, as minus infinity does."""
    min_silence_llr: float | None = Field(None, ge=-MAX_PENALTY, le=MAX_PENALTY)
    """The same, compared with silence."""

    @property
    def rejects(self) -> bool:
        """Whether some utterances may be rejected."""
        return self.min_phone_llr is not None or self.min_silence_llr is not None

    def with_options(self, **options: Unpack[SearchOptions]) -> Self:
        """The settings with the options that are not None.

        Raises ConfigError for a value out of range, TypeError for a name that is none.
        """
        known = SearchOptions.__annotations__
        for name in options:
            if name not in known:
                raise TypeError(f"there is no keyword {name!r}; those of the search are {', '.join(known)}")
        given = {name: value for name, value in options.items() if value is not None}
        try:
            return self.model_validate(self.model_dump() | given)
        except ValidationError as error:
            raise ConfigError("; ".join(fault.phrase for fault in faults(error))) from error

    @model_serializer(mode="wrap")
    def _without_what_is_not_known(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
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
