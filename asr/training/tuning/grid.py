"""Which scale and penalty the word errors on held-out speech speak for, and how clearly.

Held-out speech of a small corpus has a hundred words, and of the searches tried a dozen differ by less than chance. The
one with the fewest errors is then a draw in a lottery. What is chosen here is the mean of a posterior over all searches
tried: their errors count as evidence, the settings' own search is where the prior has its middle. A thousand words put
the mean where the errors are fewest; twenty leave it where it was. It moves smoothly with the counts, so that one word
more or less, from another seed or another rounding, moves it little.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import binary_dilation

EVIDENCE = 0.3
"""Natural log of the odds against a search for every word error more. Two searches that differ in ten words, seven
against three, are four errors apart, which by chance alone is one time in three; here the odds are 1 to 3.3."""
IMBALANCE = 0.1
"""Word errors that one insertion more than deletions, or one fewer, counts for."""
SCALE_SPREAD = 0.5
"""Standard deviation of the prior in the natural log of the scale."""
PENALTY_SPREAD = 1.5
"""Standard deviation of the prior in the penalty, in scales."""
NEGLIGIBLE = 5.0
"""Natural log by which a search may be less probable than the best one for those beside it to be worth trying."""
FAR = 1.5
"""Standard deviations of the prior from the settings' own at which a scale or penalty chosen is worth a word."""
UNDECIDED = 0.8
"""Part of the prior's spread over the searches tried above which the words are said to tell little."""


@dataclass(frozen=True)
class ErrorGrid:
    """Word errors of held-out utterances under the searches tried.

    Attributes
    ----------
    units : str (n_utterances,)
        What each utterance belongs to that is drawn as one: its speaker, or itself.
    words : int64 (n_utterances,)
        In the references.
    scales : float64 (n_scales,)
        Language-model scales as multiples of the settings' own, increasing.
    penalties : float64 (n_penalties,)
        Insertion penalties as multiples of the scale, increasing.
    errors, imbalance : int64 (n_utterances, n_scales, n_penalties)
        Word errors, and insertions less deletions.
    tried : bool (n_scales, n_penalties)
        Where `errors` and `imbalance` mean anything; by default everywhere. What was not tried is not chosen.
    """

    units: np.ndarray
    words: np.ndarray
    scales: np.ndarray
    penalties: np.ndarray
    errors: np.ndarray
    imbalance: np.ndarray
    tried: np.ndarray = field(default_factory=lambda: np.array(True))

    def without(self, units: set[str]) -> "ErrorGrid":
        """Without some of the speakers or utterances."""
        kept = np.array([unit not in units for unit in self.units], bool)
        return replace(
            self,
            units=self.units[kept],
            words=self.words[kept],
            errors=self.errors[kept],
            imbalance=self.imbalance[kept],
        )


@dataclass(frozen=True)
class GridChoice:
    """What was chosen.

    Attributes
    ----------
    scale, penalty : float
        As multiples: of the settings' own scale, and of the scale.
    undecided : float
        Spread of the posterior as a part of the prior's, of scale or penalty, whichever is known better; 1 if the words
        say nothing.
    at_edge : (int, int)
        For scale and penalty: 1 if the most probable search has the largest that was tried, -1 if the smallest, else 0.
    """

    scale: float
    penalty: float
    undecided: float
    at_edge: tuple[int, int]


def is_far(choice: GridChoice, own_penalty: float = 0.0) -> tuple[bool, bool]:
    """Whether scale and penalty lie `FAR` from the settings' own; parameters as of `choose`."""
    return (
        abs(float(np.log(choice.scale))) > FAR * SCALE_SPREAD,
        abs(choice.penalty - own_penalty) > FAR * PENALTY_SPREAD,
    )


def choose(surface: ErrorGrid, own_penalty: float = 0.0) -> GridChoice:
    """Mean of the posterior over the searches tried.

    Parameters
    ----------
    own_penalty : float
        The settings' own penalty, as a multiple of their scale: the middle of the prior, with their scale.
    """
    x, y = np.log(surface.scales), surface.penalties
    prior, posterior = _logarithms(surface, own_penalty)
    before, after = _normalized(prior), _normalized(posterior)
    spreads = [
        _deviation(values, after.sum(axis=1 - axis)) / max(1e-9, _deviation(values, before.sum(axis=1 - axis)))
        for axis, values in enumerate((x, y))
    ]
    best = np.unravel_index(int(np.argmax(after)), after.shape)
    edges = [
        0 if len(values) == 1 else (1 if at == len(values) - 1 else -1 if at == 0 else 0)
        for at, values in zip(best, (x, y), strict=True)
    ]
    return GridChoice(
        scale=float(np.exp(after.sum(axis=1) @ x)),
        penalty=float(after.sum(axis=0) @ y),
        undecided=min(spreads) if max(len(x), len(y)) > 1 else 1.0,
        at_edge=(edges[0], edges[1]),
    )


def worth_trying(surface: ErrorGrid, own_penalty: float = 0.0) -> np.ndarray:
    """Which of the searches not tried yet may matter, bool (n_scales, n_penalties).

    First the one nearest to the settings' own, then those beside any that is not `NEGLIGIBLE`. Errors rise and fall
    smoothly with scale and penalty, so that what lies behind negligible ones is negligible too; of many words most of
    the searches are.
    """
    _, posterior = _logarithms(surface, own_penalty)
    tried = np.broadcast_to(surface.tried, posterior.shape)
    if not tried.any():
        nearest = np.zeros_like(tried)
        nearest[np.argmin(np.abs(np.log(surface.scales))), np.argmin(np.abs(surface.penalties - own_penalty))] = True
        return nearest
    return np.asarray(binary_dilation(posterior >= posterior.max() - NEGLIGIBLE, np.ones((3, 3))) & ~tried)


def _logarithms(surface: ErrorGrid, own_penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Of prior and posterior, but for constants, float64 (n_scales, n_penalties)."""
    x, y = np.log(surface.scales), surface.penalties
    prior = (
        -0.5 * np.square(x / SCALE_SPREAD)[:, None]
        - 0.5 * np.square((y - own_penalty) / PENALTY_SPREAD)[None]
        + np.log(_widths(x))[:, None]
        + np.log(_widths(y))[None]
    )
    cost = surface.errors.sum(axis=0) + IMBALANCE * np.abs(surface.imbalance.sum(axis=0))
    return prior, np.where(surface.tried, prior - EVIDENCE * cost, -np.inf)


def _widths(values: np.ndarray) -> np.ndarray:
    """How much of the axis each value stands for."""
    if len(values) == 1:
        return np.ones(1)
    between = np.diff(values)
    return 0.5 * (np.append(between, between[-1]) + np.insert(between, 0, between[0]))


def _normalized(logarithms: np.ndarray) -> np.ndarray:
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum())


def _deviation(values: np.ndarray, weights: np.ndarray) -> float:
    mean = weights @ values
    return float(np.sqrt(max(0.0, weights @ np.square(values - mean))))
