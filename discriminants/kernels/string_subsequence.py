"""The kernel of common subsequences of strings, as matrices for `kernel="precomputed"`."""

from collections.abc import Hashable, Sequence

import numpy as np

from discriminants.kernels.kernel import check_whole
from discriminants.util.numba_cache import njit


def string_subsequence_kernel(
    strings: Sequence[Sequence[Hashable]],
    others: Sequence[Sequence[Hashable]] | None = None,
    *,
    length: int = 3,
    decay: float = 0.5,
    normalize: bool = True,
) -> np.ndarray:
    """Compute the string subsequence kernel of Lodhi et al. (2002), positive semidefinite.

    The feature of a string u of `length` symbols is the sum of decay^span over all subsequences equal to u, where the
    span is the number of symbols from the first to the last one. A pair of strings of n and m symbols takes O(length n
    m) time.

    Parameters
    ----------
    strings : sequence of str, or of sequences of hashable symbols
        Texts, or for example pronunciations as lists of phones.
    others : as strings, optional
        Second set, such as the training strings in prediction; None is the same as `strings`.
    length : int
        Number of symbols of the subsequences.
    decay : float
        Weight of each symbol of the span, above 0 and at most 1. Smaller values punish gaps more.
    normalize : bool
        Divide by the root of the product of each string's kernel with itself, so that long strings do not have large
        values. Strings with fewer than `length` symbols have the value 0.

    Returns
    -------
    ndarray of shape (n_strings, n_others), float64

    Raises
    ------
    ValueError
        If `length` is not a whole number of at least 1, or `decay` is not in (0, 1].

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, Text classification using string kernels,
    JMLR 2, 2002, 419-444.

    Examples
    --------
    >>> from discriminants import LSSVMClassifier
    >>> from discriminants.kernels import string_subsequence_kernel
    >>> words, classes = ["walked", "talked", "jumped", "walking", "talking", "jumping"], [0, 0, 0, 1, 1, 1]
    >>> model = LSSVMClassifier(kernel="precomputed").fit(string_subsequence_kernel(words, length=2), classes)
    >>> model.predict(string_subsequence_kernel(["asked", "asking"], words, length=2))
    array([0, 1])
    """
    check_whole("length", length)
    if not 0 < decay <= 1:
        raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}")
    numbers: dict[Hashable, int] = {}
    left = _coded(strings, numbers)
    right = left if others is None else _coded(others, numbers)
    K = np.empty((len(strings), right[1].shape[0] - 1))
    _fill(*left, *right, length, float(decay), others is None, K)
    if normalize:
        own = [np.empty(offsets.shape[0] - 1) for _, offsets in (left, right)]
        for values, coded in zip(own, (left, right), strict=True):
            _fill_diagonal(*coded, length, float(decay), values)
        norms = np.sqrt(own[0][:, None] * own[1])
        np.divide(K, norms, out=K, where=norms > 0)
    return K


def _coded(strings: Sequence[Sequence[Hashable]], numbers: dict[Hashable, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of all symbols in one array, and the offset of each string; new symbols join `numbers`."""
    codes = [numbers.setdefault(symbol, len(numbers)) for string in strings for symbol in string]
    return np.array(codes, dtype=np.int64), np.cumsum([0, *map(len, strings)])


@njit(cache=True, nogil=True)
def _similarity(s: np.ndarray, t: np.ndarray, length: int, decay: float) -> float:
    """Compute the kernel by the recursion over prefixes (Shawe-Taylor and Cristianini 2004, section 11.5)."""
    # Weighted number of common subsequences that end at both positions, for growing lengths.
    ends = np.empty((s.shape[0], t.shape[0]))
    total = 0.0
    for i in range(s.shape[0]):
        for j in range(t.shape[0]):
            ends[i, j] = decay * decay if s[i] == t[j] else 0.0
            total += ends[i, j]
    prefixes = np.empty(t.shape[0] + 1)  # of the previous row: sums over ends in both prefixes, decayed to their ends
    for _ in range(1, length):
        for j in range(prefixes.shape[0]):
            prefixes[j] = 0.0
        total = 0.0
        for i in range(s.shape[0]):
            diagonal, before = 0.0, 0.0
            for j in range(t.shape[0]):
                above = prefixes[j + 1]
                before = ends[i, j] + decay * (above + before - decay * diagonal)
                ends[i, j] = decay * decay * diagonal if s[i] == t[j] else 0.0
                total += ends[i, j]
                prefixes[j + 1], diagonal = before, above
    return total


@njit(cache=True, nogil=True)
def _fill(
    left: np.ndarray,
    left_offsets: np.ndarray,
    right: np.ndarray,
    right_offsets: np.ndarray,
    length: int,
    decay: float,
    symmetric: bool,
    K: np.ndarray,
) -> None:
    for i in range(K.shape[0]):
        s = left[left_offsets[i] : left_offsets[i + 1]]
        for j in range(i if symmetric else 0, K.shape[1]):
            K[i, j] = _similarity(s, right[right_offsets[j] : right_offsets[j + 1]], length, decay)
            if symmetric:
                K[j, i] = K[i, j]


@njit(cache=True, nogil=True)
def _fill_diagonal(codes: np.ndarray, offsets: np.ndarray, length: int, decay: float, values: np.ndarray) -> None:
    for i in range(values.shape[0]):
        s = codes[offsets[i] : offsets[i + 1]]
        values[i] = _similarity(s, s, length, decay)
