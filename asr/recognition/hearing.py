"""What is heard in audio before it is recognized: silence, channels that cancel, speech of a lower sampling rate."""

import logging
from collections import defaultdict
from collections.abc import Mapping

from asr.corpus.data_directory import DataDirectory
from asr.errors import Fault, printable
from asr.features.config import FeatureConfig
from asr.runs.progress import counted
from asr.validation.findings import count, some
from asr.validation.measuring import Measured
from asr.validation.recordings import above_cut_off, measure_all
from discriminants.parallel.workers import Workers

log = logging.getLogger(__name__)


def warn_of_sound(corpus: DataDirectory, config: FeatureConfig, *, workers: Workers) -> None:
    """Log a line for each way in which some utterances' audio is not what a recognizer expects.

    Nothing is changed by it, and files that cannot be read are left to those who need them.
    """
    with counted(len(corpus.utterances), "audio checked") as finished:
        results = measure_all(
            corpus.utterances, config.sample_rate, samples_too=True, workers=workers, progress=finished
        )
    measured = {
        utterance.id: found
        for utterance, found in zip(corpus.utterances, results, strict=True)
        if not isinstance(found, Fault)
    }
    for line in sound_warnings(measured, config):
        log.warning("%s", printable(line))


def sound_warnings(measured: Mapping[str, Measured], config: FeatureConfig) -> list[str]:
    """A line for every kind of what is unusual, with the first few utterances."""
    kinds: dict[Fault, list[str]] = defaultdict(list)
    for name, found in measured.items():
        for kind in unusual(found, config):
            kinds[kind].append(name)
    in_order = sorted(kinds.items(), key=lambda item: (_CODES.index(item[0].code), item[0].reason))
    return [f"{count(len(names), 'utterance')} ({some(names, 3)}): {kind.reason}" for kind, names in in_order]


_CODES = ("silent", "opposite-phase", "band-limited")


def unusual(found: Measured, config: FeatureConfig) -> list[Fault]:
    """In which ways the audio of one utterance is not what a recognizer expects, with the codes of `asr validate`."""
    kinds = []
    if found.peak == 0.0:
        kinds.append(Fault("silent", "digital silence: all samples are 0"))
    elif found.cancelling:
        reason = "channels of opposite phase, which cancel when they are averaged: give one of them as a mono file"
        kinds.append(Fault("opposite-phase", reason))
    limit = found.cut_off
    if limit is not None and above_cut_off(found, config):
        reason = (
            f"nothing above {limit:g} Hz, as if converted from {2 * limit:g} Hz, where the features go up to "
            f"{config.sample_rate / 2:g}: a model trained with sample_rate = {int(2 * limit)} suits them better"
        )
        kinds.append(Fault("band-limited", reason))
    return kinds
