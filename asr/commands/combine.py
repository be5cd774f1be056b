"""`asr combine`: combination of several recognitions of the same utterances, by a vote over confusion networks."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from asr.alignment.ctm import CtmRow
from asr.commands.combination_weights import AlignedUtterance, ChosenVote, Vote, choose_vote, equal_weights
from asr.lattices.combination import aligned
from asr.lattices.confusion_network import Bin, spoken_segments
from asr.recognition.decode_dir import SystemResult, read_results
from asr.recognition.hypotheses import write_words
from asr.runs.outcome import account
from asr.util.counted_text import count, some
from asr.util.errors import ConfigError, CorpusError, DecodeError, Issue, attempt, printable
from discriminants.util.paths import exists

log = logging.getLogger(__name__)

AUTO: Literal["auto"] = "auto"
NULL = 1.0
"""Default factor on the probability of no word."""


@dataclass(frozen=True)
class Combination:
    """Result of a combination.

    Attributes
    ----------
    n_done : int
        Number of utterances written.
    failures : list of Issue
        Utterances that could not be combined, with reasons.
    brings : tuple of str
        Description of the input of each system.
    weights : tuple of float
        Weights of the systems, which sum to 1.
    null : float
        Factor on the probability of no word.
    chosen : ChosenVote or None
        Errors on the speech used to choose the weights; None if these were given.
    """

    n_done: int
    failures: list[Issue]
    brings: tuple[str, ...]
    weights: tuple[float, ...]
    null: float
    chosen: ChosenVote | None = None


def combine(
    systems: Sequence[Path],
    out: Path,
    *,
    weights: Sequence[float] | Literal["auto"] | None = None,
    null: float | None = None,
    text: Mapping[str, Sequence[str]] | None = None,
) -> Combination:
    """Combine the words of several systems, and write `hyp.txt` and `hyp.ctm` to `out`.

    The confidences are weighted votes, so `hyp.ctm` marks them as uncalibrated.
    Utterances missing in some systems use the others, and are logged.

    Raises DecodeError if no utterance could be combined, and other subclasses of AsrError.

    Parameters
    ----------
    systems : paths of directories, see `asr.recognition.decode_dir.read_results`
    weights : sequence of float, "auto" or None
        Weight of each system; equal by default. "auto" fits weights and `null` to `text`, which must not be a test set.
    null : float, optional
        Factor on the probability of no word in the vote; 1 by default. With "auto" it is the initial value.
    text : mapping of utterance to words
    """
    start = _start(systems, out, weights, null, text)
    results = [read_results(path) for path in systems]
    listed = _listed(results)
    utterances: dict[str, AlignedUtterance] = {}
    failures: list[Issue] = []
    for name in listed:
        found = attempt(_aligned, results, name)
        if isinstance(found, Issue):
            failures.append(found.for_utterance(name))
        else:
            utterances[name] = found
    chosen = None
    if weights == AUTO and text is not None:
        chosen = choose_vote(utterances, text, start)
    vote = start if chosen is None else chosen.vote
    account(listed, utterances, failures, out)
    if not utterances:
        first = failures[0]
        raise DecodeError(f"No utterance could be combined. The first: {first.utterance}: {first.message}")
    rows = {name: _rows(name, vote.places(utterance)) for name, utterance in utterances.items()}
    write_words(out, rows, calibrated=False)
    brings = tuple(result.brings for result in results)
    places = [place for result in results for network in result.networks.values() for place in network]
    if len(results) == 2 and all(len(place.words) == 1 and place.words[0][1] == 1.0 for place in places):
        log.warning(
            "Neither system has confidences, so all words are those of the system with the larger weight (the "
            "first one if they are equal). Use asr decode --confidence (confidence=True)"
        )
    return Combination(len(utterances), failures, brings, vote.weights, vote.null, chosen)


def _start(
    systems: Sequence[Path],
    out: Path,
    weights: Sequence[float] | Literal["auto"] | None,
    null: float | None,
    text: object,
) -> Vote:
    """Return the given or initial vote; ConfigError if it is invalid."""
    if len(systems) < 2:
        raise ConfigError(f"{count(len(systems), 'directory')} to combine. Expected two or more, one for each system")
    if exists(out):
        for path in systems:
            if exists(path) and path.samefile(out):
                raise ConfigError(
                    f"The output '{out}' is one of the systems and would replace its words. Use another output "
                    "directory"
                )
    null = NULL if null is None else null
    if not 0 <= null <= 1e6:
        raise ConfigError(f"--null (null=) is {null:g}. Expected a number from 0 to 1e6")
    if (weights == AUTO) != (text is not None):
        raise ConfigError(
            "Weights 'auto' and transcripts (--text FILE, text=) must be used together. Use transcripts of "
            "development data, not of the test set"
        )
    if weights is None or isinstance(weights, str):
        if weights not in (None, AUTO):
            raise ConfigError(f"--weights (weights=) is {weights!r}. Expected one number for each system, or 'auto'")
        return Vote(equal_weights(len(systems)), null)
    if len(weights) != len(systems):
        raise ConfigError(f"{len(weights)} weights for {len(systems)} systems. Expected one for each system")
    if not all(math.isfinite(weight) and 0 <= weight <= 1e6 for weight in weights) or not sum(weights) > 0:
        raise ConfigError(f"The weights are {list(weights)}. Expected numbers from 0 to 1e6, at least one above 0")
    return Vote(tuple(float(weight) / float(sum(weights)) for weight in weights), null)


def _listed(results: Sequence[SystemResult]) -> list[str]:
    """Return all utterances, sorted, and log those missing in some systems."""
    listed = sorted({name for result in results for name in result.networks})
    first = results[0]
    for result in results[1:]:
        if first.networks.keys().isdisjoint(result.networks):
            raise CorpusError(
                f"{result.path} has no utterance in common with {first.path}. Expected results of the same utterances"
            )
    for result in results:
        missing = [name for name in listed if name not in result.networks]
        if missing:
            log.warning(
                "%s",
                printable(
                    f"{result.path}: {count(len(missing), 'utterance')} missing, combined from the other systems "
                    f"only: {some(missing, 3)}"
                ),
            )
    return listed


def _aligned(results: Sequence[SystemResult], name: str) -> AlignedUtterance:
    having = tuple(number for number, result in enumerate(results) if name in result.networks)
    return AlignedUtterance(having, aligned([results[number].networks[name] for number in having]))


def _rows(utterance: str, places: Sequence[Bin]) -> list[CtmRow]:
    return [
        CtmRow(
            utterance,
            segment.start / 1000.0,
            (segment.end - segment.start) / 1000.0,
            segment.label,
            segment.confidence,
        )
        for segment in spoken_segments(places)
    ]
