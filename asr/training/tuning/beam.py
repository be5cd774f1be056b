"""Choice of the beam of a finished model: the narrowest that gives the words of a wide search, plus a margin."""

import logging
import math
from collections.abc import Callable, Iterator, Sequence

from asr.acoustic.model_file import SearchSettings
from asr.recognition.search import WIDE_BEAM
from asr.runs.progress import progress
from asr.scoring.wer import score_utterances
from asr.training.tuning.search import FoldScores, recognized_by_all

log = logging.getLogger(__name__)

WIDER = 2.0
"""Factor on the model's beam for the reference search."""
WIDEST = 1000.0
"""Natural log; a wider beam has no effect. It replaces an infinite beam."""
NARROWEST = 10.0
BEAM_STEP = 0.8
"""Ratio of successive beams."""
MAX_ACTIVE = 10_000
MIN_ACTIVE = 100
ACTIVE_STEP = 0.6
"""Ratio of successive limits of hypotheses."""
SWEPT_ACTIVE = 500
"""Hypotheses per frame while scales and penalties are compared, before the width is chosen. In a loop of 2000 words the
chosen values agree within a few percent with those for 1000 hypotheses, in 0.6 of the time.
"""
SMALL_GRAPH = 1000
"""Arcs of a graph that is always searched widely because the cost is negligible. A narrow beam that suffices for
trimmed speech may fail in pauses and noise.
"""
MIN_WORDS = 200
"""Minimum number of words in the wide search; with fewer, the width stays unchanged."""
TOLERATED = 0.001
"""Fraction of words in which equivalent searches may differ; 0 words if there are fewer than 1000."""
BEAM_MARGIN = 0.25
"""Relative margin added to the narrowest sufficient beam, for other speech."""
ACTIVE_MARGIN = 0.5
"""Relative margin of the limit of hypotheses. Both margins are increased by 1 / sqrt(utterances)."""


def choose_width(scored: Sequence[FoldScores], search: SearchSettings, name: str = "search") -> SearchSettings:
    """Return `search` with a beam and a limit of hypotheses (`max_active`) suited to models, grammar and speech.

    Beams are reduced from the search's own until the words differ from those of a beam `WIDER` times as large; then the
    limit is reduced with the chosen beam. The last setting that agrees is chosen, with its margin. Exceptions:

    - A small graph is searched widely, without trials.
    - If even the search's own beam loses words, the wide beam is chosen.
    - With few words, the settings stay unchanged.
    - A limit that would keep nearly all of the graph is dropped.

    Search errors are counted, not word errors, so the transcripts have no effect.

    Parameters
    ----------
    scored : sequence of FoldScores
        Models and representative speech, with distinct utterances.
    search : SearchSettings
        With its final scale and penalty.
    name : str
        Name of the search in the log.
    """
    widest = search.model_copy(update={"beam": min(WIDER * search.beam, WIDEST)})
    n_arcs = max(each.fold_model.graph.n_arcs for each in scored)
    if n_arcs <= SMALL_GRAPH:
        wide = search.model_copy(update={"beam": max(search.beam, WIDE_BEAM)})
        log.debug("%s: beam %g costs nothing in a graph of %d arcs, so none is narrower", name, wide.beam, n_arcs)
        return wide
    with progress(sum(len(batch) for each in scored for batch in each.batches), "wide search: utterances") as bar:
        right = recognized_by_all(scored, [widest], bar.advance)[0]
    n_words = sum(map(len, right.values()))
    if n_words < MIN_WORDS:
        log.debug(
            "%s: beam %g and max_active %d stay: a wide search recognizes %d words, and %d are needed to narrow them",
            name,
            *_width(search),
            n_words,
            MIN_WORDS,
        )
        return search
    allowed = math.floor(TOLERATED * n_words)
    unknown = 1.0 / math.sqrt(len(right))

    def suffices(chosen: SearchSettings) -> bool:
        return score_utterances(right, recognized_by_all(scored, [chosen])[0]).errors <= allowed

    beams = [search.model_copy(update={"beam": beam}) for beam in _beams(search)]
    enough = _last_while(suffices, beams, "narrower beams that were tried")
    if enough is None:
        log.debug("%s: beam %g loses words that beam %g finds, so it is %g", name, search.beam, *2 * [widest.beam])
        return widest
    beam = min((1.0 + BEAM_MARGIN + unknown) * enough.beam, widest.beam)
    chosen = search.model_copy(update={"beam": float(f"{beam:.3g}")})
    limits = [chosen.model_copy(update={"max_active": limit}) for limit in _limits(search, n_arcs)]
    enough = _last_while(suffices, limits, "limits of the hypotheses of a frame that were tried")
    if enough is not None:
        limit = math.ceil((1.0 + ACTIVE_MARGIN + unknown) * enough.max_active)
        if limit < (search.max_active or n_arcs):
            chosen = chosen.model_copy(update={"max_active": limit})
    log.debug("%s: beam %g and max_active %d find the words of beam %g", name, *_width(chosen), widest.beam)
    return chosen


def _width(search: SearchSettings) -> tuple[float, int]:
    return search.beam, search.max_active


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


def _last_while(
    suffices: Callable[[SearchSettings], bool], narrowing: Sequence[SearchSettings], description: str
) -> SearchSettings | None:
    """Return the last setting before the first that fails; None if the first fails."""
    last = None
    with progress(narrowing, description) as found:
        for chosen in narrowing:
            if not suffices(chosen):
                break
            last = chosen
            found.advance()
    return last
