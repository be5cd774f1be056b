"""What the metadata of a model file may hold, checked before anything is made of them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class HybridScores(BaseModel):
    """How a classifier's posteriors become scores."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    prior_exponent: float = Field(allow_inf_nan=False)
    prior_floor: float = Field(gt=0, allow_inf_nan=False)
    prior_ceiling: float | None = Field(None, ge=1, allow_inf_nan=False)
    mixture_weight: float = Field(0.5, ge=0, le=1)
    """Only there with a second stream."""


class HybridParts(BaseModel):
    """What metadata say of a hybrid; of mixtures nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    classifier: dict[str, Any] | None = None
    """As `estimator_from_arrays` takes it."""
    hybrid: HybridScores | None = None
    calibration: dict[str, Any] | None = None
    """As `estimator_from_arrays` takes it; of a hybrid whose classifier has no posteriors."""
    smbr_epochs: int | None = Field(None, ge=0, le=10**9)
    """In which its classifier was trained on sequences; left out where nobody knows, as in older files."""


class StreamParts(HybridParts):
    """A stream of a composite, and the columns `start` up to `end` of the frames that it scores."""

    kind: Literal["gmm", "hybrid"]
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    weight: float = Field(ge=0, allow_inf_nan=False)


MapKind = Literal["fmllr", "vtln"]
"""What the maps of speakers are: `asr.acoustic.fmllr`, and those among them that warp the frequency axis,
`asr.acoustic.vtln`."""


class SpeakerParts(BaseModel):
    """What finds the maps of speakers, of a model whose frames are mapped; each part is checked by its own reader."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    front_end: dict[str, Any]
    search: dict[str, Any]
    settings: dict[str, Any]
    maps: MapKind = "fmllr"
    """Left out where it is "fmllr"."""


SAMPLED_UTTERANCES = 256
"""Of a training, whose digests a model file has at most."""


class Provenance(BaseModel):
    """What a model was trained on; neither dates nor paths, so that equal trainings leave equal files."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    utterances: int = Field(ge=0)
    speakers: int = Field(ge=0)
    words: int = Field(ge=0)
    """Running words."""
    seconds: float = Field(ge=0, allow_inf_nan=False)
    """Of audio."""
    level_db: float | None = Field(None, allow_inf_nan=False)
    """Median level of the utterances in dB of full scale (`asr.features.level`); None where features do not tell it."""
    version: str = Field(max_length=100)
    """Of this toolkit."""
    sample: list[Annotated[int, Field(ge=0, lt=2**48)]] = Field([], max_length=SAMPLED_UTTERANCES)
    """Digests of some of the utterances (`asr.training.fingerprint`); empty in older files."""


class HeldOutErrors(BaseModel):
    """Word errors on speech that was not in the training."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    words: int = Field(ge=1)
    errors: int = Field(ge=0)
    standard_error: float = Field(ge=0, allow_inf_nan=False)
    """Of the rate in %; speakers are drawn."""
    cross_validated: bool
    """Whether they are those of models like this one, each trained without the speech that it recognized, and with that
    much less of it; else they are its own."""
    own_grammar: bool = True
    """Whether the speech was recognized under the grammar of the model; else under the one given to `asr tune`."""


class Rejection(BaseModel):
    """What `asr tune --others` fitted to reject other recordings than commands, and how both fared with it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    by: Literal["filler", "ratios"]
    """What was fitted: the filler penalty, or the limits of the likelihood ratios."""
    grammar: int = Field(ge=0, lt=2**32)
    """As of `asr.recognition.rejection.checksum`."""
    grammar_words: int = Field(ge=1)
    commands: int = Field(ge=0)
    """Recordings of commands that are right without rejection."""
    lost: int = Field(ge=0)
    """Those of them that are not right with it."""
    others: int = Field(ge=0)
    """Other recordings."""
    accepted: int = Field(ge=0)
    """Those of them in which words of the grammar are recognized."""
    accepted_without: int = Field(ge=0)
    """The same without rejection."""
    words: int = Field(ge=0)
    """Reference words of all commands."""
    errors: int = Field(ge=0)
    """Word errors of all commands with rejection."""


class PauseParts(BaseModel):
    """Of what pauses sound like, beside its arrays."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    frame_shift: float = Field(gt=0, le=1, allow_inf_nan=False)
    """Seconds."""


class ModelMetadata(HybridParts):
    """The JSON value beside the arrays; parts that have rules of their own are checked by those who read them."""

    format: str
    kind: Literal["gmm", "hybrid", "composite"]
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
    trained_on: Provenance | None = None
    """Left out where nothing is known."""
    held_out: HeldOutErrors | None = None
    """Left out where nothing is known."""
    rejection: Rejection | None = None
    """Left out where none was fitted."""
    speakers: SpeakerParts | None = None
    """Left out where frames are not mapped by speaker."""
    pauses: PauseParts | None = None
    """Left out where the model does not know what pauses sound like."""
    streams: list[StreamParts] = []
    """Of a composite."""
