"""Which learners have a `partial_fit` with the parameters that they have."""

from collections.abc import Mapping
from typing import Any

from discriminants.kernels import PrecomputedKernel


def can_stream(learner: Any, obstacles: Mapping[str, bool]) -> bool:
    """Whether a learner with centres among its samples has a `partial_fit`, for `available_if`.

    `obstacles` are what else stands against it, in words, and whether it does. Raises AttributeError with the first
    that does; what is asked for shall not merely be missing.
    """
    posterior = getattr(learner, "posterior", "gaussian")
    at_once = posterior not in ("auto", "gaussian")
    precomputed = isinstance(learner.kernel, str) and learner.kernel == "precomputed"
    common = {
        "a precomputed kernel, which has no points": precomputed or isinstance(learner.kernel, PrecomputedKernel),
        f"posterior = {posterior!r}, which needs all outputs at once; 'gaussian' does not": at_once,
    }
    for obstacle, stands in {**obstacles, **common}.items():
        if stands:
            raise AttributeError(f"{type(learner).__name__} has no partial_fit with {obstacle}")
    return True
