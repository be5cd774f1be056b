"""Schema of a model file's metadata."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class HybridScores(BaseModel):
    """Conversion of a classifier's posteriors to scores."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    prior_exponent: float = Field(allow_inf_nan=False)
    prior_floor: float = Field(gt=0, allow_inf_nan=False)
    prior_ceiling: float | None = Field(None, ge=1, allow_inf_nan=False)
    mixture_weight: float = Field(0.5, ge=0, le=1)
    """Present only with a second stream."""


class HybridParts(BaseModel):
    """Metadata of a hybrid; mixtures have none."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    classifier: dict[str, Any] | None = None
    """See `estimator_from_arrays`."""
    hybrid: HybridScores | None = None
    calibration: dict[str, Any] | None = None
    """See `estimator_from_arrays`, for a classifier without posteriors."""
    smbr_epochs: int | None = Field(None, ge=0, le=10**9)
    """Passes of sequence training; absent if unknown, as in older files."""


class StreamParts(HybridParts):
    """A stream of a composite, and the columns `start` to `end` of the frames that it scores."""

    kind: Literal["gmm", "hybrid"]
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    weight: float = Field(ge=0, allow_inf_nan=False)


MapKind = Literal["fmllr", "vtln"]
"""Speaker transforms: `asr.acoustic.fmllr`, or only frequency warps, `asr.acoustic.vtln`."""


class SpeakerParts(BaseModel):
    """Metadata of speaker adaptation; the parts are checked by their own readers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    front_end: dict[str, Any]
    search: dict[str, Any]
    settings: dict[str, Any]
    maps: MapKind = "fmllr"
    """Absent for "fmllr"."""


SAMPLED_UTTERANCES = 256
"""Maximum number of training utterances whose digests are stored."""


class Provenance(BaseModel):
    """Training data of a model, without dates and paths, so that equal trainings give equal files."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    utterances: int = Field(ge=0)
    speakers: int = Field(ge=0)
    words: int = Field(ge=0)
    """Running words."""
    seconds: float = Field(ge=0, allow_inf_nan=False)
    """Seconds of audio."""
    level_db: float | None = Field(None, allow_inf_nan=False)
    """Median level of the utterances in dB of full scale (`asr.features.level`); None if unknown."""
    version: str = Field(max_length=100)
    """Version of this toolkit."""
    sample: list[Annotated[int, Field(ge=0, lt=2**48)]] = Field([], max_length=SAMPLED_UTTERANCES)
    """Digests of some of the utterances (`asr.training.fingerprint`); empty in older files."""


class HeldOutErrors(BaseModel):
    """Word errors on held-out speech."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    words: int = Field(ge=1)
    errors: int = Field(ge=0)
    standard_error: float = Field(ge=0, allow_inf_nan=False)
    """Standard error of the rate in %, resampled by speaker."""
    cross_validated: bool
    """Whether the errors come from cross-validation, with models trained on less data; otherwise they are the model's
    own."""
    own_grammar: bool = True
    """Whether the grammar was the model's; otherwise it was given to `asr tune`."""


class Rejection(BaseModel):
    """Rejection fitted by `asr tune --others`, and its results."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    by: Literal["filler", "ratios"]
    """Fitted parameter: the filler penalty, or the limits of the likelihood ratios."""
    grammar: int = Field(ge=0, lt=2**32)
    """Checksum (`asr.recognition.speech_ratios.checksum`)."""
    grammar_words: int = Field(ge=1)
    commands: int = Field(ge=0)
    """Recordings of commands that are correct without rejection."""
    lost: int = Field(ge=0)
    """Those that are incorrect with rejection."""
    others: int = Field(ge=0)
    """Other recordings."""
    accepted: int = Field(ge=0)
    """Those in which words of the grammar are recognized."""
    accepted_without: int = Field(ge=0)
    """The same without rejection."""
    words: int = Field(ge=0)
    """Reference words of all commands."""
    errors: int = Field(ge=0)
    """Word errors of all commands with rejection."""


class PauseParts(BaseModel):
    """Metadata of the pause model."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    frame_shift: float = Field(gt=0, le=1, allow_inf_nan=False)
    """Seconds."""


class ModelMetadata(HybridParts):
    """The complete metadata; some parts are checked by their own readers."""

    format: str
    kind: Literal["gmm", "hybrid", "composite"]
    phones: list[str]
    states_per_phone: int = Field(ge=1)
    front_end: dict[str, Any]
    """See `FrontEnd.from_arrays`."""
    lexicon: dict[str, list[list[str]]]
    lexicon_digest: str
    probabilities: dict[str, list[Annotated[float, Field(gt=0, le=1)]]] = {}
    """Probabilities of the variants of a word (`Lexicon.probabilities`); absent for equally likely ones."""
    graphemes: bool = False
    """Whether the phones are letters (`asr.lexicon.graphemes`); absent if not."""
    multigraphs: dict[str, list[str]] = {}
    """Phones of sequences of letters; absent without any."""
    search: dict[str, Any]
    source: Literal["audio", "archive"]
    arpa: str | None
    """The grammar."""
    untrained: list[str] = []
    """Phones without training data; absent if empty."""
    trained_on: Provenance | None = None
    """Absent if unknown."""
    held_out: HeldOutErrors | None = None
    """Absent if unknown."""
    rejection: Rejection | None = None
    """Absent if none was fitted."""
    speakers: SpeakerParts | None = None
    """Absent without speaker transforms."""
    pauses: PauseParts | None = None
    """Absent without a pause model."""
    streams: list[StreamParts] = []
    """Streams of a composite."""
