"""Checks of audio files: readability, signal quality, sampling rates and segments."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from asr.corpus.audio_stats import Measured, measure
from asr.corpus.batches import attempt_all
from asr.corpus.data_directory import DataLists, Utterance
from asr.features.config import FeatureConfig
from asr.features.level import SILENT_WORDS
from asr.util.counted_text import count, some
from asr.util.errors import Issue
from asr.validation.findings import costing, warning
from discriminants.parallel.workers import Workers

CLIPPED = 1e-3
"""Fraction of samples at full scale; peak-normalized audio has fewer."""
LOUD = 4.0
"""Multiple of full scale. Converted floating-point files exceed full scale by less; files above `MAX_PEAK` are refused.
"""
LONG = 120.0
"""Seconds from which an utterance should be divided."""
OVERLAP = 0.1
"""Maximum overlap in seconds of segments of one recording."""


def measure_all(
    utterances: Sequence[Utterance], rate: int, samples_too: bool, workers: Workers, progress: Callable[[int], None]
) -> list[Measured | Issue]:
    """Measure the audio of all utterances, in order; return issues for unreadable ones."""
    return attempt_all(measure, utterances, rate, samples_too, workers=workers, progress=progress)


def _recording_place(directory: DataLists, utterance: str) -> tuple[Path, int | None]:
    key = directory.recording.get(utterance, utterance)
    return directory.lists["wav.scp"].path, directory.entries("wav.scp")[key].line


def check_readable(directory: DataLists, measured: Mapping[str, Measured | Issue]) -> Iterator[Issue]:
    """Report unreadable files, and segments outside their recording (one finding per file)."""
    lost = defaultdict(list)
    for name, result in measured.items():
        if isinstance(result, Issue):
            of_segment = result.code in ("bad-segment", "too-long")
            path, line = directory.place(name) if of_segment else _recording_place(directory, name)
            lost[replace(result, path=path, line=line)].append(name)
    for issue, names in lost.items():
        yield replace(issue, utterances=tuple(sorted(names)))


def check_sound(directory: DataLists, measured: Mapping[str, Measured], *, training: bool) -> Iterator[Issue]:
    """Report audio without speech or with recording defects."""
    for name, found in measured.items():
        place = directory.place(name)
        if found.peak == 0.0 and training and directory.words.get(name):
            yield costing("silent", *place, f"'{name}' {SILENT_WORDS}; record it again, or leave it out", [name])
            continue
        yield from (warning(code, *place, f"'{name}' {message}") for code, message in _defects(found))
        if found.seconds > LONG and not directory.recording:
            message = f"'{name}' lasts {found.seconds:.0f} s; divide it into sentences with a list segments"
            yield warning("long-recording", *place, message)


def _defects(found: Measured) -> Iterator[tuple[str, str]]:
    """Yield code and description of each defect."""
    if found.peak == 0.0:
        yield "silent", "is digital silence: all samples are 0; record it again, or leave it out"
    elif found.cancelling:
        yield "opposite-phase", "has channels of opposite phase, whose mean is silent; store one channel as a mono file"
    elif found.differing:
        remedy = "store one as a mono file (sox in.wav out.wav remix 1, or remix 2)"
        yield "channels-differ", f"has two different channels, which are averaged; {remedy}"
    elif found.constant:
        yield "constant", "has the same value in all samples; record it again, or leave it out"
    if found.clipped > CLIPPED:
        remedy = "record it with less gain, or leave it out"
        yield "clipped", f"is clipped: {100 * found.clipped:.1f} % of the samples are at full scale; {remedy}"
    elif found.peak > LOUD:
        message = f"has samples of {found.peak:g} times full scale. Expected samples between -1 and 1"
        yield "too-loud", f"{message}; scale them"


def check_rates(directory: DataLists, measured: Mapping[str, Measured], config: FeatureConfig) -> Iterator[Issue]:
    """Report files with a lower rate than the settings', and mixed rates."""
    by_rate = defaultdict(list)
    for name, found in measured.items():
        by_rate[found.rate].append(name)
    low = [rate for rate in sorted(by_rate) if rate < config.sample_rate]
    for rate in low:
        names = by_rate[rate]
        place = _recording_place(directory, names[0])
        message = (
            f"{count(len(names), 'utterance')} of {len(measured):,} ({some(names, 3)}) at {rate} Hz, but sample_rate = "
            f"{config.sample_rate}"
        )
        if config.upsample:
            message += f". They are upsampled (upsample = true) and have no energy above {rate / 2:g} Hz"
            yield warning("low-rate", *place, message)
            continue
        message += f'; set it to {low[0]} or "auto" under [features], leave them out, or set upsample = true'
        yield replace(costing("low-rate", *place, message, names), stops=len(low) == len(by_rate))
    if len(by_rate) > 1 and not low:
        rates = ", ".join(f"{len(by_rate[rate]):,} at {rate} Hz" for rate in sorted(by_rate))
        rarest = min(by_rate, key=lambda rate: len(by_rate[rate]))
        message = (
            f"the recordings have several rates ({rates}). All are converted to {config.sample_rate} Hz, but different "
            "microphones may sound different"
        )
        yield warning("mixed-rates", *_recording_place(directory, by_rate[rarest][0]), message)


def check_bandwidth(directory: DataLists, measured: Mapping[str, Measured], config: FeatureConfig) -> Iterator[Issue]:
    """Report files upsampled from a lower rate, which leave the upper part of the settings' band empty."""
    limits = {name: found.cut_off for name, found in measured.items() if found.lacks_band(config.sample_rate)}
    limited = {name: limit for name, limit in limits.items() if limit is not None}
    shown = list(limited) if 2 * len(limited) <= len(measured) else list(limited)[:1]
    for name in shown:
        limit = limited[name]
        message = (
            f"'{name}' has no energy above {limit:g} Hz, as if converted from {2 * limit:g} to {measured[name].rate} Hz"
        )
        if len(shown) < len(limited):
            message += f", like {len(limited):,} of {len(measured):,} utterances; set sample_rate = {int(2 * limit)}"
            message += " under [features], or use the original recordings"
        else:
            message += "; use the original recording, or leave it out"
        yield warning("band-limited", *_recording_place(directory, name), message)


def check_segments_apart(directory: DataLists, measured: Mapping[str, Measured]) -> Iterator[Issue]:
    """Report overlapping segments of a recording."""
    by_recording = defaultdict(list)
    for name, found in measured.items():
        if name in directory.recording:
            start = directory.usable[name].start or 0.0
            by_recording[directory.recording[name]].append((start, start + found.seconds, name))
    for spans in by_recording.values():
        spans.sort()
        latest, owner = spans[0][1], spans[0][2]
        for start, end, name in spans[1:]:
            if latest - start > OVERLAP:
                message = f"'{name}' overlaps '{owner}' by {min(latest, end) - start:.2f} s; move one of their ends"
                yield warning("overlap", *directory.place(name), message)
            if end > latest:
                latest, owner = end, name


def check_repeated(directory: DataLists, measured: Mapping[str, Measured]) -> Iterator[Issue]:
    """Report utterances with the same file or samples as another."""
    files: dict[tuple[str, float | None, float | None], str] = {}
    contents: dict[bytes, str] = {}
    for name, found in measured.items():
        source, place = directory.usable[name], directory.place(name)
        first = files.setdefault((str(source.source), source.start, source.end), name)
        if first != name:
            line = directory.place(first)[1]
            yield warning("same-file", *place, f"'{name}' is the same file as '{first}' (line {line}); remove one")
        elif found.digest and not found.constant:
            first = contents.setdefault(found.digest, name)
            if first != name:
                line = directory.place(first)[1]
                message = f"'{name}' has the same samples as '{first}' (line {line}); remove one"
                yield warning("same-audio", *place, message)
