"""Confidence calibration on held-out speech."""

import logging
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.optimize import minimize

from asr.acoustic.model_file import SearchSettings
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.search_settings import ConfidenceSettings
from asr.grammar.filler import FILLER_WORD, without_filler
from asr.hmm.state_graph import StateGraph
from asr.lattices.generation import LatticeBeam
from asr.lattices.lattice import Lattice
from asr.recognition.confidence import ConfidenceFeatures, evidence, log_odds
from asr.recognition.lattice_outputs import default_lattice_beam
from asr.recognition.search import search_lattice
from asr.runs.progress import Progress
from asr.scoring.wer import align_words
from asr.training.tuning.search import FoldScores

log = logging.getLogger(__name__)

SCALES = (0.5, 0.7, 1.0, 1.4, 2.0)
"""Candidate scales of posteriors."""
MIN_WORDS = 50
"""Minimum number of words for calibration."""
_MIN_OF_EACH = 5  # right words, and wrong words
SUFFICIENT_WORDS = 500
"""Number of reference words used to fit the three parameters. Larger data is subsampled by whole utterances, because
lattices of poorly recognized speech are slow.
"""
_RIDGE = 1e-2
"""L2 penalty on the deviation of slope and offset from 1 and 0."""
_DISTRUST = 0.5
"""L2 penalty on the weights of fit and duration, each divided by its standard deviation."""
_SAME = 1e-2
"""Standard deviations of fit and log duration below this count as 0."""


@dataclass(frozen=True)
class LabelledWords:
    """Recognized words with labels."""

    evidence: Sequence[ConfidenceFeatures]  # evidence of the words for each scale of `SCALES`
    right: np.ndarray  # bool (n_words,), from the alignment with the reference


def right_words(reference: Sequence[str], hypothesis: Sequence[str]) -> list[bool]:
    """Return whether each word of the hypothesis is aligned with an equal word of the reference."""
    return [said == heard for said, heard in align_words(reference, hypothesis) if heard is not None]


def judged(lattices: Mapping[str, Lattice], references: Mapping[str, Sequence[str]]) -> LabelledWords:
    """Label the words of the lattices' best paths."""
    words = {
        name: [part for part in lattice.segments(lattice.first_path) if part.label != FILLER_WORD]
        for name, lattice in lattices.items()
    }
    found = []
    for scale in SCALES:
        settings = ConfidenceSettings(scale=scale)
        parts = [evidence(lattice, words[name], settings) for name, lattice in lattices.items()]
        columns = [[vars(part)[one.name] for part in parts] for one in fields(ConfidenceFeatures)]
        found.append(ConfidenceFeatures(*(np.concatenate([np.empty(0), *column]) for column in columns)))
    pairs = [(references[name], without_filler(lattice.first)) for name, lattice in lattices.items()]
    return LabelledWords(found, np.array([one for pair in pairs for one in right_words(*pair)], np.bool_))


def fit_confidence(words: LabelledWords) -> ConfidenceSettings | None:
    """Return the maximum-likelihood settings; None with too few words.

    For each scale the weights are fitted by logistic regression (Platt 1999, with a ridge); the most likely scale is
    chosen.
    """
    if len(words.right) < MIN_WORDS or min(np.sum(words.right), np.sum(~words.right)) < _MIN_OF_EACH:
        return None
    sign = np.where(words.right, -1.0, 1.0)
    best, lowest = None, math.inf
    for scale, heard in zip(SCALES, words.evidence, strict=True):
        columns = np.column_stack([log_odds(heard.posteriors), heard.fits, np.log(heard.frames)])
        middle, deviation = columns.mean(axis=0), columns.std(axis=0)
        middle[0], deviation[0] = 0.0, 1.0
        deviation[deviation < _SAME] = np.inf
        columns = (columns - middle) / deviation

        def loss(parameters: np.ndarray, columns: np.ndarray = columns) -> float:
            offset, weights = parameters[0], parameters[1:]
            surprise = np.logaddexp(0.0, sign * (offset + columns @ weights)).sum()
            held = _RIDGE * ((weights[0] - 1.0) ** 2 + offset**2) + _DISTRUST * (weights[1:] ** 2).sum()
            return float(surprise + held)

        found = minimize(
            loss,
            np.array([0.0, 1.0, 0.0, 0.0]),
            bounds=((-100.0, 100.0), (0.0, 100.0), (0.0, 10.0), (-10.0, 10.0)),
            method="L-BFGS-B",
        )
        weights = found.x[1:] / deviation
        offset = found.x[0] - weights @ middle
        slope, fit, duration, offset = (float(f"{value:.4g}") for value in (*weights, offset))
        if found.fun < lowest - 1e-9:
            lowest = float(found.fun)
            best = ConfidenceSettings(scale=scale, slope=slope, fit=fit, duration=duration, offset=offset)
    return best


def confidence_on(
    scored: Sequence[FoldScores], search: SearchSettings, *, leave_out: Container[str] = ()
) -> ConfidenceSettings | None:
    """Fit confidences to a search's words in held-out speech; with too few words, return its current settings.

    `leave_out` has the utterances outside the grammar: their words are wrong however well they fit.
    """
    beam = default_lattice_beam(search)
    lattices: dict[str, Lattice] = {}
    every_word = {name: words for each in scored for name, words in each.held_out.references.items()}
    references = {name: words for name, words in every_word.items() if name not in leave_out}
    every = max(1, math.ceil(sum(map(len, references.values())) / SUFFICIENT_WORDS))
    with Progress(sum(len(batch.ids) for each in scored for batch in each.batches), "lattices: utterances") as bar:
        for each in scored:
            chosen = [
                [(name, scores) for name, scores in zip(batch.ids, own, strict=True) if name in references][::every]
                for batch, own in zip(each.batches, each.scores, strict=True)
            ]
            batches = [[scores for _, scores in batch] for batch in chosen]
            results = each.workers.map(lattice_batch, batches, each.shared, search, beam)
            for whole, batch, of_batch in zip(each.batches, chosen, results, strict=True):
                lattices |= {name: one for (name, _), one in zip(batch, of_batch, strict=True) if one is not None}
                bar.advance(len(whole.ids))
    found = fit_confidence(judged(lattices, references))
    if found is None:
        log.debug(
            "no confidence calibration: needs %d words, %d correct and %d wrong", MIN_WORDS, _MIN_OF_EACH, _MIN_OF_EACH
        )
    return search.confidence if found is None else found


def lattice_batch(
    batch: list[np.ndarray], constants: tuple[PhoneHmm, StateGraph], search: SearchSettings, beam: LatticeBeam
) -> list[Lattice | None]:
    """Return the lattice of each utterance from its state scores; None if no path survives."""
    hmm, graph = constants
    return [search_lattice(hmm, scores, graph, search, beam)[1] for scores in batch]
