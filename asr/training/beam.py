"""The beam of a finished model: the narrowest that finds the words of a wide one, and some room."""

import logging
import math

from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.hmm.state_graph import StateGraph
from asr.recognition.material import Material
from asr.recognition.recognition import BATCH_FRAMES
from asr.runs.progress import counted
from asr.score.wer import score_utterances
from asr.training.tuning import score_batch, search_batch
from discriminants.blas_threads import one_blas_thread
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers

log = logging.getLogger(__name__)

WIDER = 2.0
"""Times the model's own beam: the words at this one count as right."""
WIDEST = 1000.0
"""Natural log; beyond it nothing is pruned that matters. A model whose beam is infinite is searched with this."""
STEP = 0.8
"""From one beam to the next narrower one."""
NARROWEST = 10.0
TOLERATED = 0.001
"""Share of the words in which two beams that count as equal may differ; none of less than a thousand."""
MARGIN = 0.25
"""Part of the narrowest beam that suffices here by which the one chosen is wider: other speech may need more. To it
comes 1 / sqrt(utterances), for few utterances say little of others."""


def choose_beam(
    model: SpeechModel,
    search: SearchSettings,
    material: Material,
    graph: StateGraph,
    *,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
) -> float:
    """The beam for a model under `search`, natural log.

    Beams are tried from the model's own downwards, each `STEP` times the one before, until the words differ from those
    of a beam `WIDER` than its own. The last that agreed is chosen, with the `MARGIN`. Where even the model's own beam
    loses words, the wide one stays. Transcripts do not matter: errors of the search are counted, not the model's.

    Parameters
    ----------
    search : SearchSettings
        With the scale and penalty that the beam will be used with.
    material : Material
        Speech like that to be recognized.
    """
    widest = min(WIDER * search.beam, WIDEST)
    beams = [min(search.beam, WIDEST / WIDER)]
    while beams[-1] * STEP >= NARROWEST:
        beams.append(beams[-1] * STEP)
    with one_blas_thread():
        batches = model.front_end.transform(material.static).batches(BATCH_FRAMES)
    workers = in_threads(workers)
    shared = workers.share((model.hmm, graph))
    scores = list(workers.map(score_batch, batches, shared))

    def words(beam: float) -> dict[str, list[str]]:
        chosen = [search.model_copy(update={"beam": beam})]
        found: dict[str, list[str]] = {}
        for batch, (per_utterance,) in zip(batches, workers.map(search_batch, scores, shared, chosen), strict=True):
            found.update(zip(batch.ids, per_utterance, strict=True))
        return found

    with counted(1 + len(beams), "beams") as finished:
        right = words(widest)
        finished(1)
        allowed = math.floor(TOLERATED * sum(map(len, right.values())))
        sufficient = widest
        for number, beam in enumerate(beams, 2):
            different = score_utterances(right, words(beam)).errors
            finished(number)
            if different > allowed:
                break
            sufficient = beam
    margin = 1.0 + MARGIN + 1.0 / math.sqrt(len(material.static))
    beam = float(f"{min(margin * sufficient, widest):.3g}")
    log.info("beam %g: one of %.3g finds the same words as one of %.3g", beam, sufficient, widest)
    return beam
