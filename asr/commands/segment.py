"""`asr segment`: a data directory whose utterances are cut at pauses into short ones."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from asr.alignment.ctm import CtmRow, read_ctm
from asr.alignment.passages import PASSAGES, read_unmatched
from asr.corpus.audio import LOWEST_RATE, MAX_OVERSHOOT, read_header, read_native
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.features.pieces import longest_pauses, pause_cuts, piece_name
from asr.runs.outcome import FAILED, Outcome, account
from asr.runs.progress import counted
from asr.util.errors import ConfigError, CorpusError, Issue, attempt
from discriminants.util.paths import exists

_FRAME = 0.01  # seconds
_PAUSE = 0.3  # seconds over which the loudness is averaged
_BLOCK = 6000  # frames that are read together
_SILENT = np.log(1e-10)  # loudness of frames without sound


def segment(
    data: Path,
    out: Path,
    *,
    root: Path | None = None,
    alignment: Path | None = None,
    min_seconds: float = 2.0,
    max_seconds: float = 20.0,
) -> Outcome:
    """Cut the utterances of a data directory at pauses, and write the parts as a data directory with `segments`.

    Without `alignment`, cuts lie at the quietest places, and the parts have no transcripts; parts of digital silence
    are left out. With it, cuts lie between words, at the longest pauses, and each part has the words between its cuts.
    Parts without words are left out, and so is audio that `passages.tsv` marks as wrong or untranscribed. Utterances
    that cannot be cut are in `out/failed.tsv`.

    Raises ConfigError for other durations than 0 < `min_seconds` < `max_seconds`, and CorpusError if nothing is left or
    `out` has lists of another program.

    Parameters
    ----------
    data, out : path
        Data directories with audio to read and to write. Recordings may be longer than an utterance may be.
    root : path, optional
        Folder of relative paths in `data`.
    alignment : path, optional
        Output folder of `asr align` for `data`.
    min_seconds, max_seconds : float
        Durations of the parts. A part is longer if `max_seconds` is less than twice `min_seconds`, or if no pause
        between words is near. It is shorter if the utterance or the audio between left out passages is.
    """
    if not 0.0 < min_seconds < max_seconds:
        raise ConfigError(
            f"--min-seconds (min_seconds=) {min_seconds:g} and --max-seconds (max_seconds=) {max_seconds:g}. Expected "
            "0 < minimum < maximum."
        )
    corpus = read_data_directory(data, root=root, prefer="audio", needs_speakers=False)
    foreign = exists(out / "feats.scp") or (exists(out / "wav.scp") and not exists(out / FAILED))
    if foreign or out.resolve() == data.resolve():
        raise CorpusError(f"{out}: has lists that asr segment did not write. Use another folder.")
    words = None if alignment is None else _aligned_words(alignment)
    unmatched = {} if alignment is None else read_unmatched(alignment / PASSAGES)
    parts: list[Utterance] = []
    done: list[str] = []
    problems = list(corpus.problems)
    with counted(len(corpus.utterances), "segments") as finished:
        for number, utterance in enumerate(corpus.utterances, 1):
            if words is None:
                found = attempt(_quiet_parts, utterance, min_seconds, max_seconds)
            else:
                own = words.get(utterance.id, ()), unmatched.get(utterance.id, ())
                found = attempt(_aligned_parts, utterance, *own, min_seconds, max_seconds)
            if isinstance(found, Issue):
                problems.append(found.for_utterance(utterance.id))
            else:
                parts += found
                done.append(utterance.id)
            finished(number)
    account(corpus.listed, done, problems, out)
    if not parts:
        first = f" The first: {problems[0].message}" if problems else ""
        raise CorpusError(f"{data}: no utterance could be cut.{first}", lost=problems)
    write_data_directory(out, parts, corpus.gender)
    return Outcome(len(done), problems)


def _aligned_words(folder: Path) -> dict[str, list[CtmRow]]:
    path = folder / "words.ctm"
    if not exists(path):
        raise CorpusError(f"{path}: not found. Expected an output folder of asr align.")
    found: dict[str, list[CtmRow]] = defaultdict(list)
    for row in sorted(read_ctm(path), key=lambda row: row.start):
        found[row.utterance].append(row)
    return found


def _quiet_parts(utterance: Utterance, shortest: float, longest: float) -> list[Utterance]:
    seconds, rate = _duration(utterance)
    begin = utterance.start or 0.0
    step = max(1, round(_FRAME * rate)) / rate
    levels = []
    for first in np.arange(0.0, seconds, _BLOCK * step):
        end = min(first + _BLOCK * step, seconds)
        if (end - first) * rate >= 1.0:
            samples, _ = read_native(utterance.source, rate=LOWEST_RATE, start=begin + first, end=begin + end)
            levels.append(frame_loudness(samples, rate))
    loudness = np.concatenate(levels)
    found = []
    for start, end in pairwise([0, *quiet_cuts(loudness, step, shortest, longest), len(loudness)]):
        if loudness[start:end].max(initial=_SILENT) > _SILENT + 1e-6:
            last = seconds if end == len(loudness) else end * step
            found.append(_part(utterance, start * step, last, None))
    if not found:
        raise CorpusError(f"{utterance.source}: digital silence: all samples are 0", code="silent")
    return found


def _aligned_parts(
    utterance: Utterance,
    words: Sequence[CtmRow],
    unmatched: Sequence[tuple[float, float]],
    shortest: float,
    longest: float,
) -> list[Utterance]:
    seconds, _ = _duration(utterance)
    if not words:
        raise CorpusError("the alignment has no words of it", code="not-aligned")
    if words[-1].start + words[-1].duration > seconds + MAX_OVERSHOOT:
        raise CorpusError(
            f"the alignment has words until {words[-1].start + words[-1].duration:.3f} s, but the audio has "
            f"{seconds:.3f} s. Expected an alignment of the same audio",
            code="not-aligned",
        )
    edges = [0.0, *(time for passage in unmatched for time in passage), seconds]
    found = []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        own = [row for row in words if first <= row.start + row.duration / 2 < last]
        for start, end in pairwise([first, *cuts_between(own, first, last, shortest, longest), last]):
            spoken = tuple(row.label for row in own if start <= row.start + row.duration / 2 < end)
            if spoken:
                found.append(_part(utterance, start, end, spoken))
    return found


def _duration(utterance: Utterance) -> tuple[float, int]:
    """Return the duration of an utterance in seconds, which may be too long for other commands, and the rate."""
    if utterance.audio is None:
        raise CorpusError("features have no audio to cut", code="no-audio")
    begin = utterance.start or 0.0
    header, _ = read_header(utterance.audio, rate=LOWEST_RATE, start=utterance.start, end=begin + _FRAME)
    length = header.n_samples / header.rate
    if utterance.end is not None and utterance.end > length + MAX_OVERSHOOT:
        raise CorpusError(
            f"{utterance.audio}: the segment ends at {utterance.end} s, but the recording lasts {length:.3f} s.",
            code="bad-segment",
        )
    return min(utterance.end or length, length) - begin, header.rate


def frame_loudness(samples: np.ndarray, rate: int) -> np.ndarray:
    """Return the log power of each frame of 10 ms, float (n_frames,), of samples (n,)."""
    step = max(1, round(_FRAME * rate))
    power = np.square(samples, dtype=np.float64)
    return np.log(np.add.reduceat(power, np.arange(0, len(power), step)) / step + 1e-10)


def quiet_cuts(loudness: np.ndarray, step: float, shortest: float, longest: float) -> list[int]:
    """Return the frames that divide a recording at its quietest places; `step` seconds between frames."""
    low, high, pause = (max(1, round(one / step)) for one in (shortest, longest, _PAUSE))
    return pause_cuts(loudness, low, max(low + 1, high - low), pause)  # so that the last part has at most `high`


def cuts_between(words: Sequence[CtmRow], begin: float, end: float, shortest: float, longest: float) -> Iterator[float]:
    """Yield times between words, at the longest pauses, that divide the audio from `begin` to `end` in seconds."""
    pauses = [
        ((one.start + one.duration + after.start) / 2, after.start - one.start - one.duration)
        for one, after in pairwise(words)
        if after.start >= one.start + one.duration - 1e-6
    ]
    for number in longest_pauses(pauses, begin, end, shortest, longest):
        yield pauses[number][0]


def _part(utterance: Utterance, start: float, end: float, words: tuple[str, ...] | None) -> Utterance:
    begin = utterance.start or 0.0
    return Utterance(
        piece_name(utterance.id, start, end), utterance.speaker, words, utterance.audio, begin + start, begin + end
    )
