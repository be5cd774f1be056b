"""Choice of the centers of a kernel logistic model, before its weights."""

import numpy as np

from discriminants.center_selection.forward.forward_selection import forward_selection
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.rules import error_reduction
from discriminants.kernels import Kernel
from discriminants.logistic.memory import GRAM_ROWS
from discriminants.logistic.training import FitContext
from discriminants.multiclass.labels import OneVsRestTargets
from discriminants.util.sampling import balanced_sample, distinct_rows, row_keys, spread_sample

_STAGE = "dictionary"
_ENOUGH = 4  # samples first searched for duplicates, per sample needed


def random_dictionary(
    kernel: Kernel, X: np.ndarray, n_centers: int, random: np.random.RandomState
) -> tuple[Kernel, np.ndarray]:
    """Draw distinct centers at random; return the kernel for them and their rows in X, (m,)."""
    rows = _distinct_draw(kernel, X, n_centers, random)
    candidate_kernel, which = kernel.at(rows).over(X[rows])
    if which.shape[0] <= n_centers:
        return candidate_kernel, rows[which]
    drawn = random.permutation(which.shape[0])[:n_centers]
    return candidate_kernel.at(drawn), rows[which[drawn]]


def selected_dictionary(
    kernel: Kernel, training: FitContext, *, n_centers: int, n_candidates: int, n_samples: int
) -> tuple[Kernel, np.ndarray]:
    """Choose distinct centers by orthogonal least squares on one-vs-rest targets.

    Returns the kernel for them and their rows (m,). Centers are chosen among `n_candidates` samples; the squared loss
    is measured on `n_samples`, balanced over the classes. Raises ValueError if there are fewer candidates than centers.
    """
    if n_candidates < n_centers:
        raise ValueError(
            f"n_candidates = {n_candidates} is less than n_centers = {n_centers}. "
            "Use two or three candidates per center"
        )
    X, codes = training.X, training.codes
    rows = balanced_sample(codes, max(n_samples, n_candidates))
    points = _candidates(kernel, X, rows, codes, n_candidates)
    candidate_kernel, which = kernel.at(points).over(X[points])
    candidates = points[which]
    stage = training.checkpoint.get(_STAGE, {"order": ("centers",)})
    if stage is None or not _is_choice(stage["order"], len(candidates)):
        gram = accumulate_gram(
            candidate_kernel,
            training.source,
            OneVsRestTargets(codes[rows], training.n_classes),
            X[candidates],
            rows=rows,
            sample_weight=training.weight[rows],
            block=GRAM_ROWS,
            workers=training.workers,
        )
        order = forward_selection(GramState(gram, n_centers), error_reduction, n_centers)
        # If no column varies over the samples, all centers are equivalent and one is enough.
        stage = {"order": np.array(order or [0], dtype=np.int64)}
        training.checkpoint.put(_STAGE, stage, finished=True)
    chosen = stage["order"]
    return candidate_kernel.at(chosen), candidates[chosen]


def _is_choice(order: np.ndarray, n_candidates: int) -> bool:
    return order.dtype.kind == "i" and order.size > 0 and 0 <= order.min() <= order.max() < n_candidates


def with_more_centers(
    kernel: Kernel,
    centers_kernel: Kernel,
    X: np.ndarray,
    rows: np.ndarray,
    n_extra: int,
    random: np.random.RandomState,
) -> tuple[Kernel, np.ndarray]:
    """Add at most `n_extra` centers, drawn at random from the other samples.

    Returns the kernel for all centers, and their rows. Raises ValueError if the kernel has several columns per sample.
    """
    drawn = _distinct_draw(kernel, X, rows.shape[0] + n_extra, random)
    if kernel.over(X[rows[:1]])[1].shape[0] != 1:
        raise ValueError(f"n_extra_centers needs a kernel with one column per sample, got {kernel}")
    if kernel.centers_are_points:
        own = set(row_keys(X[rows]))
        drawn = drawn[[key not in own for key in row_keys(X[drawn])]]
    else:
        drawn = drawn[~np.isin(drawn, rows)]
    both = np.concatenate([rows, drawn[:n_extra]])
    return (centers_kernel if kernel.centers_are_points else kernel.at(both)), both


def _candidates(kernel: Kernel, X: np.ndarray, rows: np.ndarray, codes: np.ndarray, size: int) -> np.ndarray:
    """Return at most `size` of `rows`, spread evenly, without duplicate points."""
    points = _distinct(kernel, X, rows[spread_sample(codes[rows], _ENOUGH * size)])
    if points.shape[0] < size < rows.shape[0]:
        points = _distinct(kernel, X, rows)
    return points[spread_sample(codes[points], size)]


def _distinct_draw(kernel: Kernel, X: np.ndarray, size: int, random: np.random.RandomState) -> np.ndarray:
    """Return at most `size` rows, drawn at random, without duplicate points."""
    rows = np.arange(X.shape[0])
    points = _distinct(kernel, X, random.permutation(rows)[: _ENOUGH * size])
    if points.shape[0] < size:
        points = _distinct(kernel, X, rows)
    return random.permutation(points)[:size]


def _distinct(kernel: Kernel, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the first of `rows` at each distinct point, in their order; coordinates are compared exactly."""
    if not kernel.centers_are_points:
        return rows
    return rows[distinct_rows(X[rows])[0]]
