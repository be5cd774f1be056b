"""What is heard in audio before it is recognized: silence, channels that cancel, speech of a lower sampling rate."""

import logging

from asr.corpus.data_directory import DataDirectory
from asr.errors import Fault, printable
from asr.features.config import FeatureConfig
from asr.runs.progress import counted
from asr.validation.findings import count, some
from asr.validation.measuring import Measured
from asr.validation.recordings import band_limited, measure_all
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


def sound_warnings(measured: dict[str, Measured], config: FeatureConfig) -> list[str]:
    """A line for every kind of what is unusual, with the first few utterances."""
    limited = band_limited(measured, config)
    kinds = [
        ([name for name, found in measured.items() if found.peak == 0.0], "digital silence: all samples are 0"),
        (
            [name for name, found in measured.items() if found.cancelling and found.peak > 0.0],
            "channels of opposite phase, which cancel when they are averaged: give one of them as a mono file",
        ),
    ]
    kinds += [
        (
            [name for name, own in limited.items() if own == limit],
            f"nothing above {limit:g} Hz, as if converted from {2 * limit:g} Hz, where the features go up to "
            f"{config.sample_rate / 2:g}: a model trained with sample_rate = {int(2 * limit)} suits them better",
        )
        for limit in sorted(set(limited.values()))
    ]
    return [f"{count(len(names), 'utterance')} ({some(names, 3)}): {what}" for names, what in kinds if names]
