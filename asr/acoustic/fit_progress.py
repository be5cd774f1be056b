"""Fitting a classifier to many frames: a sign of life while it works, and no more frames than its method bears."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from asr.util.errors import ConfigError

log = logging.getLogger(__name__)

PATIENCE = 30.0  # seconds from one line of the log to the next

# Methods whose time or memory grows with the square of the frames, or that keep all of them and compare with each. KFD
# takes 16 bytes times the square, KSOD decomposes matrices of all frames once for every state, the Bayesian LS-SVM
# once for every width that it tries.
MAX_FRAMES = {
    "SVC": 10_000,
    "NuSVC": 10_000,
    "KNeighborsClassifier": 20_000,
    "KFDClassifier": 5000,
    "KSODClassifier": 2000,
    "LSSVMClassifier": 5000,
    "BayesianLSSVMClassifier": 2000,
}
_PACKAGES = ("sklearn", "discriminants")


@contextmanager
def signs_of_life(
    classifier: Any, n_frames: int, *, patience: float = PATIENCE
) -> Iterator[Callable[[int, int], None]]:
    """Log every half a minute that a fit is still going on, from a thread, and how long it took at the end.

    Handed out is a function for the passes done and their number, for learners that tell. Of scikit-learn's that go in
    passes the number is read off the estimator.
    """
    started, passes = time.monotonic(), [(0, 0)]
    earlier = getattr(classifier, "loss_curve_", None)  # a warm start goes on with the same list
    n_earlier = len(earlier) if isinstance(earlier, list) else 0
    finished = threading.Event()
    what = f"fitting {type(classifier).__name__} on {n_frames:,} frames"

    def count(done: int, total: int) -> None:
        passes[0] = done, total

    def state() -> str:
        curve, most = getattr(classifier, "loss_curve_", None), getattr(classifier, "max_iter", None)
        done, total = passes[0]
        if total:
            more = isinstance(most, int) and 0 < most < total
            return f", {done} of {total} passes" + (f" (few frames: more than max_iter = {most})" if more else "")
        done = (len(curve) - (n_earlier if curve is earlier else 0)) if isinstance(curve, list) else 0
        if done <= 0 or not isinstance(curve, list) or not isinstance(most, int):
            return ""
        return f", {done} of at most {most} passes, loss {float(curve[-1]):.3f}"

    def tell() -> None:
        while not finished.wait(patience):
            log.info("%s: %s so far%s", what, duration(time.monotonic() - started), state())

    thread = threading.Thread(target=tell, name="signs of life", daemon=True)
    thread.start()
    try:
        yield count
        log.info("%s: took %s%s", what, duration(time.monotonic() - started), state())
    finally:
        finished.set()
        thread.join()


def duration(seconds: float) -> str:
    """`40 s`, `1 min 30 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def frames_it_bears(classifier: Any) -> int:
    """Most frames that a classifier of scikit-learn or of this project, or one that it is made of, should be fitted to;
    0 for any.
    """
    parts = [classifier, *classifier.get_params(deep=True).values()]
    limits = [
        MAX_FRAMES[type(part).__name__]
        for part in parts
        if type(part).__module__.partition(".")[0] in _PACKAGES and type(part).__name__ in MAX_FRAMES
    ]
    return min(limits, default=0)


def draw_frames(states: np.ndarray, most: int, seed: int) -> np.ndarray:
    """The same states with all but `most` frames left out (-1), by a seeded draw in which every state keeps its share.

    Parameters
    ----------
    states : int32 (n_frames,)
        -1 leaves a frame out from the beginning.
    most : int
        A state keeps at least two frames, or the one that it has, if `most` allows.

    Raises
    ------
    ConfigError
        If there are more states than `most` frames.
    """
    used = np.flatnonzero(states >= 0)
    drawn = np.random.default_rng(seed).permutation(used)
    drawn = drawn[np.argsort(states[drawn], kind="stable")]
    _, first, counts = np.unique(states[drawn], return_index=True, return_counts=True)
    if len(counts) > most:
        raise ConfigError(f"max_frames is {most}, but there are {len(counts)} states, each of which needs a frame")
    quotas = np.minimum(counts, np.maximum(2, counts * most // max(1, len(used))))
    while quotas.sum() > most:  # the least that a state keeps is taken from those that have most
        quotas[quotas == quotas.max()] -= 1 if quotas.max() > 1 else 0
    kept = drawn[np.arange(len(drawn)) - np.repeat(first, counts) < np.repeat(quotas, counts)]
    chosen = np.full_like(states, -1)
    chosen[kept] = states[kept]
    return chosen
