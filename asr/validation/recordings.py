"""Checks of audio files: readability, signal quality, sampling rates and segments."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from asr.corpus.audio_stats import Measured, measure
from asr.corpus.data_directory import Utterance
from asr.features.config import FeatureConfig
from asr.features.silence import SILENT_WORDS
from asr.util.counted_text import count, some
from asr.util.errors import Issue, attempt
from asr.validation.directory import Directory
from asr.validation.findings import costing, warning
from discriminants.parallel.threads import in_threads
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
_BATCH = 32  # utterances per task of a worker


def measure_all(
    utterances: Sequence[Utterance],
    rate: int,
    *,
    samples_too: bool,
    workers: Workers,
    progress: Callable[[int], None] | None = None,
) -> list[Measured | Issue]:
    """Measure the audio of all utterances, in order; return faults for unreadable ones."""
    batches = [utterances[first : first + _BATCH] for first in range(0, len(utterances), _BATCH)]
    results: list[Measured | Issue] = []
    # Decoding releases the GIL, and threads start at once.
    for batch in in_threads(workers).map(_measure_batch, batches, rate, samples_too):
        results += batch
        if progress is not None:
            progress(len(results))
    return results


def _measure_batch(batch: Sequence[Utterance], rate: int, samples_too: bool) -> list[Measured | Issue]:
    return [attempt(measure, utterance, rate, samples_too) for utterance in batch]


def _recording_place(directory: Directory, utterance: str) -> tuple[Path, int | None]:
    key = directory.recording.get(utterance, utterance)
    return directory.lists["wav.scp"].path, directory.entries("wav.scp")[key].line


def check_readable(directory: Directory, measured: Mapping[str, Measured | Issue]) -> Iterator[Issue]:
    """Report unreadable files, and segments outside their recording (one finding per file)."""
    lost = defaultdict(list)
    for name, result in measured.items():
        if isinstance(result, Issue):
            of_segment = result.code in ("bad-segment", "too-long")
            place = directory.place(name) if of_segment else _recording_place(directory, name)
            lost[(*place, result)].append(name)
    for (file, line, fault), names in lost.items():
        yield costing(fault.code, file, line, fault.message, names)


def check_sound(directory: Directory, measured: Mapping[str, Measured], *, training: bool) -> Iterator[Issue]:
    """Report audio without speech or with recording defects."""
    for name, found in measured.items():
        file, line = directory.place(name)
        if found.peak == 0.0 and training and directory.words.get(name):
            yield costing("silent", file, line, f"'{name}' {SILENT_WORDS}; record it again, or leave it out", [name])
        elif found.peak == 0.0:
            message = f"'{name}' is digital silence, all its samples are 0; record it again, or leave it out"
            yield warning("silent", file, line, message)
        elif found.cancelling:
            message = (
                f"the channels of '{name}' have opposite phase and cancel when they are averaged; store one of them "
                "as a mono file"
            )
            yield warning("opposite-phase", file, line, message)
        elif found.differing:
            message = (
                f"the two channels of '{name}' hold different sounds, and they are averaged; make a mono file of the "
                "one to be heard (sox in.wav out.wav remix 1, or remix 2)"
            )
            yield warning("channels-differ", file, line, message)
        elif found.constant:
            message = f"all samples of '{name}' have the same value; record it again, or leave it out"
            yield warning("constant", file, line, message)
        if found.clipped > CLIPPED:
            message = (
                f"{100 * found.clipped:.1f} % of the samples of '{name}' are at full scale: it was clipped; record it "
                "with less gain, or leave it out"
            )
            yield warning("clipped", file, line, message)
        elif found.peak > LOUD:
            message = (
                f"the samples of '{name}' reach {found.peak:g} times full scale; those of a floating-point file lie "
                "between -1 and 1, so divide them"
            )
            yield warning("too-loud", file, line, message)
        if found.seconds > LONG and not directory.recording:
            message = f"'{name}' lasts {found.seconds:.0f} s; divide it into sentences with a file 'segments'"
            yield warning("long-recording", file, line, message)


def check_rates(directory: Directory, measured: Mapping[str, Measured], config: FeatureConfig) -> Iterator[Issue]:
    """Report files with a lower rate than the settings', and mixed rates."""
    by_rate = defaultdict(list)
    for name, found in measured.items():
        by_rate[found.rate].append(name)
    low = [rate for rate in sorted(by_rate) if rate < config.sample_rate]
    for rate in low:
        names = by_rate[rate]
        which = f"{count(len(names), 'utterance')} of {len(measured):,} ({some(names, 3)}) at {rate} Hz"
        place = _recording_place(directory, names[0])
        if config.upsample:
            message = (
                f"{which} converted to sample_rate = {config.sample_rate}, as upsample = true says; they hold nothing "
                f"above {rate / 2:g} Hz"
            )
            yield warning("low-rate", *place, message)
            continue
        message = (
            f'{which}, but sample_rate = {config.sample_rate}; set it to {low[0]} or "auto" under [features], leave '
            "them out, or go on with upsample = true"
        )
        everything = len(low) == len(by_rate)
        yield replace(costing("low-rate", *place, message, names), stops=everything)
    if len(by_rate) > 1 and not low:
        rates = ", ".join(f"{len(by_rate[rate]):,} at {rate} Hz" for rate in sorted(by_rate))
        rarest = min(by_rate, key=lambda rate: len(by_rate[rate]))
        message = (
            f"the recordings have several rates ({rates}); all are converted to {config.sample_rate} Hz, but "
            "microphones that differ so far seldom sound alike"
        )
        yield warning("mixed-rates", *_recording_place(directory, by_rate[rarest][0]), message)


def check_bandwidth(directory: Directory, measured: Mapping[str, Measured], config: FeatureConfig) -> Iterator[Issue]:
    """Report files upsampled from a lower rate, which leave the upper part of the settings' band empty."""
    limited = band_limited(measured, config)
    shown = list(limited) if 2 * len(limited) <= len(measured) else list(limited)[:1]
    for name in shown:
        limit = limited[name]
        rate = f"holds nothing above {limit:g} Hz, as if converted from {2 * limit:g} to {measured[name].rate} Hz"
        if len(shown) < len(limited):
            message = (
                f"'{name}' {rate}, and so are {len(limited):,} of {len(measured):,} utterances; set sample_rate = "
                f"{int(2 * limit)} under [features], or use the recordings they were made from"
            )
        else:
            message = f"'{name}' {rate}; use the recording it was made from, or leave it out"
        yield warning("band-limited", *_recording_place(directory, name), message)


def band_limited(measured: Mapping[str, Measured], config: FeatureConfig) -> dict[str, float]:
    """Return the upper limit in Hz of each utterance that leaves the upper part of the settings' band empty."""
    return {
        name: found.cut_off
        for name, found in measured.items()
        if found.cut_off is not None and above_cut_off(found, config)
    }


def above_cut_off(found: Measured, config: FeatureConfig) -> bool:
    """Whether the settings' band exceeds the utterance's bandwidth."""
    return found.cut_off is not None and found.cut_off < 0.45 * config.sample_rate


def check_segments_apart(directory: Directory, measured: Mapping[str, Measured]) -> Iterator[Issue]:
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


def check_told_apart(directory: Directory, measured: Mapping[str, Measured]) -> Iterator[Issue]:
    """Report utterances with the same file or samples as another."""
    files: dict[tuple[str, float | None, float | None], str] = {}
    contents: dict[bytes, str] = {}
    for name, found in measured.items():
        source = directory.usable[name]
        line = directory.place(name)
        key = (str(source.source), source.start, source.end)
        if key in files:
            first = files[key]
            message = f"'{name}' is the same audio file as '{first}' (line {directory.place(first)[1]}); remove one"
            yield warning("same-file", *line, message)
            continue
        files[key] = name
        if not found.digest or found.constant:
            continue
        if found.digest in contents:
            first = contents[found.digest]
            message = f"'{name}' has the same samples as '{first}' (line {directory.place(first)[1]}); remove one"
            yield warning("same-audio", *line, message)
        else:
            contents[found.digest] = name
