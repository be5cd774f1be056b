"""Alignment of letters and phones by expectation maximization over graphones.

The probability of an entry is the sum over its segmentations into graphones, and that of a segmentation the product of
the probabilities of its graphones (Bisani and Ney 2008, eq. 11 to 17, with a unigram).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from asr.util.errors import LexiconError
from discriminants.util.numba_cache import njit

N_ITERATIONS = 15
START_OF_OTHERS = 0.01
"""Initial probability of other graphones, relative to one letter with one phone.

An even start prefers long graphones in small dictionaries (docs/lab-notes/grapheme-to-phoneme.md).
"""
_BLOCK = 4096  # entries whose graphones are numbered together
_TOO_LARGE = 1 << 62

Entry = tuple[tuple[int, ...], tuple[int, ...]]
"""Numbers of the letters and of the phones of an entry, from 1."""


@dataclass(frozen=True)
class Alignment:
    """Best segmentation of every entry.

    Attributes
    ----------
    graphones : ndarray of int32 (n_graphones, max_letters + max_phones)
        Letters, then phones of every graphone, each padded with 0.
    tokens : ndarray of int32 (n_tokens,)
        Graphones of all entries, one entry after the other.
    lengths : ndarray of int64 (n_entries,)
        Number of graphones of each entry; 0 if no segmentation exists.
    log_likelihoods : tuple of float
        Log-likelihood of all entries, before each iteration.
    """

    graphones: np.ndarray
    tokens: np.ndarray
    lengths: np.ndarray
    log_likelihoods: tuple[float, ...]


def shapes_of(max_letters: int, max_phones: int) -> np.ndarray:
    """Return the possible numbers of letters and phones of a graphone, int64 (n_shapes, 2).

    One letter has 0 to `max_phones` phones, and 2 to `max_letters` letters have one phone.
    """
    one_letter = [(1, n) for n in range(max_phones + 1)]
    return np.array(one_letter + [(n, 1) for n in range(2, max_letters + 1)], np.int64)


def align_entries(
    entries: Sequence[Entry],
    max_letters: int,
    max_phones: int,
    *,
    n_iterations: int = N_ITERATIONS,
    progress: Callable[[int], None] | None = None,
) -> Alignment:
    """Estimate the probabilities of all graphones and return the best segmentations.

    `progress` receives the number of finished iterations. Raises LexiconError if the graphones cannot be numbered with
    64 bits.
    """
    n_letters = 1 + max((max(letters) for letters, _ in entries), default=0)
    n_phones = 1 + max((max(phones) for _, phones in entries), default=0)
    if n_letters**max_letters * n_phones**max_phones > _TOO_LARGE:
        raise LexiconError(
            f"{n_letters} letters and {n_phones} phones are too many for graphones of {max_letters} letters and "
            f"{max_phones} phones. Use shorter graphones"
        )
    shapes = shapes_of(max_letters, max_phones)
    letters, n_letters_of = _joined([letters for letters, _ in entries])
    phones, n_phones_of = _joined([phones for _, phones in entries])
    bases = np.array([n_letters, n_phones], np.int64)
    edges = (n_letters_of[1:] - n_letters_of[:-1] + 1) * (n_phones_of[1:] - n_phones_of[:-1] + 1) * len(shapes)
    first_edge = np.concatenate([[0], np.cumsum(edges)])
    places = (letters, n_letters_of, phones, n_phones_of, first_edge)

    blocks = [(begin, min(begin + _BLOCK, len(entries))) for begin in range(0, len(entries), _BLOCK)]
    codes = np.unique(np.concatenate([np.unique(_codes(*places, shapes, bases, *block)) for block in blocks]))
    codes = codes[codes >= 0]
    numbers = np.empty(first_edge[-1], np.int32)
    for begin, end in blocks:
        found = _codes(*places, shapes, bases, begin, end)
        inside = slice(first_edge[begin], first_edge[end])
        numbers[inside] = np.where(found < 0, -1, np.searchsorted(codes, found))

    candidates = _decoded(codes, n_letters, n_phones, max_letters, max_phones)
    single = np.count_nonzero(candidates[:, :max_letters], 1) * np.count_nonzero(candidates[:, max_letters:], 1) == 1
    probabilities = np.where(single, 1.0, START_OF_OTHERS)
    probabilities /= probabilities.sum()
    likelihoods = []
    for iteration in range(n_iterations):
        counts = np.zeros(len(codes))
        likelihoods.append(_expect(numbers, n_letters_of, n_phones_of, first_edge, shapes, probabilities, counts))
        probabilities = counts / max(counts.sum(), 1e-300)
        if progress is not None:
            progress(iteration + 1)
    with np.errstate(divide="ignore"):
        scores = np.log(probabilities)
    tokens, lengths = _best(numbers, n_letters_of, n_phones_of, first_edge, shapes, scores)
    used, tokens = np.unique(tokens, return_inverse=True)
    return Alignment(candidates[used], tokens.astype(np.int32), lengths, tuple(likelihoods))


def _joined(sequences: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return all sequences as one array, and the offset of each and the end."""
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in sequences], dtype=np.int64)])
    return np.fromiter((item for one in sequences for item in one), np.int64, offsets[-1]), offsets


def _decoded(codes: np.ndarray, n_letters: int, n_phones: int, max_letters: int, max_phones: int) -> np.ndarray:
    """Return the letters and phones of graphones from their codes."""
    bases = [n_letters] * max_letters + [n_phones] * max_phones
    columns = np.zeros((len(codes), len(bases)), np.int32)
    for place in reversed(range(len(bases))):
        codes, columns[:, place] = np.divmod(codes, bases[place])
    return columns


@njit(cache=True, nogil=True)
def _codes(letters, letters_at, phones, phones_at, first_edge, shapes, bases, begin, end):
    """Return the code of the graphone on every edge of the entries from `begin` to `end`; -1 for edges that leave them.

    An edge (i, j, shape) starts after i letters and j phones. The code has a digit for each place of a graphone.
    """
    max_letters, max_phones = shapes[:, 0].max(), shapes[:, 1].max()
    codes = np.full(first_edge[end] - first_edge[begin], -1, np.int64)
    edge = 0
    for entry in range(begin, end):
        a, n = letters_at[entry], letters_at[entry + 1] - letters_at[entry]
        b, m = phones_at[entry], phones_at[entry + 1] - phones_at[entry]
        for i in range(n + 1):
            for j in range(m + 1):
                for s in range(len(shapes)):
                    if i + shapes[s, 0] <= n and j + shapes[s, 1] <= m:
                        code = 0
                        for k in range(max_letters):
                            code = code * bases[0] + (letters[a + i + k] if k < shapes[s, 0] else 0)
                        for k in range(max_phones):
                            code = code * bases[1] + (phones[b + j + k] if k < shapes[s, 1] else 0)
                        codes[edge] = code
                    edge += 1
    return codes


@njit(cache=True, nogil=True)
def _expect(numbers, letters_at, phones_at, first_edge, shapes, probabilities, counts):
    """Add the expected count of every graphone to `counts` and return the log-likelihood of the entries.

    Entries of hundreds of letters, whose likelihood is too small for a double, are left out.
    """
    total = 0.0
    for entry in range(len(letters_at) - 1):
        n, m = letters_at[entry + 1] - letters_at[entry], phones_at[entry + 1] - phones_at[entry]
        forward, backward = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1))
        forward[0, 0] = backward[n, m] = 1.0
        for i in range(n + 1):
            for j in range(m + 1):
                if forward[i, j] > 0.0:
                    edge = first_edge[entry] + (i * (m + 1) + j) * len(shapes)
                    for s in range(len(shapes)):
                        if numbers[edge + s] >= 0:
                            forward[i + shapes[s, 0], j + shapes[s, 1]] += (
                                forward[i, j] * probabilities[numbers[edge + s]]
                            )
        likelihood = forward[n, m]
        if likelihood <= 0.0:
            continue
        total += np.log(likelihood)
        for i in range(n, -1, -1):
            for j in range(m, -1, -1):
                edge = first_edge[entry] + (i * (m + 1) + j) * len(shapes)
                for s in range(len(shapes)):
                    number = numbers[edge + s]
                    if number >= 0:
                        after = probabilities[number] * backward[i + shapes[s, 0], j + shapes[s, 1]]
                        backward[i, j] += after
                        counts[number] += forward[i, j] * after / likelihood
    return total


@njit(cache=True, nogil=True)
def _best(numbers, letters_at, phones_at, first_edge, shapes, scores):
    """Return the graphones of the best segmentation of every entry, and their number (0 without a segmentation)."""
    tokens, lengths = np.empty(letters_at[-1], np.int64), np.zeros(len(letters_at) - 1, np.int64)
    n_tokens = 0
    for entry in range(len(letters_at) - 1):
        n, m = letters_at[entry + 1] - letters_at[entry], phones_at[entry + 1] - phones_at[entry]
        best, came = np.full((n + 1, m + 1), -np.inf), np.full((n + 1, m + 1), -1)
        best[0, 0] = 0.0
        for i in range(n + 1):
            for j in range(m + 1):
                edge = first_edge[entry] + (i * (m + 1) + j) * len(shapes)
                for s in range(len(shapes)):
                    if numbers[edge + s] >= 0:
                        score = best[i, j] + scores[numbers[edge + s]]
                        if score > best[i + shapes[s, 0], j + shapes[s, 1]]:
                            best[i + shapes[s, 0], j + shapes[s, 1]] = score
                            came[i + shapes[s, 0], j + shapes[s, 1]] = s
        if best[n, m] == -np.inf:
            continue
        i, j = n, m
        while i > 0:
            s = came[i, j]
            i, j = i - shapes[s, 0], j - shapes[s, 1]
            tokens[n_tokens + lengths[entry]] = numbers[first_edge[entry] + (i * (m + 1) + j) * len(shapes) + s]
            lengths[entry] += 1
        tokens[n_tokens : n_tokens + lengths[entry]] = tokens[n_tokens : n_tokens + lengths[entry]][::-1].copy()
        n_tokens += lengths[entry]
    return tokens[:n_tokens], lengths
