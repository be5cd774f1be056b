"""Input selection by the evidence: backward elimination and forward selection."""

from typing import NamedTuple

import numpy as np

from discriminants.kernels import ARDGaussianKernel
from discriminants.kernels.kernel import SMALLEST
from discriminants.lssvm.evidence.widths import WidthEvidence

_FIRST_WIDTHS = (1.0, 3.0)  # of a candidate input, in its deviations


class InputSelection(NamedTuple):
    """The removed inputs, and the kernel of the others."""

    kernel: ARDGaussianKernel  # tuned widths for the remaining inputs, infinite for the removed ones
    removed: np.ndarray  # int (n_removed,): inputs in order of removal; ascending if they were never added
    # before and after each step (n_steps + 1,), minus half the log number of samples for every width
    log_evidence: np.ndarray


def selected_inputs(
    evidence: WidthEvidence, kernel: ARDGaussianKernel, deviations: np.ndarray, around: np.ndarray
) -> InputSelection:
    """Remove the input with the largest width relative to its spread and tune the others, while the evidence grows.

    Suykens et al. (2002, section 4.3). A width goes to infinity continuously, so at the best widths a removal never
    raises the evidence, except by rounding. The criterion is therefore the evidence with the widths integrated out; its
    leading term is half the log number of samples for each width (Schwarz 1978). `kernel` has tuned widths,
    `deviations` (n_features,) are the deviations of the inputs, `around` is as in `WidthEvidence.tuned`.
    """
    removed: list[int] = []
    values = [_charged(evidence, kernel)]
    while np.isfinite(widths := np.asarray(kernel.sigma)).sum() > 1:
        relative = np.full(widths.shape[0], -np.inf)
        relevant = np.isfinite(widths)
        relative[relevant] = widths[relevant] / np.maximum(deviations[relevant], SMALLEST)
        least = int(np.argmax(relative))
        others = np.where(np.arange(widths.shape[0]) == least, np.inf, widths)
        trial = evidence.tuned(ARDGaussianKernel(others), around)
        value = _charged(evidence, trial)
        if value < values[-1]:
            break
        kernel, values = trial, [*values, value]
        removed.append(least)
    return InputSelection(kernel, np.array(removed, dtype=np.intp), np.array(values))


def added_inputs(evidence: WidthEvidence, deviations: np.ndarray, around: np.ndarray) -> InputSelection:
    """Add the input that raises the likelihood most and tune all widths, while the evidence grows.

    This is forward selection from a single input (Suykens et al. 2002, section 4.3), with the criterion of
    `selected_inputs`. A candidate has the better of two widths before the tuning. Arguments are as in
    `selected_inputs`.
    """
    unit = np.where(deviations > 0, deviations, around)
    kernel: ARDGaussianKernel | None = None
    widths, values = np.full_like(around, np.inf), [-np.inf]
    while (left := np.flatnonzero(np.isinf(widths))).size:
        trials = []
        for candidate in left:
            for multiple in _FIRST_WIDTHS:
                others = np.arange(around.shape[0]) != candidate
                trials.append(ARDGaussianKernel(np.where(others, widths, multiple * unit)))
        best = trials[int(np.argmax([evidence.log_likelihood(trial) for trial in trials]))]
        trial = evidence.tuned(best, around)
        value = _charged(evidence, trial)
        if kernel is not None and value < values[-1]:
            break
        kernel, widths, values = trial, np.asarray(trial.sigma), [*values, value]
    assert kernel is not None
    return InputSelection(kernel, np.flatnonzero(np.isinf(widths)), np.array(values[1:]))


def _charged(evidence: WidthEvidence, kernel: ARDGaussianKernel) -> float:
    n_widths = int(np.isfinite(np.asarray(kernel.sigma)).sum())
    return evidence.log_evidence(kernel) - 0.5 * n_widths * float(np.log(evidence.n_samples))
