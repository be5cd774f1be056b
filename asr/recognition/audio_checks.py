"""Checks on input audio before decoding: silence, channels, bandwidth, level, and duration for the grammar."""

import logging
from collections import defaultdict
from collections.abc import Mapping

from asr.acoustic.model_file import SpeechModel
from asr.corpus.audio_stats import MAX_PAUSES_LENGTH, Measured
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.level import depends_on_level, utterance_levels
from asr.hmm.state_graph import StateGraph
from asr.util.counted_text import count, some
from asr.util.errors import Issue, printable

log = logging.getLogger(__name__)

SECONDS_A_WORD = 3.0
"""Maximum duration per word of the longest sentence, plus 10 s of pauses, before audio seems to hold more speech."""


def warn_of_sound(measured: Mapping[str, Measured], config: FeatureConfig) -> None:
    """Log one line for each kind of unusual audio."""
    for line in sound_warnings(measured, config):
        log.warning("%s", printable(line))


def sound_warnings(measured: Mapping[str, Measured], config: FeatureConfig) -> list[str]:
    """Return one line for each kind of unusual audio, with the first few utterances."""
    kinds: dict[Issue, list[str]] = defaultdict(list)
    for name, found in measured.items():
        for kind in unusual(found, config):
            kinds[kind].append(name)
    in_order = sorted(kinds.items(), key=lambda item: (_CODES.index(item[0].code), item[0].message))
    return [f"{count(len(names), 'utterance')} ({some(names, 3)}): {kind.message}" for kind, names in in_order]


_CODES = ("silent", "opposite-phase", "channels-differ", "band-limited")


def unusual(found: Measured, config: FeatureConfig) -> list[Issue]:
    """Return the unusual properties of an utterance's audio, with the codes of `asr validate`."""
    kinds = []
    if found.peak == 0.0:
        kinds.append(Issue("silent", "digital silence: all samples are 0"))
    elif found.cancelling:
        reason = "channels of opposite phase, which cancel when they are averaged. Use one of them as a mono file"
        kinds.append(Issue("opposite-phase", reason))
    elif found.differing:
        reason = (
            "two channels with different content, which are averaged. Make a mono file of the channel to "
            "recognize (sox in.wav out.wav remix 1, or remix 2)"
        )
        kinds.append(Issue("channels-differ", reason))
    limit = found.cut_off
    if limit is not None and found.lacks_band(config.sample_rate):
        reason = (
            f"no energy above {limit:g} Hz, as if converted from {2 * limit:g} Hz, but the features need up "
            f"to {config.sample_rate / 2:g} Hz. Use a model trained with sample_rate = {int(2 * limit)}"
        )
        kinds.append(Issue("band-limited", reason))
    return kinds


MAX_LEVEL_DIFFERENCE = 20.0
"""Difference in dB from the training level beyond which level-dependent models fail."""


def level_faults(model: SpeechModel, static: FrameTable) -> dict[str, Issue]:
    """Return the utterances whose level is far from training's, if the model depends on the level."""
    config = (model.front_end if model.speakers is None else model.speakers.front_end).config
    trained = None if model.trained_on is None else model.trained_on.level_db
    if trained is None or model.source != "audio" or not depends_on_level(config):
        return {}
    levels = utterance_levels(static, config)
    if levels is None:
        return {}
    reason = (
        "level of {:.0f} dB, but training had {:.0f} dB, and this model depends on the level. Record at another "
        "level, or train with the default dynamic_range_db, normalize and speaker_statistics"
    )
    return {
        name: Issue("level", reason.format(level, trained))
        for name, level in zip(static.ids, levels.tolist(), strict=True)
        if abs(level - trained) > MAX_LEVEL_DIFFERENCE
    }


def warn_of_levels(model: SpeechModel, static: FrameTable) -> None:
    """Log a line if utterances are much quieter or louder than training's and the model depends on the level."""
    found = level_faults(model, static)
    if found:
        first = next(iter(found.values())).message
        log.warning("%s", printable(f"{count(len(found), 'utterance')} ({some(found, 3)}): {first}"))


def warn_of_few_words(seconds: Mapping[str, float], graph: StateGraph) -> None:
    """Log a line if audio is far too long for the longest sentence of the grammar."""
    name = max(seconds, key=lambda name: seconds[name], default=None)
    fault = None if name is None else few_words(seconds[name], graph)
    if fault is not None:
        log.warning("%s", printable(f"{name}: {fault.message}"))


def few_words(seconds: float, graph: StateGraph) -> Issue | None:
    """Return a fault if audio of this duration is far too long for the sentences of the grammar."""
    if seconds <= MAX_PAUSES_LENGTH + SECONDS_A_WORD:
        return None  # any grammar
    most = graph.most_words
    if seconds <= MAX_PAUSES_LENGTH + SECONDS_A_WORD * most:
        return None
    return Issue(
        "few-words",
        f"{seconds:.0f} s of audio, but the longest sentence of the grammar has {count(int(most), 'word')}, so no "
        "more can be recognized. Use a grammar with longer sentences, such as loop, or divide the recording "
        "(file 'segments' in a data directory)",
    )
