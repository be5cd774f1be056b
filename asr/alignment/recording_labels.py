"""Labels of recordings: the words and phones of their utterances, in the time of the recording."""

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from asr.alignment.frame_times import FrameTimes
from asr.alignment.interval_trust import IntervalTrust
from asr.alignment.transcript_scores import TranscriptScore
from asr.corpus.audio import audio_seconds
from asr.corpus.data_directory import Utterance
from asr.corpus.formats.textgrid import TRUST, UNCALIBRATED
from asr.decode.path_segments import Segment

Interval = tuple[float, float, str]


class AlignedUtterance(NamedTuple):
    """Words and phones of an utterance in frames, the times of the frames, and the trust in the parts (0 to 1)."""

    utterance: Utterance
    words: Sequence[Segment]
    phones: Sequence[Segment]
    times: FrameTimes
    trust: float | None = None
    word_trusts: Sequence[float] = ()
    phone_trusts: Sequence[float] = ()
    calibrated: bool | None = None  # whether `word_trusts` are calibrated confidences; None for others

    @property
    def start(self) -> float:
        """Beginning of the utterance in seconds of the recording."""
        return self.utterance.start or 0.0

    def intervals(self, segments: Sequence[Segment]) -> list[Interval]:
        """Return segments with start and end in seconds of the recording."""
        return [label[:3] for label in labels_of(self, segments, start=self.start)]


class Label(NamedTuple):
    """A word or phone, with start and end in seconds, and its trust or confidence (0 to 1) if known."""

    start: float
    end: float
    text: str
    trust: float | None = None


@dataclass(frozen=True)
class LabelTier:
    """The words or the phones of a speaker, in order of time and without overlap."""

    kind: Literal["words", "phones"]
    speaker: str
    labels: Sequence[Label]


@dataclass(frozen=True)
class RecordingLabels:
    """The tiers of a recording."""

    name: str  # of the audio file relative to the folder of all recordings, without its ending; or an utterance id
    audio: Path | None
    seconds: float
    tiers: Sequence[LabelTier]
    source: Path | None = None  # annotation file whose tiers are kept, if any
    calibrated: bool | None = None  # whether confidences are calibrated; None for trusts and without confidences

    def named_tiers(self, taken: Collection[str] = ()) -> Iterator[tuple[str, str, Sequence[Label]]]:
        """Yield name, speaker and labels of each tier, and of a tier `NAME trust` with the trusts in its labels.

        If they are confidences that are not calibrated, this tier is `NAME trust (uncalibrated)`.

        For several speakers, the names are `SPEAKER - words`, as in Montreal Forced Aligner. Names that are `taken` get
        the ending ` (aligned)`.
        """
        several = len({tier.speaker for tier in self.tiers}) > 1
        for tier in self.tiers:
            name = f"{tier.speaker} - {tier.kind}" if several else tier.kind
            name = f"{name} (aligned)" if name in taken else name
            yield name, tier.speaker, tier.labels
            trusts = [label._replace(text=f"{label.trust:.2f}") for label in tier.labels if label.trust is not None]
            if trusts:
                yield f"{name}{UNCALIBRATED if self.calibrated is False else TRUST}", tier.speaker, trusts


def labelled_recordings(
    aligned: Iterable[AlignedUtterance], sources: Mapping[str, Path] | None = None
) -> Iterator[RecordingLabels]:
    """Yield the labels of each recording. Features from archives have no recordings: each utterance is one.

    `sources` has the annotation file of an utterance by its id (`asr.commands.prepare.sources`).
    """
    of_recording: dict[Path | str, list[AlignedUtterance]] = defaultdict(list)
    for one in aligned:
        of_recording[one.utterance.audio or one.utterance.id].append(one)
    names = recording_names([path for path in of_recording if isinstance(path, Path)])
    for recording, ones in of_recording.items():
        ones.sort(key=lambda one: (one.start, one.utterance.id))
        last = max(one.start + one.times.border(one.times.n_frames) for one in ones)
        audio = recording if isinstance(recording, Path) else None
        if audio is not None:
            last = max(last, round(audio_seconds(audio), 4))
        files = {path for one in ones if (path := (sources or {}).get(one.utterance.id)) is not None}
        yield RecordingLabels(
            names[recording] if isinstance(recording, Path) else recording,
            audio,
            last,
            list(_tiers(ones)),
            files.pop() if len(files) == 1 else None,
            ones[0].calibrated,
        )


def recording_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each audio file relative to their common folder, without its ending unless two are equal."""
    if not paths:
        return {}
    common = Path(os.path.commonpath([path.parent for path in paths]))
    bare = {path: path.relative_to(common).with_suffix("") for path in paths}
    n_alike = Counter(bare.values())
    return {path: str(path.relative_to(common) if n_alike[name] > 1 else name) for path, name in bare.items()}


def _tiers(ones: Sequence[AlignedUtterance]) -> Iterator[LabelTier]:
    """Yield the tiers of a recording, whose utterances are in order of time."""
    for speaker in dict.fromkeys(one.utterance.speaker for one in ones):
        own = [one for one in ones if one.utterance.speaker == speaker]
        words = (label for one in own for label in labels_of(one, one.words, one.word_trusts, one.start))
        yield LabelTier("words", speaker, _without_overlap(words))
        if any(one.phones for one in own):
            phones = (label for one in own for label in labels_of(one, one.phones, one.phone_trusts, one.start))
            yield LabelTier("phones", speaker, _without_overlap(phones))


def labels_of(
    one: AlignedUtterance, segments: Sequence[Segment], trusts: Sequence[float] = (), start: float = 0.0
) -> Iterator[Label]:
    """Yield words or phones of an utterance that begins at `start` seconds, with `trusts` if these are known."""
    border = one.times.border
    values: Sequence[float | None] = trusts or [None] * len(segments)
    for segment, trust in zip(segments, values, strict=True):
        yield Label(start + border(segment.start), start + border(segment.end), segment.label, trust)


def _without_overlap(labels: Iterable[Label]) -> list[Label]:
    """Shorten labels that begin before the end of the previous one, as if segments of a speaker overlap."""
    kept: list[Label] = []
    for start, end, text, trust in labels:
        start = max(round(start, 4), kept[-1].end if kept else 0.0)
        if start < round(end, 4):
            kept.append(Label(start, round(end, 4), text, trust))
    return kept


@dataclass(frozen=True)
class UtteranceAlignment:
    """Words and phones of an aligned utterance (times in frames), its states and scores.

    Attributes
    ----------
    words, phones : sequences of Segment
        In order of time.
    states : int32 (n_frames,)
        State of each frame; -1 for unknown words and passages without an alignment.
    fit : TranscriptScore or None
        Fit of the transcript and of rivals; None unless the transcripts are checked.
    trust : IntervalTrust
        Trust in the transcript, the words and the phones.
    word_fits : sequence of float
        Mean distance of each word's states from the best state of each frame, natural log per frame; at most 0.
    n_silent : int
        Number of frames that are aligned with silence and fit it better than any phone.
    """

    words: Sequence[Segment]
    phones: Sequence[Segment]
    states: np.ndarray
    fit: TranscriptScore | None
    trust: IntervalTrust
    word_fits: Sequence[float]
    n_silent: int

    @property
    def mean_word_fit(self) -> float:
        """Mean of `word_fits` over the frames of all words; 0 without words."""
        frames = [word.end - word.start for word in self.words]
        return float(np.average(self.word_fits, weights=frames)) if sum(frames) else 0.0
