"""Reading of audio files with any rate and number of channels as mono samples at the model's rate."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import soundfile
import soxr

from asr.corpus.audio_headers import check_header_size
from asr.corpus.audio_kinds import READABLE
from asr.corpus.ogg_pages import breaks_off
from asr.corpus.opening import open_for_reading
from asr.util.errors import CorpusError
from asr.util.files import atomic_write

FULL_SCALE = 32768.0  # HTK's and Kaldi's samples are 16-bit integers
LOWEST_RATE, MAX_RATE = 1000, 768_000  # Hz
MAX_SAMPLES = 1 << 26
"""Per utterance, before and after conversion: 70 minutes at 16 kHz, 256 MiB."""
MAX_PEAK = 16.0
"""Multiple of full scale. Larger floating-point samples are integers that were converted without scaling."""
_BLOCK = 1 << 20  # samples per read, so that a wrong length in a header costs no memory
_LATEST = 1e9  # seconds: beyond the end of any recording
MAX_OVERSHOOT = 0.5  # excess in seconds of a segment over the end of its recording, as in Kaldi
_OUT_OF_MEMORY = 17  # libsndfile's SFE_MALLOC_FAILED
_FLAC = b"fLaC"


class AudioHeader(NamedTuple):
    """Header of an audio file."""

    rate: int
    n_channels: int
    n_samples: int
    """Samples per channel."""


def read_audio(
    path: Path | str, *, rate: int, start: float | None = None, end: float | None = None, upsample: bool = True
) -> np.ndarray:
    """Read samples of `path` from `start` to `end` (seconds): float32 (n,), mono, 16-bit scale, at `rate` Hz.

    Channels are averaged; other rates are converted with soxr (high quality). A segment may exceed the recording by at
    most 0.5 s and is then cut.

    Raises
    ------
    CorpusError
        If the file is unreadable, truncated, SPHERE compressed with shorten, or has a rate below 1 or above 768 kHz; if
        the range has no samples, more than 2^26, or values that are not finite or exceed 16 times full scale. The code
        is "low-rate" if the file's rate is below `rate` and `upsample` is false.
    OSError, MemoryError
        For failures of the machine, not of the file.
    """
    samples, native = read_native(path, rate=rate, start=start, end=end)
    return at_rate(samples, native, rate, source=path, upsample=upsample)


def at_rate(samples: np.ndarray, native: int, rate: int, *, source: Path | str, upsample: bool = False) -> np.ndarray:
    """Convert samples, float32 (n,) of full scale 1 at `native` Hz, to float32 (m,) at `rate` Hz on the 16-bit scale.

    The input is overwritten to save memory. Raises CorpusError with `source` if no samples remain, and with the code
    "low-rate" if `native` is below `rate` and `upsample` is false.
    """
    if native < rate and not upsample:
        raise CorpusError(
            f"{source}: has a sampling rate of {native} Hz, but the features have sample_rate = {rate}. Expected at "
            f"least {rate} Hz, or a model with sample_rate = {native}; use --upsample (Recognizer.load(..., "
            "upsample=True), upsample = true in the settings) to upsample it",
            code="low-rate",
        )
    if native != rate:
        samples = soxr.resample(samples, native, rate, quality="HQ")
        if not samples.size:
            raise CorpusError(f"{source}: is too short to convert from {native} to {rate} Hz.", code="too-short")
    samples *= np.float32(FULL_SCALE)
    return np.ascontiguousarray(samples)


def read_native(
    path: Path | str,
    *,
    rate: int,
    start: float | None = None,
    end: float | None = None,
    observe: Callable[[np.ndarray], None] | None = None,
) -> tuple[np.ndarray, int]:
    """Read samples before conversion: float32 (n,), mono, full scale 1, and the file's own rate.

    `observe` is called with each original block, float32 (n, n_channels). Raises as `read_audio`.
    """
    path = Path(path)
    with _opened(path) as file:
        first, count = _sample_range(path, _header(file), start, end, rate)
        if first:
            file.seek(first)
        samples = _read_mono(path, file, first, count, observe)
        native = file.samplerate
    if not samples.size:
        raise CorpusError(f"{path}: holds no samples.", code="empty-file")
    check_peak(samples, path, native, first)
    return samples, native


def check_peak(samples: np.ndarray, source: Path | str, rate: int, first: int = 0) -> None:
    """Raise CorpusError unless samples (n,) or (n, n_channels) of full scale 1 are finite and at most `MAX_PEAK`.

    `rate` in Hz, and the number of the `first` sample in the source, are for the message.
    """
    peak = float(max(samples.max(), -samples.min()))
    if not np.isfinite(peak):
        wrong = ~np.isfinite(samples.reshape(len(samples), -1))
        number = int(wrong.any(axis=1).argmax())
        value = samples.reshape(len(samples), -1)[number, wrong[number].argmax()]
        number += first
        raise CorpusError(
            f"{source}: holds samples that are not finite numbers. The first, sample {number} at {number / rate:.3f} "
            f"s, is {value:g}.",
            code="not-finite",
        )
    if peak > MAX_PEAK:
        raise CorpusError(
            f"{source}: holds floating-point samples up to {peak:g}; expected at most 1. Divide them by 32768 if they "
            "were 16-bit integers, or write them as integers.",
            code="too-loud",
        )


def read_header(
    path: Path | str, *, rate: int, start: float | None = None, end: float | None = None
) -> tuple[AudioHeader, int]:
    """Return the header, and the number of samples between `start` and `end`, without reading samples.

    Raises as `read_audio`, except for faults of the samples.
    """
    path = Path(path)
    with _opened(path) as file:
        header = _header(file)
    _, count = _sample_range(path, header, start, end, rate)
    if not count:
        raise CorpusError(f"{path}: holds no samples.", code="empty-file")
    return header, count


def write_channel(path: Path, channel: int, out: Path) -> None:
    """Write one channel, from 1, of an audio file as FLAC with 16 or 24 bits. Raises as `read_audio`."""
    with _opened(path) as file:
        total, first = file.frames, 0
        subtype = "PCM_16" if file.subtype in ("PCM_16", "PCM_S8", "PCM_U8", "ULAW", "ALAW") else "PCM_24"
        with (
            atomic_write(out) as temporary,
            soundfile.SoundFile(temporary, "w", file.samplerate, 1, subtype, format="FLAC") as written,
        ):
            while first < total:
                block = file.read(min(total - first, _BLOCK), dtype="float32", always_2d=True)
                if not len(block):
                    raise CorpusError(
                        f"{path}: ends after {first} of the {total} samples in its header.", code="truncated"
                    )
                check_peak(block, path, file.samplerate, first)
                written.write(block[:, channel - 1])
                first += len(block)


def audio_seconds(path: Path | str, *, start: float | None = None, end: float | None = None) -> float:
    """Return the seconds of audio in `path` from `start` to `end`, according to the file's header.

    Raises as `read_header`.
    """
    header, count = read_header(path, rate=LOWEST_RATE, start=start, end=end)
    return count / header.rate


@contextmanager
def _opened(path: Path) -> Iterator[soundfile.SoundFile]:
    with open_for_reading(path) as opened:
        if not os.fstat(opened.fileno()).st_size:
            raise CorpusError(f"{path} is an empty file", code="empty-file")
        _refuse_compressed_sphere(path, opened)
        _check_size(path, opened)
        _refuse_cut_ogg(path, opened)
        os.lseek(opened.fileno(), 0, os.SEEK_SET)
        try:
            # By descriptor: errors of opening were reported above.
            with soundfile.SoundFile(os.dup(opened.fileno()), closefd=True) as file:
                yield file
        except soundfile.SoundFileError as error:
            if getattr(error, "code", None) == _OUT_OF_MEMORY:
                raise MemoryError(f"{path}: no memory to read it") from error
            remedy = f"; convert it to one of {READABLE}."
            if os.pread(opened.fileno(), len(_FLAC), 0) == _FLAC:
                remedy = ": it begins as FLAC, but is truncated or damaged; copy it again."
            raise CorpusError(f"{path}: cannot be read as audio ({_in_words(error)}){remedy}") from error


def _header(file: soundfile.SoundFile) -> AudioHeader:
    return AudioHeader(file.samplerate, file.channels, file.frames)


def _in_words(error: soundfile.SoundFileError) -> str:
    """Return libsndfile's message without the number of the descriptor."""
    return str(getattr(error, "error_string", error)).rstrip(".")


def _sample_range(
    path: Path, header: AudioHeader, start: float | None, end: float | None, wanted_rate: int
) -> tuple[int, int]:
    """Return the first sample and number of samples, checked against the recording and the maximum per utterance."""
    rate, total = header.rate, header.n_samples
    if not LOWEST_RATE <= rate <= MAX_RATE:
        raise CorpusError(f"{path}: has a sampling rate of {rate} Hz. Expected {LOWEST_RATE} to {MAX_RATE} Hz.")
    first = round(min(start or 0.0, _LATEST) * rate)
    last = total if end is None else round(min(end, _LATEST) * rate)
    if (start or 0.0) < 0 or last <= first < total or (first >= total and total):
        raise CorpusError(
            f"{path}: the segment from {start or 0.0} s to {end} s does not lie in the recording, which lasts "
            f"{total / rate:.3f} s.",
            code="bad-segment",
        )
    if last > total + MAX_OVERSHOOT * rate:
        raise CorpusError(
            f"{path}: the segment ends at {end} s, but the recording lasts {total / rate:.3f} s.", code="bad-segment"
        )
    count = min(last, total) - first
    if count * max(1.0, wanted_rate / rate) > MAX_SAMPLES:
        raise CorpusError(
            f"{path}: {count / rate:.0f} s are too long for one utterance. Expected at most {MAX_SAMPLES} samples, "
            f"{MAX_SAMPLES / max(rate, wanted_rate):.0f} s at this rate; divide it with a list segments.",
            code="too-long",
        )
    return first, count


def _read_mono(
    path: Path, file: soundfile.SoundFile, first: int, count: int, observe: Callable[[np.ndarray], None] | None
) -> np.ndarray:
    samples = np.empty(count, np.float32)  # a wrong length in a header costs only address space until written
    done = 0
    while done < count:
        block = file.read(min(count - done, _BLOCK), dtype="float32", always_2d=True)
        if not len(block):
            raise CorpusError(f"{path}: ends after {done} of the {count} samples in its header.", code="truncated")
        if observe is not None:
            observe(block)
        if block.shape[1] > 1:  # channels of opposite phase cancel
            check_peak(block, path, file.samplerate, first + done)
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused later
            samples[done : done + len(block)] = block[:, 0] if block.shape[1] == 1 else block.mean(axis=1)
        done += len(block)
    return samples


def _check_size(path: Path, file: BinaryIO) -> None:
    problem = check_header_size(file)
    if problem is not None:
        raise CorpusError(
            f"{path}: {problem}; copy it again, or write a new header if the samples are complete "
            "(sox --ignore-length OLD.wav NEW.wav)",
            code="truncated",
        )


def _refuse_cut_ogg(path: Path, file: BinaryIO) -> None:
    if breaks_off(file):
        raise CorpusError(
            f"{path}: ends within a page of its Ogg stream; copy it again, or convert it to WAV (sox or ffmpeg) if it "
            "is complete.",
            code="truncated",
        )


def _refuse_compressed_sphere(path: Path, file: BinaryIO) -> None:
    file.seek(0)
    header = file.read(1024)
    if not header.startswith(b"NIST_1A"):
        return
    for line in header.split(b"\n"):
        if line.startswith(b"sample_coding") and any(name in line for name in (b"shorten", b"wavpack", b"shortpack")):
            coding = line.split()[-1].decode("ascii", "replace")
            raise CorpusError(
                f"{path}: is NIST SPHERE compressed as '{coding}'. Expected uncompressed SPHERE; convert it, for "
                "example with 'sph2pipe -f wav'."
            )
