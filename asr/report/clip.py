"""Sound of an utterance for a page: a short recording, its waveform and spectrogram, and labels below them."""

import base64
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import soundfile

from asr.alignment.recording_labels import AlignedUtterance, Label, labels_of
from asr.corpus.audio import audio_seconds, read_audio, read_header
from asr.corpus.data_directory import Utterance
from asr.util.counted_text import count
from asr.util.errors import CorpusError, Issue, attempt, printable
from discriminants.util.paths import is_file

MAX_CLIPS = 20  # per page
MAX_SECONDS = 20.0  # of a clip; the rest of a longer utterance is left out
MAX_CHARACTERS = 12 << 20  # of all clips of a page
MIN_RATE, MAX_RATE = 8000, 16_000  # Hz
_FFT_SIZE = 256
_WINDOW = 0.01  # seconds; shows the formants and the single periods of low voices
_COLUMNS_PER_SECOND, _MAX_COLUMNS = 200, 1200
_RANGE_DB = 60.0  # shades below the loudest place; lower levels are white
_SHADES = 24
_POINTS = 600  # of the waveform


@dataclass(frozen=True, slots=True)
class Tier:
    """A row of labels: its name, and whether they are words (or phones)."""

    name: str
    labels: Sequence[Label]
    of_words: bool = True


@dataclass(frozen=True, slots=True)
class Clip:
    """The sound of an utterance, or of its beginning."""

    seconds: float
    whole_seconds: float  # of the utterance
    top_hz: int  # of the spectrogram, which begins at 0
    sound: str  # data URI: WAV, 16 bit (Chromium fails to seek in some short FLAC files)
    spectrogram: str  # data URI: PNG, in shades of gray
    waveform: str  # SVG path in a box of 1000 x 100
    tiers: Sequence[Tier]

    @property
    def size(self) -> int:
        """Number of characters in the page, without the labels."""
        return len(self.sound) + len(self.spectrogram) + len(self.waveform)


def tiers_of(one: AlignedUtterance) -> list[Tier]:
    """Return the words and the phones of an utterance."""
    words, phones = labels_of(one, one.words, one.word_trusts), labels_of(one, one.phones, one.phone_trusts)
    return [Tier("words", list(words)), Tier("phones", list(phones), of_words=False)]


def sound_notes(clips: Mapping[str, Clip], issues: Sequence[Issue], *, has_audio: bool) -> Iterator[str]:
    """Yield sentences of a page on its players, and on the utterances without one."""
    if not has_audio:
        yield "The data have features, but no audio, so there are no players."
        return
    if clips:
        yield "Click on a word or phone to play it, or on the picture to move the cursor."
    if issues:
        first = printable(f"{issues[0].utterance}: {issues[0].message}")
        yield f"{count(len(issues), 'utterance')} to check without a player. The first: {first}"


def make_clips(
    names: Iterable[str], utterances: Mapping[str, Utterance], tiers: Mapping[str, Sequence[Tier]]
) -> tuple[dict[str, Clip], list[Issue]]:
    """Return the clips of the first utterances, and an issue for each utterance whose audio cannot be read.

    Parameters
    ----------
    names : iterable of str
        Ids of utterances, the most important first. At most `MAX_CLIPS` are made, with at most `MAX_CHARACTERS`.
    utterances : mapping of id to Utterance
        Audio; utterances that are missing here are skipped.
    tiers : mapping of id to Tiers
        Labels of the clips.
    """
    clips: dict[str, Clip] = {}
    issues: list[Issue] = []
    size = 0
    for name in dict.fromkeys(names):
        if name not in utterances:
            continue
        if len(clips) + len(issues) == MAX_CLIPS:
            break
        clip = attempt(make_clip, utterances[name], tiers.get(name, ()))
        if isinstance(clip, Issue):
            issues.append(clip.for_utterance(name))
        elif (size := size + clip.size) <= MAX_CHARACTERS:
            clips[name] = clip
        else:
            break
    return clips, issues


def make_clip(utterance: Utterance, tiers: Sequence[Tier]) -> Clip:
    """Read the first `MAX_SECONDS` of an utterance, mono, at a rate from `MIN_RATE` to `MAX_RATE`.

    Raises CorpusError if the utterance has no audio, the file is missing, or as `read_audio`.
    """
    path, start = utterance.audio, utterance.start
    if path is None:
        raise CorpusError("the utterance has features, but no audio", code="no-audio")
    if not is_file(path):
        raise CorpusError(f"{path}: not found. Expected the audio file of the utterance.", code="missing-file")
    header, _ = read_header(path, rate=MIN_RATE, start=start, end=utterance.end)
    rate = min(max(header.rate, MIN_RATE), MAX_RATE)
    whole = audio_seconds(path, start=start, end=utterance.end)
    end = utterance.end if whole <= MAX_SECONDS else (start or 0.0) + MAX_SECONDS
    samples = read_audio(path, rate=rate, start=start, end=end)
    seconds = len(samples) / rate
    kept = [
        Tier(
            tier.name,
            [one._replace(end=min(one.end, seconds)) for one in tier.labels if one.start < seconds],
            tier.of_words,
        )
        for tier in tiers
    ]
    return Clip(
        seconds, whole, rate // 2, _sound(samples, rate), _png(spectrogram(samples, rate)), _path(samples), kept
    )


def spectrogram(samples: np.ndarray, rate: int) -> np.ndarray:
    """Return the shades of a spectrogram: uint8 (128, n_columns), the highest frequency first; 255 is white.

    The level is the power in windows of 10 ms (Hann), with 6 dB more per octave as in Praat, in dB below the
    maximum of the utterance; -60 dB and lower levels are white.

    Parameters
    ----------
    samples : ndarray of shape (n,)
        Any scale.
    rate : int
        Samples per second.
    """
    import scipy.fft

    width = int(_WINDOW * rate)
    n_columns = max(1, min(_MAX_COLUMNS, round(_COLUMNS_PER_SECOND * len(samples) / rate)))
    centers = ((np.arange(n_columns) + 0.5) * len(samples) / n_columns).astype(int)
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(samples, width // 2, "symmetric"), width)[centers]
    spectrum = scipy.fft.rfft(frames * np.hanning(width).astype(np.float32), _FFT_SIZE)[:, 1:]
    power = np.square(np.abs(spectrum)) * np.square(np.arange(1, spectrum.shape[1] + 1, dtype=np.float32))
    level = 10.0 * np.log10(np.maximum(power, 1e-3))
    depth = np.clip((level.max() - level) / _RANGE_DB, 0.0, 1.0)  # 0 for the loudest place
    if level.max() - level.min() < 1.0:  # digital silence
        depth[:] = 1.0
    return np.ascontiguousarray((np.round(depth * _SHADES) * (255 / _SHADES)).astype(np.uint8).T[::-1])


def _png(pixels: np.ndarray) -> str:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return _data_uri("image/png", buffer)


def _sound(samples: np.ndarray, rate: int) -> str:
    buffer = io.BytesIO()
    integers = np.clip(np.round(samples), -32768, 32767).astype(np.int16)
    soundfile.write(buffer, integers, rate, format="WAV", subtype="PCM_16")
    return _data_uri("audio/wav", buffer)


def _data_uri(kind: str, buffer: io.BytesIO) -> str:
    return f"data:{kind};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _path(samples: np.ndarray) -> str:
    """Return the highest and lowest sample of each point of time as a closed path; the peak touches the box."""
    starts = np.unique(np.arange(_POINTS) * len(samples) // _POINTS)
    scale = 50.0 / max(1.0, float(np.abs(samples).max()))
    high = 50.0 - scale * np.maximum.reduceat(samples, starts)
    low = 50.0 - scale * np.minimum.reduceat(samples, starts) + 0.5
    places = starts * 1000.0 / len(samples)
    there = [f"{x:.0f} {y:.0f}" for x, y in zip(places, high, strict=True)]
    back = [f"{x:.0f} {y:.1f}" for x, y in zip(places[::-1], low[::-1], strict=True)]
    return f"M{'L'.join([*there, *back])}Z"
