"""Which inputs a model needs: backward elimination by evidence."""

from typing import NamedTuple

import numpy as np

from discriminants.kernels import ARDGaussianKernel
from discriminants.kernels.kernel import SMALLEST
from discriminants.lssvm.evidence.widths import WidthEvidence


class InputSelection(NamedTuple):
    """The inputs that were left out, and the kernel of the others."""

    kernel: ARDGaussianKernel  # with widths tuned for the inputs that stay, infinite of all others
    removed: np.ndarray  # int (n_removed,): inputs in the order of their going
    # (n_removed + 1,): Before, and after each; less half the logarithm of the number of samples for every width
    log_evidence: np.ndarray


def selected_inputs(
    evidence: WidthEvidence, kernel: ARDGaussianKernel, deviations: np.ndarray, around: np.ndarray
) -> InputSelection:
    """Remove the input whose width is largest for its spread, tune the others, and go on while the evidence grows.

    Suykens et al. (2002, section 4.3). A width goes to infinity continuously, so that the evidence with widths at their
    best never grows by a removal but in rounding. What grows is the evidence with the widths integrated over; its
    leading term, half the logarithm of the number of samples for each width, is counted here (Schwarz 1978). `kernel`
    has tuned widths, `deviations` (n_features,) are those of the inputs, `around` is as in `WidthEvidence.tuned`.
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
