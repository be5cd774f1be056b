"""Pools of centers for each class, shared by the machines for pairs of classes."""

import numpy as np

from discriminants.center_selection.forward.forward_selection import forward_selection
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.rules import error_reduction
from discriminants.kernels import Kernel
from discriminants.util.distinct import distinct_rows

_CANDIDATES = 300  # of a class
_OTHERS = 2000  # samples of other classes


def class_pool(
    number: int, X: np.ndarray, kernel: Kernel, members: list[np.ndarray], n_centers: int, seed: int
) -> np.ndarray:
    """Return rows of X that separate class `number` from the others, in the order of forward selection.

    `members` has the rows of X of each class. 300 candidates of the class are drawn at random. They are compared with
    2000 samples of the other classes, balanced over these. There are at most `n_centers` rows and at least one; fewer
    if fewer candidates are distinct and independent. `seed` and `number` determine the random numbers.
    """
    random = np.random.default_rng([seed, number])
    own = members[number]
    others = np.concatenate(members[:number] + members[number + 1 :])
    if others.shape[0] > _OTHERS:
        others = np.sort(random.choice(others, _OTHERS, replace=False))
    candidates = np.sort(random.choice(own, min(_CANDIDATES, own.shape[0]), replace=False))
    candidates = candidates[distinct_rows(X[candidates])[0]]
    targets = np.concatenate([np.ones(own.shape[0]), -np.ones(others.shape[0])])[:, None]
    gram = accumulate_gram(kernel, X, targets, X[candidates], rows=np.concatenate([own, others]))
    state = GramState(gram, n_centers)
    order = forward_selection(state, error_reduction, n_centers)
    return candidates[order] if order else candidates[:1]
