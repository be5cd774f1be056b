"""Reading audio files of any rate and channel count as mono samples at the model's rate."""

from pathlib import Path

import numpy as np
import soundfile
import soxr

from asr.errors import CorpusError

FULL_SCALE = 32768.0  # HTK's and Kaldi's samples are 16-bit integers
_BLOCK = 1 << 20  # samples read at once: a header that lies about its length costs no memory
_OVERSHOOT = 0.5  # seconds by which a segment may reach past the end of its recording, as Kaldi allows


def read_audio(path: Path | str, *, rate: int, start: float | None = None, end: float | None = None) -> np.ndarray:
    """Samples of `path` from `start` to `end` (seconds): float32 (n,), mono, 16-bit scale, at `rate` Hz.

    Channels are averaged; another rate is converted with soxr (high quality). A segment may end up to half a
    second after the recording does and is then cut. Raises CorpusError when the file cannot be read, is
    SPHERE compressed with shorten, holds no samples there, or holds values that are not finite.
    """
    path = Path(path)
    _refuse_compressed_sphere(path)
    try:
        with soundfile.SoundFile(path) as file:
            first, count = _sample_range(path, file, start, end)
            if first:
                file.seek(first)
            samples = _read_mono(file, count)
            native = file.samplerate
    except (
        soundfile.SoundFileError,
        OSError,
        TypeError,
    ) as error:  # TypeError: soundfile asks for the format of '.raw'
        raise CorpusError(
            f"{path}: cannot be read as audio ({error}); WAV, FLAC and uncompressed NIST SPHERE are."
        ) from error
    if not samples.size:
        raise CorpusError(f"{path}: holds no samples.")
    if not np.isfinite(samples).all():
        raise CorpusError(f"{path}: holds samples that are not finite numbers.")
    if native != rate:
        samples = soxr.resample(samples, native, rate, quality="HQ")
        if not samples.size:
            raise CorpusError(f"{path}: is too short to be converted from {native} to {rate} Hz.")
    return np.ascontiguousarray(samples * np.float32(FULL_SCALE), dtype=np.float32)


def audio_seconds(path: Path | str, *, start: float | None = None, end: float | None = None) -> float:
    """Seconds of audio that `read_audio` finds in `path` from `start` to `end`, as the file's header tells them.

    Raises CorpusError when the header cannot be read or the segment does not lie in the recording.
    """
    path = Path(path)
    try:
        with soundfile.SoundFile(path) as file:
            _, count = _sample_range(path, file, start, end)
            return float(count / file.samplerate)
    except (soundfile.SoundFileError, OSError, TypeError) as error:
        raise CorpusError(f"{path}: cannot be read as audio ({error}); it was there a moment ago.") from error


def _sample_range(path: Path, file: soundfile.SoundFile, start: float | None, end: float | None) -> tuple[int, int]:
    rate, total = file.samplerate, file.frames
    first = round((start or 0.0) * rate)
    last = total if end is None else round(end * rate)
    if (start or 0.0) < 0 or last <= first < total or (first >= total and total):
        raise CorpusError(
            f"{path}: the segment from {start or 0.0} s to {end} s does not lie in the recording of "
            f"{total / rate:.3f} s."
        )
    if last > total + _OVERSHOOT * rate:
        raise CorpusError(f"{path}: the segment ends at {end} s, but the recording at {total / rate:.3f} s.")
    return first, min(last, total) - first


def _read_mono(file: soundfile.SoundFile, count: int) -> np.ndarray:
    blocks = []
    while count > 0:
        block = file.read(min(count, _BLOCK), dtype="float32", always_2d=True)
        if not len(block):
            break
        blocks.append(block[:, 0] if block.shape[1] == 1 else block.mean(axis=1, dtype=np.float32))
        count -= len(block)
    return np.concatenate(blocks) if blocks else np.empty(0, np.float32)


def _refuse_compressed_sphere(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(1024)
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}).") from error
    if not header.startswith(b"NIST_1A"):
        return
    for line in header.split(b"\n"):
        if line.startswith(b"sample_coding") and any(name in line for name in (b"shorten", b"wavpack", b"shortpack")):
            coding = line.split()[-1].decode("ascii", "replace")
            raise CorpusError(
                f"{path}: is NIST SPHERE compressed as '{coding}'; only uncompressed SPHERE can be read, "
                "so convert it first, for example with 'sph2pipe -f wav'."
            )
