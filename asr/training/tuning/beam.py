"""Choice of the beam of a finished model: the narrowest that gives the words of a wide search, plus a margin."""

import logging
import math
from collections.abc import Iterable, Iterator, Sequence

from asr.acoustic.model_file import SearchSettings
from asr.recognition.search import WIDE_BEAM
from asr.scoring.wer import score_utterances
from asr.training.tuning.search import FoldScores, recognize_all

log = logging.getLogger(__name__)

WIDER = 2.0  # factor on the model's beam for the reference search
WIDEST = 1000.0  # natural log; a wider beam has no effect; replaces an infinite beam
NARROWEST, BEAM_STEP = 10.0, 0.8  # end and ratio of successive beams
MAX_ACTIVE, MIN_ACTIVE, ACTIVE_STEP = 10_000, 100, 0.6  # ends and ratio of successive limits of hypotheses
SWEPT_ACTIVE = 500
"""Hypotheses per frame while scales and penalties are compared, before the width is chosen. In a loop of 2000 words the
chosen values agree within a few percent with those for 1000 hypotheses, in 0.6 of the time.
"""
SMALL_GRAPH = 1000
"""Arcs of a graph that is always searched widely because the cost is negligible. A narrow beam that suffices for
trimmed speech may fail in pauses and noise.
"""
MIN_WORDS = 200  # in the wide search; with fewer, the width stays unchanged
TOLERATED = 0.001  # fraction of words in which equivalent searches may differ; 0 words if there are fewer than 1000
BEAM_MARGIN, ACTIVE_MARGIN = 0.25, 0.5  # relative margins for other speech, increased by 1 / sqrt(utterances)


def choose_width(scored: Sequence[FoldScores], search: SearchSettings) -> SearchSettings:
    """Return `search` with a beam and a limit of hypotheses (`max_active`) suited to models, grammar and speech.

    Beams are reduced from the search's own until the words differ from those of a beam `WIDER` times as large; then the
    limit is reduced with the chosen beam. The last setting that agrees is chosen, with its margin. Exceptions:

    - A small graph is searched widely, without trials.
    - If even the search's own beam loses words, the wide beam is chosen.
    - With few words, the settings stay unchanged.
    - A limit that would keep nearly all of the graph is dropped.

    Search errors are counted, not word errors, so the transcripts have no effect.
    """
    n_arcs = max(each.graph.n_arcs for each in scored)
    if n_arcs <= SMALL_GRAPH:
        return search.model_copy(update={"beam": max(search.beam, WIDE_BEAM)})
    widest = search.model_copy(update={"beam": min(WIDER * search.beam, WIDEST)})
    right = recognize_all(scored, [widest])[0]
    n_words = sum(map(len, right.values()))
    if n_words < MIN_WORDS:
        log.debug("keeping beam %g: %d of %d words needed to narrow it", search.beam, n_words, MIN_WORDS)
        return search
    unknown = 1.0 / math.sqrt(len(right))

    def narrowest(settings: Iterable[SearchSettings]) -> SearchSettings | None:
        """Return the last setting before the first that changes words; None if the first does."""
        last = None
        for each in settings:
            if score_utterances(right, recognize_all(scored, [each])[0]).errors > math.floor(TOLERATED * n_words):
                break
            last = each
        return last

    enough = narrowest(search.model_copy(update={"beam": beam}) for beam in _beams(search))
    if enough is None:
        return widest
    beam = min((1.0 + BEAM_MARGIN + unknown) * enough.beam, widest.beam)
    chosen = search.model_copy(update={"beam": float(f"{beam:.3g}")})
    enough = narrowest(chosen.model_copy(update={"max_active": limit}) for limit in _limits(search, n_arcs))
    if enough is not None:
        limit = math.ceil((1.0 + ACTIVE_MARGIN + unknown) * enough.max_active)
        if limit < (search.max_active or n_arcs):
            chosen = chosen.model_copy(update={"max_active": limit})
    return chosen


def _beams(search: SearchSettings) -> Iterator[float]:
    beam = min(search.beam, WIDEST / WIDER)
    yield beam
    while (beam := beam * BEAM_STEP) >= NARROWEST:
        yield beam


def _limits(search: SearchSettings, n_arcs: int) -> Iterator[int]:
    limit = min(search.max_active or MAX_ACTIVE, n_arcs)
    while limit >= MIN_ACTIVE:
        yield limit
        limit = round(limit * ACTIVE_STEP)
