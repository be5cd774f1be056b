"""Back-off n-gram of graphones as a tree in arrays, with the smoothing of `asr.grammar.estimate_ngram`.

A dictionary of 100,000 words has millions of n-grams. As arrays they take 20 bytes each.
"""

from dataclasses import dataclass

import numpy as np

from asr.util.kneser_ney import modified_discounts
from discriminants.util.numba_cache import njit

ROOT = 0
START, END = 0, 1
"""Tokens before and after a word; the graphones follow from 2."""
FIRST_GRAPHONE = 2
_LOG_ZERO = -99.0


@dataclass(frozen=True)
class GraphoneNgram:
    """Tree of n-grams: node 0 is the empty history, and the children of a node add a token at the end.

    Nodes are sorted by length, parent and token, so the children of a node are adjacent and in order.

    Attributes
    ----------
    order : int
        Length of the longest n-grams.
    token : ndarray of int32 (n_nodes,)
        Last token.
    first_child : ndarray of int32 (n_nodes + 1,)
        First child of each node; the children end at the first child of the next node.
    shorter : ndarray of int32 (n_nodes,)
        Node of the n-gram without its first token.
    log_probability, back_off : ndarrays of float32 (n_nodes,)
        Natural logarithms.
    """

    order: int
    token: np.ndarray
    first_child: np.ndarray
    shorter: np.ndarray
    log_probability: np.ndarray
    back_off: np.ndarray


def estimate(tokens: np.ndarray, lengths: np.ndarray, order: int) -> GraphoneNgram:
    """Estimate an interpolated modified Kneser-Ney model (Chen and Goodman 1999) of order 1 or more.

    `tokens` are the graphones of all words from `FIRST_GRAPHONE`, and `lengths` their number for each word.
    """
    text, place = _marked(tokens, lengths)
    n_tokens = int(text.max()) + 1
    empty = np.zeros(1, np.int64)
    layers = [_Layer(np.zeros(len(text), np.int64), empty, empty, empty, empty > 0)]
    for length in range(1, order + 1):
        layers.append(_longer(layers[-1], text, place, length, n_tokens))
    lower = np.full(1, 1.0 / (n_tokens - 1))
    probabilities, back_offs = [np.ones(1)], []
    for length in range(1, order + 1):
        layer = layers[length]
        counts = np.bincount(layer.number[layer.number >= 0], minlength=len(layer.token)).astype(np.int64)
        if length < order:
            continued = np.bincount(layers[length + 1].shorter, minlength=len(layer.token))
            counts = np.where(layer.after_start, counts, continued)
        if length == 1:
            counts[START] = 0
        numbers = np.bincount(np.minimum(counts, 5), minlength=6).tolist()
        discounts = np.array(modified_discounts(*numbers[1:5]))[np.minimum(counts, 3)]
        n_parents = len(layers[length - 1].token)
        totals = np.bincount(layer.parent, counts, n_parents)
        left_over = np.bincount(layer.parent, discounts, n_parents)
        lower = (counts - discounts + left_over[layer.parent] * lower[layer.shorter]) / totals[layer.parent]
        with np.errstate(divide="ignore", invalid="ignore"):
            back_offs.append(np.where(totals > 0, np.log(left_over / totals), 0.0))
        probabilities.append(lower)
    back_offs.append(np.zeros(len(layers[-1].token)))
    firsts = np.concatenate([[0], np.cumsum([len(layer.token) for layer in layers])])
    probabilities[1][START] = np.exp(_LOG_ZERO)
    n_children = [np.bincount(layers[k + 1].parent, minlength=len(layers[k].token)) for k in range(order)]
    n_children.append(np.zeros(len(layers[-1].token), np.int64))
    shorter = [layers[0].shorter] + [layers[k].shorter + firsts[k - 1] for k in range(1, order + 1)]
    return GraphoneNgram(
        order,
        np.concatenate([layer.token for layer in layers]).astype(np.int32),
        np.concatenate([[1], 1 + np.cumsum(np.concatenate(n_children))]).astype(np.int32),
        np.concatenate(shorter).astype(np.int32),
        np.log(np.concatenate(probabilities)).astype(np.float32),
        np.concatenate(back_offs).astype(np.float32),
    )


@dataclass(frozen=True)
class _Layer:
    """The different n-grams of one length, sorted by parent and token.

    `number` is the n-gram that ends at each position of the text, or -1. `shorter` and `parent` are n-grams without
    the first and the last token.
    """

    number: np.ndarray
    token: np.ndarray
    parent: np.ndarray
    shorter: np.ndarray
    after_start: np.ndarray


def _marked(tokens: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the text with `START` and `END` around every word, and the position of each token in its word."""
    firsts = np.concatenate([[0], np.cumsum(lengths + 2)[:-1]])
    text = np.full(len(tokens) + 2 * len(lengths), START, np.int64)
    place = np.arange(len(text)) - np.repeat(firsts, lengths + 2)
    ends = firsts + lengths + 1
    inner = np.ones(len(text), np.bool_)
    inner[firsts] = inner[ends] = False
    text[inner] = tokens
    text[ends] = END
    return text, place


def _longer(layer: _Layer, text: np.ndarray, place: np.ndarray, length: int, n_tokens: int) -> _Layer:
    """Return the n-grams with one more token than those of `layer`."""
    inside = place >= length - 1
    before = np.concatenate([[0], layer.number[:-1]])
    codes, numbers = np.unique(before[inside] * n_tokens + text[inside], return_inverse=True)
    number = np.full(len(text), -1, np.int64)
    number[inside] = numbers
    if length == 1:
        codes, number = np.arange(n_tokens), text
    parent, token = np.divmod(codes, n_tokens)
    shorter = np.zeros(len(codes), np.int64)
    shorter[number[inside]] = layer.number[inside]
    after_start = token == START if length == 1 else layer.after_start[parent]
    return _Layer(number, token, parent, shorter, after_start)


@njit(cache=True, nogil=True)
def step(token, first_child, shorter, log_probability, back_off, history, new):
    """Return the log-probability of token `new` after the node `history`, and the longest history after it."""
    score, node = 0.0, history
    while True:
        low, high = first_child[node], first_child[node + 1]
        while low < high:
            middle = (low + high) // 2
            if token[middle] < new:
                low = middle + 1
            else:
                high = middle
        if low < first_child[node + 1] and token[low] == new:
            break
        if node == ROOT:
            return -np.inf, ROOT
        score += back_off[node]
        node = shorter[node]
    score += log_probability[low]
    while low != ROOT and first_child[low] == first_child[low + 1]:
        low = shorter[low]
    return score, low
