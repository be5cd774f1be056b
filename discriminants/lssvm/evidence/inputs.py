"""Input selection: backward elimination by the evidence."""

from typing import NamedTuple

import numpy as np

from discriminants.kernels import ARDGaussianKernel
from discriminants.kernels.kernel import SMALLEST
from discriminants.lssvm.evidence.widths import WidthEvidence


class InputSelection(NamedTuple):
    """The removed inputs, and the kernel of the others."""

    kernel: ARDGaussianKernel  # tuned widths for the remaining inputs, infinite for the removed ones
    removed: np.ndarray  # int (n_removed,): inputs in order of removal
    # (n_removed + 1,): before and after each removal, minus half the log number of samples for every width
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


def _charged(evidence: WidthEvidence, kernel: ARDGaussianKernel) -> float:
    n_widths = int(np.isfinite(np.asarray(kernel.sigma)).sum())
    return evidence.log_evidence(kernel) - 0.5 * n_widths * float(np.log(evidence.n_samples))
