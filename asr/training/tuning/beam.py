"""How wide a finished model has to be searched: the narrowest that finds the words of a wide search, and some room."""

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
"""Times the model's own beam: the words at this one count as right."""
WIDEST = 1000.0
"""Natural log; beyond it nothing is pruned that matters. A model whose beam is infinite is searched with this."""
NARROWEST = 10.0
BEAM_STEP = 0.8
"""From one beam to the next narrower one."""
MAX_ACTIVE = 10_000
MIN_ACTIVE = 100
ACTIVE_STEP = 0.6
"""From one limit of hypotheses to the next smaller one."""
SWEPT_ACTIVE = 500
"""Hypotheses a frame while scales and penalties are compared, before the width is chosen: in a loop of 2000 words the
choice is the same within a few per cent as with a thousand, and takes 0.6 of the time."""
SMALL_GRAPH = 1000
"""Arcs of a graph that costs next to nothing however widely it is searched, so that a wide search is taken: what a
narrow one finds in trimmed speech it may lose in pauses and noise."""
MIN_WORDS = 200
"""Under fewer words of the wide search the width stays: they say little of other speech, and nothing of grammars."""
TOLERATED = 0.001
"""Share of the words in which two searches that count as equal may differ; none of less than a thousand."""
BEAM_MARGIN = 0.25
"""Part by which the beam chosen is wider than the narrowest that suffices here: other speech may need more."""
ACTIVE_MARGIN = 0.5
"""The same of the limit, which is cheap. To either comes 1 / sqrt(utterances), for a few say little of others."""


def choose_width(scored: Sequence[FoldScores], search: SearchSettings, name: str = "search") -> SearchSettings:
    """`search` with a beam and a limit of hypotheses (`max_active`) that suit the models, the grammar and the speech.

    Beams are tried from the search's own downwards until the words differ from those of a beam `WIDER` than its own,
    then limits under the beam chosen. The last that agreed is chosen, with its margin. A small graph is searched
    widely, without trials. Where even the search's own beam loses words, the wide one is taken; where there are few
    words, all stays as it is; a limit that would keep nearly all of the graph is none. Transcripts do not matter:
    errors of the search are counted, not the model's.

    Parameters
    ----------
    scored : sequence of Scored
        Models and speech like that to be recognized; no utterance is in two of them.
    search : SearchSettings
        With the scale and penalty that it will be used with.
    name : str
        What is searched, for the log.
    """
    widest = search.model_copy(update={"beam": min(WIDER * search.beam, WIDEST)})
    n_arcs = max(each.fold_model.graph.n_arcs for each in scored)
    if n_arcs <= SMALL_GRAPH:
        wide = search.model_copy(update={"beam": max(search.beam, WIDE_BEAM)})
        log.info("%s: beam %g costs nothing in a graph of %d arcs, so none is narrower", name, wide.beam, n_arcs)
        return wide
    with progress(sum(len(batch) for each in scored for batch in each.batches), "wide search: utterances") as bar:
        right = recognized_by_all(scored, [widest], bar.advance)[0]
    n_words = sum(map(len, right.values()))
    if n_words < MIN_WORDS:
        log.info(
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
        log.info("%s: beam %g loses words that beam %g finds, so it is %g", name, search.beam, *2 * [widest.beam])
        return widest
    beam = min((1.0 + BEAM_MARGIN + unknown) * enough.beam, widest.beam)
    chosen = search.model_copy(update={"beam": float(f"{beam:.3g}")})
    limits = [chosen.model_copy(update={"max_active": limit}) for limit in _limits(search, n_arcs)]
    enough = _last_while(suffices, limits, "limits of the hypotheses of a frame that were tried")
    if enough is not None:
        limit = math.ceil((1.0 + ACTIVE_MARGIN + unknown) * enough.max_active)
        if limit < (search.max_active or n_arcs):
            chosen = chosen.model_copy(update={"max_active": limit})
    log.info("%s: beam %g and max_active %d find the words of beam %g", name, *_width(chosen), widest.beam)
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
    """The last of ever narrower settings before the first that does not suffice; None if the first does not."""
    last = None
    with progress(narrowing, description) as found:
        for chosen in narrowing:
            if not suffices(chosen):
                break
            last = chosen
            found.advance()
    return last
