"""Memory use of a fit, and the number of concurrent blocks that keeps it below a limit."""

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

from discriminants.logistic.block_sums import STRIPE_ROWS
from discriminants.parallel.workers import Workers

_MMAP_THRESHOLD = -3  # parameter of glibc's mallopt
_LARGE = 256 << 10


@cache
def return_large_arrays() -> bool:
    """Make the C library return arrays of 256 KiB and more to the system as soon as they are freed.

    glibc raises this threshold up to 32 MiB as arrays are freed, and keeps smaller blocks per thread. Depending on
    thread timing, a process may then hold 50 % more memory for equal work. Returns whether the C library has such a
    threshold; otherwise nothing changes.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError, TypeError):  # no glibc
        return False


Result = TypeVar("Result")

GRAM_ROWS = 1024  # of a kernel block in the sums of products
_AHEAD = 3  # maximum number of results in flight per worker
_SAMPLE_BYTES = 64  # class number, weights, order and their temporary copies


@dataclass(frozen=True)
class FitSize:
    """Sizes that determine the memory of a fit."""

    n_samples: int
    n_candidates: int  # 0 without a selection
    n_chosen: int  # centers chosen by the selection
    n_centers: int
    n_classes: int
    itemsize: int  # bytes of a float of the samples
    cached: bool  # whether the kernel matrix is kept

    def stages(self) -> "list[Stage]":
        """Return selection, whitening and weights, in bytes."""
        P, m, S, b = self.n_candidates, self.n_centers, self.n_classes, self.itemsize
        samples = _SAMPLE_BYTES * self.n_samples
        kernel_block = STRIPE_ROWS * m * b
        cache = 8 * self.n_samples * m if self.cached else 0
        return [
            Stage(
                "the selection of centers",
                samples + 25 * P**2 + 16 * self.n_chosen * P + 24 * P * S,
                12 * P**2 + GRAM_ROWS * P * (b + 8) + 16 * P * S,
                4 * P**2 + 8 * P * S,
            ),
            Stage("whitening", samples + 72 * m**2, 16 * m**2 + GRAM_ROWS * m * (b + 8), 4 * m**2),
            Stage(
                "the fit of the weights",
                samples + cache + 32 * m**2 + 96 * m * S,
                kernel_block + 4 * b * m * S + 40 * STRIPE_ROWS * S,
                b * m * S,
            ),
        ]


@dataclass(frozen=True)
class Stage:
    """Bytes of a part of the fit: this process, a running task, and a waiting result."""

    name: str
    base: int
    task: int
    result: int

    def total(self, at_once: int | None, n_workers: int) -> int:
        """Return bytes with `at_once` concurrent tasks; None is the number that the workers take."""
        waiting = _AHEAD * n_workers if at_once is None else at_once
        running = n_workers if at_once is None else min(at_once, n_workers)
        return self.base + running * self.task + waiting * self.result


class MemoryPlan:
    """Workers with a limited number of concurrent items."""

    def __init__(self, workers: Workers, most: int) -> None:
        self._workers, self._most = workers, most
        self.n_workers = min(most, workers.n_workers)

    def share(self, value: Any) -> Any:
        """See `Workers.share`."""
        return self._workers.share(value)

    def map(self, function: Callable[..., Result], items: Iterable[Any], *shared: Any) -> Iterator[Result]:
        """See `Workers.map`."""
        rounds = (self._workers.map(function, some, *shared) for some in _batched(items, self._most))
        return chain.from_iterable(rounds)


def within_memory(max_memory: int | None, size: FitSize, workers: Workers) -> Workers:
    """Limit the workers to the tasks that `max_memory` bytes allow; ValueError if a single one is too large."""
    if max_memory is None:
        return workers
    return_large_arrays()
    choices: list[int | None] = [None, *range(workers.n_workers, 0, -1)]
    for at_once in choices:
        if all(stage.total(at_once, workers.n_workers) <= max_memory for stage in size.stages()):
            return workers if at_once is None else MemoryPlan(workers, at_once)
    needs = {stage.name: stage.total(1, 1) for stage in size.stages()}
    name, most = max(needs.items(), key=lambda need: need[1])
    if size.n_candidates and name == "the selection of centers":
        fits = _largest(lambda P: FitSize(**{**vars(size), "n_candidates": P}), max_memory, size.n_candidates)
        advice = f"Use n_candidates = {fits} or less"
    else:
        fits = _largest(
            lambda m: FitSize(**{**vars(size), "n_candidates": 0, "n_centers": m}), max_memory, size.n_centers
        )
        advice = f"Use {fits} centers or less"
    raise ValueError(
        f"max_memory = {_size(max_memory)} is too small: {name} needs {_size(most)}. "
        + (advice if fits else f"Expected at least {_size(_SAMPLE_BYTES * size.n_samples)}, for the samples alone")
    )


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 1e6 else f"{n_bytes:.0f} bytes"


def _largest(size: Callable[[int], FitSize], max_memory: int, below: int) -> int:
    """Return the largest number, to two digits, whose fit stays below the limit with one task at a time."""
    low, high = 0, below
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        fits = all(stage.total(1, 1) <= max_memory for stage in size(middle).stages())
        low, high = (middle, high) if fits else (low, middle)
    return low


def _batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    waiting = iter(items)
    while some := list(islice(waiting, size)):
        yield some
