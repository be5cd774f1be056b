"""Statistics of an utterance's samples from one pass."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import scipy.fft

from asr.corpus.audio import read_header, read_native
from asr.corpus.data_directory import Utterance

MAX_PAUSES_LENGTH = 10.0
"""Maximum total duration of pauses in seconds; an utterance with more seems to hold other speech."""
FULL_SCALE = 0.9999
"""Minimum magnitude of samples at full scale: the largest 16-bit value is 32767 / 32768."""
CANCELLED = 1e-3
"""Maximum ratio of the energy of the channels' mean to that of cancelling channels: -30 dB."""
DIFFERING_LEVEL = 10 ** (-20 / 10)
"""Minimum ratio of the energies of two channels if both carry a signal."""
ALIKE = 0.3
"""Minimum correlation of two channels with the same content: one speaker with two microphones is above it, speech and
noise or two speakers are below.
"""
ALIKE_WITHIN = 0.002
"""Maximum delay in seconds between two microphones: 70 cm."""
CUT_OFFS = (4000.0, 5512.5)
"""Hz; half the rates of telephone speech and of 11,025 Hz."""
_BESIDE = (((0.6, 0.8), (1.2, 1.4)), ((0.8, 0.92), (1.05, 1.2)))
"""Bands on both sides of each cut-off, as fractions of it. Around 4 kHz, simple converters leave mirror images near the
edge, so the bands keep a distance. Above 5 kHz, some microphones fall off almost as steeply, so the bands are near.
"""
_QUIET_ABOVE = 10 ** (-55 / 10)  # fraction of the energy; the minimum in real recordings at 16 kHz is -63 dB
_CLIFF = 10 ** (-35 / 10)  # ratio of the upper to the lower band; real recordings fall by at most 27 dB
_FRAME_SECONDS = 0.032
_MAX_FRAMES = 64  # of a spectrum, evenly spaced: 2 s of speech suffice
_PIECE = 2048  # samples of both channels per comparison
_MAX_PIECES = 128  # per block, evenly spaced: 16 s of speech at 16 kHz
_SPARSE = 16  # stride of the samples in the digest


@dataclass(frozen=True)
class Measured:
    """Statistics of an utterance's audio."""

    rate: int  # sampling rate of the file in Hz
    n_samples: int  # samples per channel
    peak: float = 0.5  # largest magnitude over all channels; full scale is 1
    clipped: float = 0.0  # fraction of samples of all channels at full scale, 0 if some exceed it
    constant: bool = False  # whether all samples of the channels' mean are equal
    cancelling: bool = False  # whether the channels cancel in their mean
    differing: bool = False  # whether two channels both carry energy and have different content
    cut_off: float | None = None  # bandwidth in Hz if it is below half the rate; one of `CUT_OFFS`
    digest: bytes = b""  # checksum of the samples; empty if they were not read

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.n_samples / self.rate

    def lacks_band(self, sample_rate: int) -> bool:
        """Return whether the band of features at this rate exceeds the bandwidth."""
        return self.cut_off is not None and self.cut_off < 0.45 * sample_rate


def measure(utterance: Utterance, rate: int, samples_too: bool) -> Measured:
    """Measure an utterance with audio; without `samples_too`, only its header is read.

    Raises as `asr.corpus.audio.read_audio` does at that rate.
    """
    source, start, end = utterance.source, utterance.start, utterance.end
    if not samples_too:
        header, n_samples = read_header(source, rate=rate, start=start, end=end)
        return Measured(header.rate, n_samples)
    channels = Channels()
    samples, native = read_native(source, rate=rate, start=start, end=end, observe=channels.add)
    return replace(channels.measured(samples, native), digest=_digest(samples, float(np.dot(samples, samples))))


def _digest(samples: np.ndarray, energy: float) -> bytes:
    """Return a checksum of some samples, their number, and the total energy; hashing all samples would be slow."""
    sparse = np.ascontiguousarray(samples[::_SPARSE])
    return hashlib.blake2b(sparse.data, digest_size=16, key=f"{len(samples)} {energy!r}".encode()).digest()


class Channels:
    """Sums over the samples of every channel, block by block."""

    def __init__(self) -> None:
        self.n_channels = 1
        self.n_values = self.n_full = 0
        self.peak = self.energy = 0.0
        self.pair = ChannelPair()

    def add(self, block: np.ndarray) -> None:
        """Add samples (n, n_channels)."""
        self.n_channels = block.shape[1]
        values = block.ravel()
        self.n_values += len(values)
        peak = float(max(values.max(), -values.min()))
        self.peak = max(self.peak, peak)
        if peak >= FULL_SCALE:
            self.n_full += int(np.count_nonzero(np.abs(values) >= FULL_SCALE))
        if self.n_channels > 1:
            with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused by the reader
                self.energy += float(np.dot(values, values))
                if self.n_channels == 2:
                    self.pair.add(block)

    def measured(self, samples: np.ndarray, native: int) -> Measured:
        """Return the statistics without a digest; `samples`: mean of the channels, float32 (n,), full scale 1."""
        energy = float(np.dot(samples, samples))
        constant = bool(samples[0] == samples[len(samples) // 2] and np.ptp(samples) == 0.0)
        return Measured(
            native,
            len(samples),
            peak=self.peak,
            clipped=self.n_full / self.n_values if self.peak <= 1.0 else 0.0,
            constant=constant,
            cancelling=self.n_channels > 1 and energy < CANCELLED * self.energy / self.n_channels,
            differing=self.pair.differing(native),
            cut_off=None if constant else cut_off(samples, native),
        )


class ChannelPair:
    """Similarity of two channels, from evenly spaced pieces."""

    def __init__(self) -> None:
        self.energies = np.zeros(2)
        self.cross_spectrum = np.zeros(_PIECE + 1, np.complex128)

    def add(self, block: np.ndarray) -> None:
        """Add samples (n, 2); means are subtracted because a DC offset is not content."""
        length = min(_PIECE, len(block))
        n_pieces = len(block) // length
        pieces = block[: n_pieces * length].reshape(n_pieces, length, 2)[:: -(-n_pieces // _MAX_PIECES)]
        pieces = pieces - pieces.mean(axis=1, keepdims=True)
        self.energies += np.square(pieces).sum(axis=(0, 1), dtype=np.float64)
        # Twice the length, to avoid circular correlation.
        spectra = scipy.fft.rfft(pieces, 2 * _PIECE, axis=1)
        self.cross_spectrum += (spectra[..., 0].conj() * spectra[..., 1]).sum(axis=0, dtype=np.complex128)

    def differing(self, rate: int) -> bool:
        """Whether both channels carry energy and are not delayed copies of the same sound."""
        quiet, loud = np.sort(self.energies)
        if not quiet > DIFFERING_LEVEL * loud:
            return False
        products = np.abs(scipy.fft.irfft(self.cross_spectrum, 2 * _PIECE))
        latest = min(round(ALIKE_WITHIN * rate), _PIECE // 2)
        nearest = max(products[: latest + 1].max(), products[-latest:].max())
        return bool(nearest < ALIKE * np.sqrt(quiet * loud))


def cut_off(samples: np.ndarray, rate: int) -> float | None:
    """Return the lowest of `CUT_OFFS` above which the spectrum of a signal (n,) falls off steeply; None if none.

    Upsampled speech ends at half its original rate. The energy of other voices and noise falls off gradually.
    """
    length = 1 << round(np.log2(_FRAME_SECONDS * rate))
    if rate <= 2.4 * CUT_OFFS[0] or len(samples) < length:
        return None
    n_frames = len(samples) // length
    frames = samples[: n_frames * length].reshape(n_frames, length)[:: -(-n_frames // _MAX_FRAMES)]
    spectrum = scipy.fft.rfft(frames * np.hanning(length).astype(np.float32), axis=1)
    power = (np.square(spectrum.real) + np.square(spectrum.imag)).sum(axis=0, dtype=np.float64)
    hertz = np.arange(len(power)) * (rate / length)
    total = power[hertz > 100.0].sum()
    for limit, (below, above) in zip(CUT_OFFS, _BESIDE, strict=True):
        if rate <= 2.4 * limit:
            continue
        quiet = power[hertz > above[0] * limit].sum() < _QUIET_ABOVE * total
        before, after = (power[(hertz > low * limit) & (hertz < high * limit)].mean() for low, high in (below, above))
        if quiet and after < _CLIFF * before:
            return limit
    return None
