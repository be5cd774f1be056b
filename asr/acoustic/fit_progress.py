"""Progress logging and limits on the number of frames for fitting classifiers."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from asr.acoustic.classifiers import parameters_of
from asr.util.counted_text import duration
from asr.util.errors import ConfigError

log = logging.getLogger(__name__)

PATIENCE = 30.0  # seconds between two lines of the log

# Methods whose time or memory grows with the square of the number of frames, or that compare with every frame. KFD
# takes 16 bytes times the square; KSOD decomposes matrices of all frames for every state, the Bayesian LS-SVM for every
# width.
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
def log_fit_progress(
    classifier: Any, n_frames: int, *, patience: float = PATIENCE
) -> Iterator[Callable[[int, int], None]]:
    """Log at regular intervals, from a thread, that a fit is running, and log its duration at the end.

    Yields a function (passes done, total passes) for learners that report progress. For iterative scikit-learn
    estimators the number of passes is read from `loss_curve_`.
    """
    started, passes = time.monotonic(), [(0, 0)]
    earlier = getattr(classifier, "loss_curve_", None)  # a warm start continues the same list
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

    def log_state() -> None:
        while not finished.wait(patience):
            log.debug("%s: running for %s%s", what, duration(time.monotonic() - started), state())

    thread = threading.Thread(target=log_state, name="fit progress", daemon=True)
    thread.start()
    try:
        yield count
    finally:
        finished.set()
        thread.join()
    log.debug("%s: finished in %s%s", what, duration(time.monotonic() - started), state())


def max_frames_for(classifier: Any) -> int:
    """Return the maximum number of frames for a classifier and its parts; 0 for any."""
    parts = [classifier, *parameters_of(classifier, deep=True).values()]
    limits = [
        MAX_FRAMES[type(part).__name__]
        for part in parts
        if type(part).__module__.partition(".")[0] in _PACKAGES and type(part).__name__ in MAX_FRAMES
    ]
    return min(limits, default=0)


def draw_frames(states: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Keep at most `most` frames, drawn at random in proportion to the states; the states of the others become -1.

    `states`, int32 (n_frames,): -1 leaves a frame out from the start. `most`: a state keeps at least two frames, or its
    only one, if `most` allows. Raises ConfigError if there are more states than `most` frames.
    """
    used = np.flatnonzero(states >= 0)
    drawn = np.random.default_rng(seed).permutation(used)
    drawn = drawn[np.argsort(states[drawn], kind="stable")]
    _, first, counts = np.unique(states[drawn], return_index=True, return_counts=True)
    if len(counts) > most:
        raise ConfigError(f"max_frames is {most}, but {len(counts)} states need at least one frame each")
    quotas = np.minimum(counts, np.maximum(2, counts * most // max(1, len(used))))
    while quotas.sum() > most:  # states with the most frames give up some of them
        quotas[quotas == quotas.max()] -= 1 if quotas.max() > 1 else 0
    kept = drawn[np.arange(len(drawn)) - np.repeat(first, counts) < np.repeat(quotas, counts)]
    chosen = np.full_like(states, -1)
    chosen[kept] = states[kept]
    return chosen
