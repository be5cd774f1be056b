"""Output codes: several classes by several two-class tasks, and decoding of the tasks' outputs."""

from itertools import combinations

import numpy as np
from sklearn.utils import check_random_state

_DRAWS = 200  # random codes, from which the best is chosen
_EXHAUSTIVE = 5  # maximum number of classes for a code of all possible tasks


def output_code(coding: str, n_classes: int, random_state: int | np.random.RandomState | None = None) -> np.ndarray:
    """Return the code matrix, int8 (n_classes, n_tasks): +1 and -1 for the two sides of a task, 0 for unused classes.

    The codings (Suykens et al. 2002, section 3.2) are:

    - "one-vs-rest": one task per class.
    - "one-vs-one": one task per pair of classes.
    - "minimum-output": the bits of the class number.
    - "error-correcting": for up to five classes all distinct tasks (T. Dietterich, G. Bakiri, Solving multiclass
      learning problems via error-correcting output codes, Journal of Artificial Intelligence Research 2, 1995). For
      more classes it has 10 log2 n random tasks, chosen to maximize the distance between classes.

    Two classes have one task in every coding.
    """
    if n_classes == 2:
        return np.array([[-1], [1]], dtype=np.int8)
    classes = np.arange(n_classes)
    if coding == "one-vs-rest":
        return np.where(classes[:, None] == classes, 1, -1).astype(np.int8)
    if coding == "one-vs-one":
        code = np.zeros((n_classes, n_classes * (n_classes - 1) // 2), dtype=np.int8)
        for task, (first, second) in enumerate(combinations(range(n_classes), 2)):
            code[first, task], code[second, task] = -1, 1
        return code
    if coding == "minimum-output":
        return _bits(classes, (n_classes - 1).bit_length()).T
    if n_classes <= _EXHAUSTIVE:
        return _bits(np.arange(1, 2 ** (n_classes - 1)), n_classes)
    return _spread_code(n_classes, round(10 * np.log2(n_classes)), check_random_state(random_state))


def _bits(numbers: np.ndarray, n_bits: int) -> np.ndarray:
    """Return bits of the numbers as +-1, the highest first, int8 of shape (n_bits, n_numbers)."""
    places = np.arange(n_bits - 1, -1, -1)[:, None]
    return np.where(numbers >> places & 1, 1, -1).astype(np.int8)


def _spread_code(n_classes: int, n_tasks: int, random: np.random.RandomState) -> np.ndarray:
    """Return the random code of distinct tasks with the largest distance between its nearest two classes."""
    best, widest = np.empty((n_classes, 0), dtype=np.int8), -1
    for _ in range(_DRAWS):
        sides = random.randint(0, 2, size=(n_classes, 2 * n_tasks)).astype(np.int8) * 2 - 1
        sides *= -sides[0]  # a task is the same with its sides exchanged
        different = np.sort(np.unique(sides, axis=1, return_index=True)[1])
        code = sides[:, [task for task in different if (sides[:, task] > 0).any()]][:, :n_tasks]
        products = code.astype(np.intp) @ code.T
        apart = int((code.shape[1] - products[np.triu_indices(n_classes, 1)]).min())
        if apart > widest:
            best, widest = code, apart
    return best


def class_scores(outputs: np.ndarray, code: np.ndarray, decoding: str) -> np.ndarray:
    """Return the agreement of outputs (n_samples, n_tasks) with each class's codeword, (n_samples, n_classes).

    Higher is better. With decoding "loss" it is minus the sum of the squared errors (1 - B f)^2 over the tasks, 1 if B
    is zero. With "hamming" it is minus the number of tasks that the class loses; ties are broken by the squared error.
    One task gives its output, (n_samples, 1); one-vs-rest outputs with decoding "loss" are already scores.
    """
    n_classes, n_tasks = code.shape
    if n_tasks == 1:
        return outputs
    # Without zeros in the code (1 - B f)^2 = 1 - 2 B f + f^2, and only the sum over s of B f_s differs between classes:
    # for class c in one-vs-rest it is 2 f_c - sum_s f_s.
    one_vs_rest = n_classes == n_tasks and np.array_equal(code, 2 * np.eye(n_classes) - 1)
    if one_vs_rest and decoding == "loss":
        return outputs
    B = code.astype(outputs.dtype)
    losses = n_tasks - 2 * (outputs @ B.T) + outputs**2 @ np.abs(B).T
    if decoding == "loss":
        return -losses
    lost = (np.abs(B).sum(axis=1) - np.sign(outputs) @ B.T) / 2
    return -lost - 0.4 * losses / (1.0 + losses.sum(axis=1, keepdims=True))
