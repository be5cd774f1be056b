"""Static features of audio given as a path, an array or a file object."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeGuard, cast

import numpy as np

from asr.alignment.frame_times import FrameTimes
from asr.corpus.audio import at_rate, read_audio
from asr.corpus.audio_stats import Channels, Measured
from asr.corpus.given_frames import frame_matrix
from asr.corpus.samples import samples_from_array
from asr.features.config import FeatureConfig
from asr.features.extraction import measured_features, measured_sample_features
from asr.recognition.audio_checks import unusual
from asr.util.errors import AsrError, ConfigError, CorpusError, FeatureError, Issue, MissingAudioError
from discriminants.util.paths import exists, is_file

Samples: TypeAlias = np.ndarray | Sequence[float]
Audio: TypeAlias = str | os.PathLike[str] | BinaryIO | Samples | tuple[Samples, int]
"""A path, a binary file object, samples, or samples and their rate in Hz."""


@dataclass(frozen=True)
class GivenFrames:
    """Static features that a program gives instead of audio: an array (n_frames, n_features)."""

    frames: Any


def audio_or_frames(audio: Any, frames: np.ndarray | None) -> Any:
    """Return the one that is given; ConfigError for both."""
    if frames is None:
        return audio  # `load_sound` refuses None
    if audio is not None:
        raise ConfigError("audio and frames= are given. Expected one of them")
    return GivenFrames(frames)


def audios_or_frames(
    audios: Iterable[Audio] | None, frames: Iterable[np.ndarray] | None
) -> Iterable[Audio | GivenFrames]:
    """Return those of many utterances; ConfigError for both or none."""
    if frames is None and audios is not None:
        return audios
    if audios is None and frames is not None:
        return map(GivenFrames, frames)
    raise ConfigError("Expected either audios or frames=")


_PIECE = 1 << 20  # bytes per read


@dataclass(frozen=True)
class Sound:
    """Static features, float32 (T, n), their audio's duration in seconds, name in messages, and unusual properties."""

    static: np.ndarray
    seconds: float
    source: str
    unusual: tuple[Issue, ...] = ()


def source_of(audio: Audio | GivenFrames) -> str:
    """Return the audio's name in messages and results."""
    if isinstance(audio, GivenFrames):
        return "frames"
    if isinstance(audio, str | os.PathLike):
        return os.fspath(audio)
    if _is_file(audio):
        name = getattr(audio, "name", None)
        return name if isinstance(name, str) else "file object"
    return "array" if _may_hold_samples(audio) else type(audio).__name__


def load_sound(
    audio: Audio | GivenFrames, rate: int | None, config: FeatureConfig, n_columns: int | None = None
) -> Sound:
    """Return static features for a model with `config`, using the readers of `asr decode`, or the given ones.

    `n_columns`: number of columns if given frames are state scores.

    Raises
    ------
    CorpusError
        If the audio cannot be read or has an unknown type, samples have no rate (code "no-rate"), or a rate is given
        for a file; MissingAudioError if the file is missing.
    FeatureError
        If the audio is shorter than one window, or given frames have another shape or are not finite.
    """
    source = source_of(audio)
    if isinstance(audio, GivenFrames):
        try:
            matrix = frame_matrix(audio.frames, n_columns)
        except FeatureError as error:
            raise FeatureError(f"{source}: {error}", code=error.code) from None
        return Sound(matrix, FrameTimes.of(config, len(matrix)).duration, source)
    if is_pair(audio):
        samples, own = audio
        if rate is not None:
            raise CorpusError(
                f"{source}: rate={rate} is only for samples without a rate, but these have the rate {own}"
            )
        return _of_samples(samples, own, config, source)
    is_path = isinstance(audio, str | os.PathLike)
    if is_path or _is_file(audio):
        if rate is not None:
            raise CorpusError(f"{source}: rate={rate} is only for samples, because audio files contain their rate")
        if is_path:
            return _of_file(Path(audio), config, source)  # type: ignore[arg-type]
        return _of_file_object(audio, config, source)
    if not _may_hold_samples(audio):
        raise CorpusError(_no_audio(audio))
    if rate is None:
        raise CorpusError(
            f"{source}: the sampling rate of the samples is unknown. Use recognize(samples, rate=16000) or a pair "
            "(samples, 16000), with the rate in Hz",
            code="no-rate",
        )
    return _of_samples(audio, rate, config, source)


def kept_audio(audio: Audio, rate: int | None) -> Audio | None:
    """Return audio for `load_samples`, which includes the rate of samples; None for a file object."""
    if _is_file(audio):
        return None
    return audio if rate is None else (audio, rate)  # type: ignore[return-value]


def load_samples(audio: Audio, rate: int) -> np.ndarray:
    """Return the samples of a path, a file object, or (array, rate): float32 (n,), mono, 16-bit scale, at `rate` Hz.

    A file object is read from its current position. Raises CorpusError as `load_sound`.
    """
    if isinstance(audio, str | os.PathLike):
        return read_audio(Path(audio), rate=rate)
    if is_pair(audio):
        samples, native = audio
        found = samples_from_array(samples, native, rate=rate)
        return at_rate(found, int(native), rate, source="array", upsample=True)
    if not _is_file(audio):
        raise CorpusError(_no_audio(audio))
    with tempfile.NamedTemporaryFile(prefix="asr-", suffix=".audio") as copy:
        shutil.copyfileobj(cast(BinaryIO, audio), copy)
        copy.flush()
        return read_audio(Path(copy.name), rate=rate)


def _is_file(audio: Any) -> bool:
    return hasattr(audio, "read")


def is_pair(audio: Any) -> TypeGuard[tuple[Any, Any]]:
    """Whether this is a pair of samples and rate, which are not checked yet."""
    return (
        isinstance(audio, tuple)
        and len(audio) == 2
        and isinstance(audio[1], str | Real)
        and not isinstance(audio[0], str | Real)
    )


def _may_hold_samples(audio: Any) -> bool:
    whole = isinstance(audio, bytes | bytearray | Real)
    return not whole and (isinstance(audio, Sequence) or hasattr(audio, "__array__"))


def _no_audio(given: Any) -> str:
    if isinstance(given, bytes | bytearray):
        return (
            f"{len(given)} bytes ({type(given).__name__}) are not audio. Use io.BytesIO for the content of an "
            "audio file, or numpy.frombuffer and rate= for raw samples"
        )
    return (
        f"{given!r} ({type(given).__name__}) is not audio. Expected a path, a file open in binary mode, or an "
        "array of samples with its rate in Hz"
    )


def _of_samples(array: Any, native: int, config: FeatureConfig, source: str) -> Sound:
    channels = Channels()
    samples = samples_from_array(array, native, rate=config.sample_rate, source=source, observe=channels.add)
    return _sound(*measured_sample_features(samples, int(native), channels, config, source=source), config, source)


def _of_file(path: Path, config: FeatureConfig, source: str) -> Sound:
    if not is_file(path):
        if exists(path):
            raise CorpusError(f"{source} is not a regular file", code="unreadable")
        raise MissingAudioError(f"{source} does not exist")
    return _sound(*measured_features(path, config), config, source)


def _sound(static: np.ndarray, measured: Measured, config: FeatureConfig, source: str) -> Sound:
    return Sound(static, measured.seconds, source, tuple(unusual(measured, config)))


def _of_file_object(file: Any, config: FeatureConfig, source: str) -> Sound:
    """Load audio through a temporary file, because the checks of header and length need a file."""
    with tempfile.NamedTemporaryFile(prefix="asr-", suffix=".audio") as copy:
        while content := _read(file, source):
            copy.write(content)
        copy.flush()
        try:
            return _of_file(Path(copy.name), config, source)
        except AsrError as error:
            raise type(error)(str(error).replace(copy.name, source), code=error.code) from None


def _read(file: Any, source: str) -> bytes | bytearray | memoryview:
    """Read bytes from a file object; CorpusError if it is closed, not readable, or returns text."""
    try:
        content = file.read(_PIECE)
    except (TypeError, ValueError) as error:  # includes io.UnsupportedOperation
        raise CorpusError(
            f"{source}: cannot be read ({error}). Expected a file open for reading in binary mode"
        ) from error
    if not isinstance(content, bytes | bytearray | memoryview):
        raise CorpusError(
            f"{source}: read() returns {type(content).__name__}. Expected a file open for reading in binary mode, 'rb'"
        )
    return content
