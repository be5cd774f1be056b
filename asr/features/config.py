"""The settings of the feature front end."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from asr.features.mel import filter_without_bin
from asr.util.config_base import Settings, printable_name

MAX_WINDOW_LENGTH = 1 << 15  # samples
MAX_COLUMNS = 10_000  # of a spliced frame; the scatter matrix of an LDA then takes 800 MB

MAX_PITCH_SHIFT = 50  # ms; pitch may jump further than its range in a longer shift


class FeatureConfig(Settings):
    """Settings of the features; the defaults are HTK's MFCC_E_D_A with USEPOWER and without ENORMALISE.

    For features from an archive, the settings of cepstra and filters describe how they were computed.
    """

    kind: Literal["mfcc", "fbank", "plp"] = "mfcc"
    """Static features: cepstra and energy, the logarithms of the `n_filters` mel filters and the energy, or cepstra of
    perceptual linear prediction and the energy (Hermansky 1990; HTK's PLP with USEPOWER and LPCORDER = `n_cepstra`)."""
    extractor: Annotated[str, AfterValidator(printable_name)] | None = None
    """Own features instead of `kind`: the registered name or the import path package.module:Class of a class, see
    `asr.features.extractor`. It also determines `sample_rate` and `shift_ms`."""
    sample_rate: int = Field(16000, ge=1000, le=384_000)
    """Sampling rate in Hz; audio of a higher rate is converted. `asr train` also takes "auto", that of the corpus."""
    upsample: bool = False
    """Whether audio of a lower rate than `sample_rate` is converted; its upper filters are then empty."""
    window_ms: float = Field(25.0, ge=1, le=1000)
    """Length of a frame, in ms."""
    shift_ms: float = Field(10.0, ge=1, le=1000)
    """Time from one frame to the next, in ms."""
    preemphasis: float = Field(0.97, ge=0, lt=1)
    """Coefficient k of the pre-emphasis x[t] - k x[t-1]; 0 disables it."""
    n_filters: int = Field(26, ge=2, le=512)
    """Number of mel filters."""
    low_hz: float = Field(0.0, ge=0)
    """Lower edge of the first mel filter, in Hz."""
    high_hz: float | None = Field(None, gt=0)
    """Upper edge of the last mel filter, in Hz; half the sampling rate by default."""
    log_floor: float = Field(2.0**-23, ge=1e-30, le=1e12)
    """Minimum mel power and frame energy before the logarithm, on the 16-bit scale. The default is Kaldi's
    single-precision epsilon; HTK's MELFLOOR is 1, which separates digital silence less from near silence."""
    dynamic_range_db: float = Field(0.0, ge=0, le=1000)
    """Adds a floor to the power of every mel band and to the energy, this many dB below the louder frames of the
    recording (95 % quantile). Noise gates, digital silence and faint rooms then become similar. 0 adds none. HTK's
    SILFLOOR does this for the energy only."""
    n_cepstra: int = Field(12, ge=1)
    """Number of cepstra, without c0; fewer than `n_filters`."""
    lifter: int = Field(22, ge=0, le=10_000)
    """Parameter L of HTK's lifter 1 + L/2 sin(pi n / L) for cepstrum n; 0 disables it."""
    energy: Literal["log", "c0"] = "log"
    """Energy of a frame: its log energy before pre-emphasis and window, or the zeroth cepstrum."""
    energy_first: bool = False
    """Whether the energy comes before the cepstra instead of after them."""
    pitch: bool = False
    """Whether log pitch and voicing follow the cepstra and the energy, for tone languages."""
    delta_window: int = Field(2, ge=1, le=100)
    """Number of frames on each side from which a difference over time is computed."""
    delta_order: int = Field(2, ge=0, le=4)
    """Number of differences over time that are appended: 1 for the slope, 2 also for its slope, 0 for none."""
    normalize: Literal["none", "corpus", "speaker", "utterance"] = "corpus"
    """Frames over which features are shifted and scaled to mean 0 and deviation 1."""
    speaker_prior: float = Field(1000.0, ge=0, le=1e9)
    """Weight, in frames, of training's mean and deviation in those of a speaker."""
    speaker_statistics: Literal["moments", "matched"] = "moments"
    """`moments` uses the mean and deviation of all frames of a speaker. `matched` compensates for an unusual proportion
    of pauses by matching a mixture of training's frames, and needs a prior."""
    context: int = Field(0, ge=0, le=100)
    """Number of frames spliced on each side."""
    lda_dimension: int | None = Field(None, ge=1, le=MAX_COLUMNS)
    """Dimension after linear discriminant analysis, at most the number of classes minus 1; no LDA by default."""
    append_static: bool = False
    """Whether the frame's own columns, before splicing and LDA, are appended for a second stream of the acoustic
    model."""

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent settings."""
        yield from self._of_filters()
        if self.pitch and self.shift_ms > MAX_PITCH_SHIFT:
            yield "shift_ms", f"shift_ms {self.shift_ms:g} is too long for pitch. Expected at most {MAX_PITCH_SHIFT} ms"
        if self.lifter == 2 and self.n_cepstra > 2:
            yield "lifter", "lifter 2 makes the third cepstrum zero. Use 22, or 0 to disable liftering"
        if self.extractor is not None:
            if self.pitch:
                yield "pitch", "pitch: own features cannot be combined with pitch; remove pitch or extractor"
            return
        if self.kind == "fbank" and self.energy == "c0":
            yield "energy", 'energy: "c0" needs cepstra; remove it, or use kind = "mfcc"'
        columns = self.spliced_dimension
        if columns > MAX_COLUMNS:
            yield (
                "context",
                f"context {self.context} gives spliced frames of {columns} values. Expected at most {MAX_COLUMNS}",
            )
        if self.lda_dimension is not None and self.lda_dimension > columns:
            yield (
                "lda_dimension",
                f"lda_dimension {self.lda_dimension} is above the {columns} values of a frame",
            )

    def _of_filters(self) -> Iterator[tuple[str, str]]:
        """Yield errors of windows and filters; the filters' bins are checked only if the rest is valid."""
        right = True
        if not 1 <= self.shift_samples <= self.window_samples:
            right = False
            yield (
                "shift_ms",
                (
                    f"shift_ms {self.shift_ms} is out of range. Expected at least one sample and at most "
                    f"window_ms, {self.window_ms}"
                ),
            )
        nyquist = self.sample_rate / 2
        if not self.low_hz < (nyquist if self.high_hz is None else self.high_hz) <= nyquist:
            right = False
            yield (
                "low_hz" if self.high_hz is None else "high_hz",
                (
                    f"low_hz {self.low_hz} and high_hz {self.high_hz} are not a valid band. Expected low_hz below "
                    f"high_hz, and at most half the sampling rate, {nyquist}"
                ),
            )
        if self.n_cepstra >= self.n_filters:
            yield "n_cepstra", f"n_cepstra {self.n_cepstra} must be less than n_filters {self.n_filters}"
        if self.window_samples > MAX_WINDOW_LENGTH:
            right = False
            yield (
                "window_ms",
                (
                    f"window_ms {self.window_ms} gives {self.window_samples} samples at "
                    f"sample_rate {self.sample_rate}. Expected at most {MAX_WINDOW_LENGTH}"
                ),
            )
        if not right:
            return
        empty = filter_without_bin(self.sample_rate, self.fft_size, self.n_filters, self.low_hz, self.high_hz)
        if empty is not None:
            yield (
                "n_filters",
                (
                    f"n_filters {self.n_filters} is too many for an FFT of {self.fft_size} points at "
                    f"sample_rate {self.sample_rate}: filter {empty + 1} covers no bin. Use fewer filters or a wider "
                    "band"
                ),
            )

    @field_validator("sample_rate", mode="before")
    @classmethod
    def _is_rate(cls, value: object) -> object:
        if isinstance(value, str) and not value.isdecimal():
            raise ValueError('must be a whole number of Hz, or "auto" for the rate of the corpus')
        return value

    @property
    def window_samples(self) -> int:
        """Samples in a frame."""
        return _whole_samples(self.sample_rate, self.window_ms)

    @property
    def shift_samples(self) -> int:
        """Samples between frames."""
        return _whole_samples(self.sample_rate, self.shift_ms)

    @property
    def fft_size(self) -> int:
        """The smallest power of two that fits a frame."""
        return 1 << (self.window_samples - 1).bit_length()

    @property
    def has_cepstra(self) -> bool:
        """Whether the static features of audio are cepstra, which can be warped."""
        return self.kind != "fbank" and self.extractor is None

    @property
    def n_coefficients(self) -> int:
        """Number of cepstra, or of filters for `kind = "fbank"`."""
        return self.n_filters if self.kind == "fbank" else self.n_cepstra

    @property
    def static_dimension(self) -> int:
        """Columns of the static features of audio: cepstra or filters, energy, and with `pitch` log pitch and voicing.

        0 for own features, whose columns have no known meaning.
        """
        return 0 if self.extractor is not None else self.n_coefficients + 1 + 2 * self.pitch

    @property
    def spliced_dimension(self) -> int:
        """Columns of the frames with differences, spliced, before LDA."""
        return self.static_dimension * (self.delta_order + 1) * (2 * self.context + 1)

    @property
    def energy_column(self) -> int:
        """Column of the energy in the static features of audio."""
        return 0 if self.energy_first else self.n_coefficients


def _whole_samples(rate: int, milliseconds: float) -> int:
    return int(rate * milliseconds / 1000 + 1e-6)  # truncated, as in HTK and Kaldi (275 samples for 25 ms at 11025 Hz)
