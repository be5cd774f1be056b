"""What one pass over an utterance's samples tells about them."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import scipy.fft

from asr.corpus.audio import read_header, read_native
from asr.corpus.data_directory import Utterance

FULL_SCALE = 0.9999
"""From here on a sample is at full scale: the largest of 16 bits is 32767 / 32768."""
CANCELLED = 1e-3
"""Part of the channels' energy that is left in their mean when they cancel: -30 dB."""
DIFFERING_LEVEL = 10 ** (-20 / 10)
"""Part of the energy of the louder of two channels from which on the other one counts as well."""
ALIKE = 0.3
"""Correlation from which on two channels hold the same: that of one speaker before two microphones is above it, that
of speech and noise or of two speakers below."""
ALIKE_WITHIN = 0.002
"""Seconds by which sound may reach one microphone later than the other: 70 cm further away."""
CUT_OFFS = (4000.0, 5512.5)
"""Hz; half the rates of telephone speech and of 11,025 Hz."""
_BESIDE = (((0.6, 0.8), (1.2, 1.4)), ((0.8, 0.92), (1.05, 1.2)))
"""Bands on both sides of each, in parts of it. Around 4 kHz simple converters leave mirror images near the edge, so the
bands keep away from it; above 5 kHz some microphones fall off almost as steeply, so they lie close to it."""
_QUIET_ABOVE = 10 ** (-55 / 10)  # part of the energy; the dullest of real recordings at 16 kHz have -63 dB
_CLIFF = 10 ** (-35 / 10)  # of the band above beside that below; the dullest of real recordings fall by 27 dB
_FRAME_SECONDS = 0.032
_MAX_FRAMES = 64  # of a spectrum: 2 s of speech, evenly chosen, show where it ends
_PIECE = 2048  # samples of both channels that are compared at once
_MAX_PIECES = 128  # of a block: 16 s of speech at 16 kHz, evenly chosen
_SPARSE = 16  # every so many samples enter the digest


@dataclass(frozen=True)
class Measured:
    """An utterance's audio.

    Attributes
    ----------
    rate : int
        Samples a second, as the file has them.
    n_samples : int
        Of one channel.
    peak : float
        Largest magnitude of any channel's samples; full scale is 1.
    clipped : float
        Share of the samples of all channels that are at full scale, 0 where some lie beyond it.
    constant : bool
        Whether all samples, averaged over the channels, are the same.
    cancelling : bool
        Whether channels cancel when they are averaged.
    differing : bool
        Whether there are two channels which both carry energy and are hardly alike.
    cut_off : float or None
        Hz above which there is nothing, though the rate says there could be; one of `CUT_OFFS`.
    digest : bytes
        Equal for equal samples, and for no others that were recorded; empty where they were not read.
    """

    rate: int
    n_samples: int
    peak: float = 0.5
    clipped: float = 0.0
    constant: bool = False
    cancelling: bool = False
    differing: bool = False
    cut_off: float | None = None
    digest: bytes = b""

    @property
    def seconds(self) -> float:
        """Duration."""
        return self.n_samples / self.rate


def measure(utterance: Utterance, rate: int, samples_too: bool) -> Measured:
    """Measure an utterance with audio; without `samples_too` only what its header tells.

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
    """Of some samples, their number, and the energy of all: a hash of every sample takes as long as the rest."""
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
        """Take in samples (n, n_channels)."""
        self.n_channels = block.shape[1]
        values = block.ravel()
        self.n_values += len(values)
        peak = float(max(values.max(), -values.min()))
        self.peak = max(self.peak, peak)
        if peak >= FULL_SCALE:
            self.n_full += int(np.count_nonzero(np.abs(values) >= FULL_SCALE))
        if self.n_channels > 1:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by the reader
                self.energy += float(np.dot(values, values))
                if self.n_channels == 2:
                    self.pair.add(block)

    def measured(self, samples: np.ndarray, native: int) -> Measured:
        """What they tell, and the mean of the channels, float32 (n,) of full scale 1 at `native` Hz; no digest."""
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
    """How far two channels are alike, from sums over pieces of them that are evenly chosen."""

    def __init__(self) -> None:
        self.energies = np.zeros(2)
        self.cross_spectrum = np.zeros(_PIECE + 1, np.complex128)

    def add(self, block: np.ndarray) -> None:
        """Take in samples (n, 2). Means are taken away, as a direct current in both is no likeness."""
        length = min(_PIECE, len(block))
        n_pieces = len(block) // length
        pieces = block[: n_pieces * length].reshape(n_pieces, length, 2)[:: -(-n_pieces // _MAX_PIECES)]
        pieces = pieces - pieces.mean(axis=1, keepdims=True)
        self.energies += np.square(pieces).sum(axis=(0, 1), dtype=np.float64)
        # Twice the length: the end of a piece is not compared with its beginning.
        spectra = scipy.fft.rfft(pieces, 2 * _PIECE, axis=1)
        self.cross_spectrum += (spectra[..., 0].conj() * spectra[..., 1]).sum(axis=0, dtype=np.complex128)

    def differing(self, rate: int) -> bool:
        """Whether both channels carry energy and no delay between two microphones makes them alike."""
        quiet, loud = np.sort(self.energies)
        if not quiet > DIFFERING_LEVEL * loud:
            return False
        products = np.abs(scipy.fft.irfft(self.cross_spectrum, 2 * _PIECE))
        latest = min(round(ALIKE_WITHIN * rate), _PIECE // 2)
        nearest = max(products[: latest + 1].max(), products[-latest:].max())
        return bool(nearest < ALIKE * np.sqrt(quiet * loud))


def cut_off(samples: np.ndarray, rate: int) -> float | None:
    """The lowest of `CUT_OFFS` above which a signal (n,) has next to nothing, falling off as a cliff; None if none.

    Speech that was sampled at a low rate and converted to a higher one ends at half the first rate. So does no other:
    the energy of voices and noise falls off gently.
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
