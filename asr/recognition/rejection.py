"""Rejection of utterances, and warnings about its use with other grammars."""

import logging
import zlib

from asr.acoustic.model_file import SpeechModel
from asr.acoustic.search_settings import SearchSettings
from asr.grammar.filler import FILLER_WORD
from asr.hmm.state_graph import StateGraph
from asr.recognition.speech_ratios import SpeechRatios

log = logging.getLogger(__name__)


def rejected(ratios: SpeechRatios, search: SearchSettings) -> bool:
    """Whether the words of an utterance fit worse than the settings require."""
    found = ratios.whole()
    limits = (search.min_phone_llr, search.min_silence_llr)
    return found is not None and any(
        limit is not None and ratio < limit for ratio, limit in zip(found, limits, strict=True)
    )


def checksum(graph: StateGraph) -> int:
    """Return a 32-bit checksum of a grammar's words and sentence lengths."""
    return zlib.crc32("\n".join([str(graph.most_words), *sorted(graph.words)]).encode())


def warn_of_rejection(model: SpeechModel, graph: StateGraph) -> None:
    """Log a warning if the model's rejection was fitted to another grammar."""
    words, fitted, search = graph.words, model.rejection, model.search
    same = fitted is not None and fitted.grammar == checksum(graph)
    if fitted is not None and fitted.by == "ratios" and search.rejects and not same:
        log.warning(
            "the rejection limits of this model were tuned for another grammar (of %d words) and may reject too "
            "many or too few utterances. Use asr tune --others DIR (others=) to tune them, or --min-phone-llr "
            "-inf --min-silence-llr -inf (min_phone_llr=, min_silence_llr=) to disable them",
            fitted.grammar_words,
        )
    if FILLER_WORD not in words:
        if fitted is not None and fitted.by == "filler":
            log.warning(
                "the model rejects other speech by the filler, but this grammar has none, so other speech is "
                "recognized as its words. Add [unk] to its sentences, or $other in HParse"
            )
    elif (fitted is None or fitted.by != "filler") and search.filler_penalty == SearchSettings().filler_penalty:
        log.warning(
            "the filler penalty %g was not tuned for this model: many commands may be lost or other recordings "
            "accepted. Use asr tune --others DIR (others=)",
            search.filler_penalty,
        )
    elif fitted is not None and fitted.by == "filler" and not same:
        log.warning(
            "the filler penalty was tuned for another grammar (of %d words): more commands may be lost or other "
            "recordings accepted. Use asr tune --others DIR (others=)",
            fitted.grammar_words,
        )
