"""`asr segment`: a data directory whose utterances are cut at pauses into short ones."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from asr.alignment.ctm import CtmRow, read_ctm
from asr.corpus.audio import LOWEST_RATE, audio_seconds, read_native
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.features.pieces import pause_cuts
from asr.runs.outcome import Outcome, account
from asr.runs.progress import counted
from asr.util.errors import ConfigError, CorpusError, Issue, attempt
from discriminants.util.paths import exists

_FRAME = 0.01  # seconds
_PAUSE = 0.3  # seconds over which the loudness is averaged


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

    Without `alignment`, cuts lie at the quietest places, and the parts have no transcripts. With it, cuts lie between
    words, at the longest pauses, and each part has the words between its cuts; parts without words are left out.
    Utterances that cannot be cut are in `out/failed.tsv`.

    Raises ConfigError for other durations than 0 < `min_seconds` < `max_seconds`, and CorpusError if nothing is left.

    Parameters
    ----------
    data, out : path
        Data directories with audio to read and to write.
    root : path, optional
        Folder of relative paths in `data`.
    alignment : path, optional
        Output folder of `asr align` for `data`.
    min_seconds, max_seconds : float
        Durations of the parts. The last part of an utterance may be up to `min_seconds` longer, and an aligned part is
        longer if no pause between words is near.
    """
    if not 0.0 < min_seconds < max_seconds:
        raise ConfigError(
            f"--min-seconds (min_seconds=) {min_seconds:g} and --max-seconds (max_seconds=) {max_seconds:g}. Expected "
            "0 < minimum < maximum."
        )
    corpus = read_data_directory(data, root=root, prefer="audio", needs_speakers=False)
    words = None if alignment is None else _aligned_words(alignment)
    parts: list[Utterance] = []
    done: list[str] = []
    problems = list(corpus.problems)
    with counted(len(corpus.utterances), "segments") as finished:
        for number, utterance in enumerate(corpus.utterances, 1):
            found = attempt(_parts, utterance, words, min_seconds, max_seconds)
            if isinstance(found, Issue):
                problems.append(found.for_utterance(utterance.id))
            else:
                parts += found
                done.append(utterance.id)
            finished(number)
    account(corpus.listed, done, problems, out)
    if not parts:
        raise CorpusError(f"{data}: no utterance could be cut. The first: {problems[0].message}", lost=problems)
    write_data_directory(out, parts)
    return Outcome(len(done), problems)


def _aligned_words(folder: Path) -> dict[str, list[CtmRow]]:
    path = folder / "words.ctm"
    if not exists(path):
        raise CorpusError(f"{path}: not found. Expected an output folder of asr align.")
    found: dict[str, list[CtmRow]] = defaultdict(list)
    for row in sorted(read_ctm(path), key=lambda row: row.start):
        found[row.utterance].append(row)
    return found


def _parts(
    utterance: Utterance, words: Mapping[str, Sequence[CtmRow]] | None, shortest: float, longest: float
) -> list[Utterance] | Issue:
    if utterance.audio is None:
        return Issue("no-audio", "features have no audio to cut")
    begin = utterance.start or 0.0
    seconds = audio_seconds(utterance.audio, start=utterance.start, end=utterance.end)
    if words is None:
        samples, rate = read_native(utterance.audio, rate=LOWEST_RATE, start=utterance.start, end=utterance.end)
        cuts = quiet_cuts(samples, rate, shortest, longest)
        return [_part(utterance, begin, *span, None) for span in pairwise([0.0, *cuts, seconds])]
    own = words.get(utterance.id, ())
    if not own:
        return Issue("not-aligned", "the alignment has no words of it")
    cuts = list(cuts_between(own, seconds, shortest, longest))
    found = []
    for start, end in pairwise([0.0, *cuts, seconds]):
        spoken = tuple(row.label for row in own if start <= row.start + row.duration / 2 < end)
        if spoken:
            found.append(_part(utterance, begin, start, end, spoken))
    return found


def quiet_cuts(samples: np.ndarray, rate: int, shortest: float, longest: float) -> list[float]:
    """Return the times in seconds that divide samples at their quietest places."""
    step = max(1, round(_FRAME * rate))
    frames = samples[: len(samples) // step * step].astype(np.float64).reshape(-1, step)
    loudness = np.log((frames**2).mean(axis=1) + 1e-10)
    cuts = pause_cuts(loudness, *(max(1, round(one * rate / step)) for one in (shortest, longest, _PAUSE)))
    return [cut * step / rate for cut in cuts]


def cuts_between(words: Sequence[CtmRow], seconds: float, shortest: float, longest: float) -> Iterator[float]:
    """Yield times between words, at the longest pauses, that divide an utterance of `seconds`."""
    pauses = [
        (after.start - one.start - one.duration, (one.start + one.duration + after.start) / 2)
        for one, after in pairwise(words)
        if after.start >= one.start + one.duration - 1e-6
    ]
    begin = 0.0
    while seconds - begin > longest:
        usable = [pause for pause in pauses if begin + shortest <= pause[1] <= seconds - shortest]
        if not usable:
            return
        near = [pause for pause in usable if pause[1] <= begin + longest]
        begin = max(near, key=lambda pause: (pause[0], -pause[1]))[1] if near else usable[0][1]
        yield begin


def _part(utterance: Utterance, begin: float, start: float, end: float, words: tuple[str, ...] | None) -> Utterance:
    name = f"{utterance.id}-{round(100 * start):07d}-{round(100 * end):07d}"
    return Utterance(name, utterance.speaker, words, utterance.audio, begin + start, begin + end)
