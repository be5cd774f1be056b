"""Test whether a learner supports `partial_fit` with its current parameters."""

from collections.abc import Mapping
from typing import Any

from discriminants.kernels import PrecomputedKernel


def can_stream(learner: Any, obstacles: Mapping[str, bool]) -> bool:
    """Return whether a learner with centers among its samples supports `partial_fit`, for `available_if`.

    `obstacles` maps other conditions, in words, to whether they hold. Raises AttributeError with the first one that
    does, so that the error gives a reason.
    """
    posterior = getattr(learner, "posterior", "gaussian")
    at_once = posterior not in ("auto", "gaussian")
    precomputed = isinstance(learner.kernel, str) and learner.kernel == "precomputed"
    common = {
        "a precomputed kernel, which has no points. Use another kernel": precomputed
        or isinstance(learner.kernel, PrecomputedKernel),
        f"posterior = {posterior!r}, which needs all outputs at once. Use 'gaussian'": at_once,
    }
    for obstacle, stands in {**obstacles, **common}.items():
        if stands:
            raise AttributeError(f"{type(learner).__name__} does not support partial_fit with {obstacle}")
    return True
