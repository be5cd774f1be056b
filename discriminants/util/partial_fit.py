"""`partial_fit` of learners that support it only with some parameters."""

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

from discriminants.kernels import PrecomputedKernel


class StreamMethod:
    """Method that exists only while `check` passes for the learner; its AttributeError is that of `check`.

    scikit-learn's `available_if` has a fixed message, with the reason only in the cause.
    """

    def __init__(self, fn: Callable[..., Any], check: Callable[[Any], None]) -> None:
        self.fn, self.check = fn, check
        self.__doc__, self.__name__ = fn.__doc__, fn.__name__

    def __get__(self, learner: Any, owner: Any = None) -> Any:
        if learner is None:
            return self.fn
        self.check(learner)
        return MethodType(self.fn, learner)


def available_if_streaming(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a method that exists only if `check` raises no AttributeError for the learner."""
    return lambda fn: StreamMethod(fn, check)


def check_streaming(learner: Any, obstacles: Mapping[str, bool]) -> None:
    """Raise AttributeError unless a learner with centers among its samples supports `partial_fit`.

    `obstacles` maps other conditions, in words, to whether they hold. The message has the first one that does.
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
