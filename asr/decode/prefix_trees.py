"""Lexicon and grammar as one automaton: L o G, determinized and minimized, made directly.

The first phone of every word has its own input label. That keeps word boundaries exact. It also makes the division of a
phone string into words unique, so only homophones need disambiguation labels. Therefore the determinized composition
(Mohri, Pereira and Riley 2002) is a prefix tree of pronunciations at every state of the grammar. Words and costs are on
the first arc that determines them. Equal states of the grammar are merged first, then trees from their ends (Revuz
1992).
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from asr.decode.merging import hashed, merge_equal_states, rounded
from asr.grammar import Grammar
from asr.grammar.automaton_arrays import AutomatonArrays, automaton_arrays, trimmed
from asr.grammar.filler import FILLER_WORD
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.lexicon import Lexicon
from asr.util.errors import LexiconError


class InputLabels:
    """Input labels: 1 + 2 * phone number, plus 1 if the phone begins a word; higher labels take no frames."""

    def __init__(self, topology: Topology) -> None:
        self._numbers = topology.phone_number
        self.filler = 2 + 2 * len(topology.phone_names)
        """The filler counts as a phone that begins a word, numbered after the model's phones."""
        self.back_off = self.filler + 1
        """The back-off symbol; labels from here on take no frames."""
        self.no_pause = self.back_off + 1

    def of(self, phone: str, begins_word: bool) -> int:
        """Return the label of a phone."""
        return 1 + 2 * self._numbers[phone] + begins_word

    def homophone(self, number: int) -> int:
        """Return the disambiguation label of the number-th (1, 2, ...) homophone."""
        return self.no_pause + number

    def pauses(self, lexicon: Lexicon) -> list[int]:
        """Return the labels after a word: no pause, silence, short pause. The first alone if the lexicon has pauses."""
        spoken = [self.of(phone, False) for phone in (SILENCE, SHORT_PAUSE)]
        return [self.no_pause, *spoken][: 1 if lexicon.marks_silence else None]


class LabeledPronunciation(NamedTuple):
    """A pronunciation of a word of the grammar."""

    word: int  # label
    labels: tuple[int, ...]  # input labels
    cost: float  # negative logarithm of its probability


def labeled_pronunciations(
    lexicon: Lexicon, grammar: Grammar, topology: Topology, labels: InputLabels
) -> list[LabeledPronunciation]:
    """Return the pronunciations of all words and of the filler, by word; LexiconError for an unknown phone.

    A word `[unk]` of the lexicon is an ordinary word. Homophones end with different labels.
    """
    spoken = [(word, phones) for word in grammar.words for phones in lexicon.pronunciations.get(word, ())]
    known = {SILENCE, *topology.phones}
    for word, phones in spoken:
        for phone in phones:
            if phone not in known:
                raise LexiconError(
                    f"word {word!r} uses phone {phone!r}, which is not in the model. Its phones are "
                    f"{' '.join(topology.phones)}"
                )
    homophones = Counter(phones for _, phones in spoken)
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for word, phones in spoken:
        inputs = [labels.of(phone, position == 0) for position, phone in enumerate(phones)]
        if homophones[phones] > 1:
            seen[phones] += 1
            inputs.append(labels.homophone(seen[phones]))
        cost = 0.0 - math.log(lexicon.probability(word, phones))
        found.append(LabeledPronunciation(grammar.labels[word], tuple(inputs), cost))
    if FILLER_WORD in grammar.words and FILLER_WORD not in lexicon.pronunciations:
        found.append(LabeledPronunciation(grammar.labels[FILLER_WORD], (labels.filler,), 0.0))
    return sorted(found, key=lambda one: one.word)


class _Lexicon(NamedTuple):
    """The prefix tree of all pronunciations; node 0 is the root. Arrays by node, then by pronunciation."""

    parent: np.ndarray
    label: np.ndarray
    depth: np.ndarray
    end: np.ndarray  # node
    cost: np.ndarray
    first: np.ndarray  # pronunciations of word label w are first[w]:first[w + 1]


def _lexicon_tree(spoken: list[LabeledPronunciation], n_words: int) -> _Lexicon:
    children: dict[tuple[int, int], int] = {}
    parent, numbers, depth, end = [0], [0], [0], []
    for one in spoken:
        node = 0
        for label in one.labels:
            child = children.setdefault((node, label), len(parent))
            if child == len(parent):
                parent.append(node)
                numbers.append(label)
                depth.append(depth[node] + 1)
            node = child
        end.append(node)
    first = np.searchsorted([one.word for one in spoken], np.arange(n_words + 2))
    columns = np.array(parent), np.array(numbers, np.int32), np.array(depth), np.array(end, np.int64)
    return _Lexicon(*columns, np.array([one.cost for one in spoken]), first)


class _Arcs(NamedTuple):
    """Arcs of an automaton; all columns but the cost are int32, because there are millions."""

    source: np.ndarray
    label: np.ndarray
    output: np.ndarray
    cost: np.ndarray
    target: np.ndarray

    def where(self, chosen: np.ndarray) -> "_Arcs":
        return _Arcs(*(column[chosen] for column in self))


def _joined(*parts: _Arcs) -> _Arcs:
    return _Arcs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class _Nodes(NamedTuple):
    """Nodes of the trees of all states of the grammar."""

    key: np.ndarray  # state of the grammar * nodes of the lexicon's tree + node
    cost: np.ndarray  # lowest cost of a word below
    word: np.ndarray  # the only word below, or 0
    height: np.ndarray  # of the subtree


class _Trees(NamedTuple):
    """The trees of all states of the grammar."""

    nodes: _Nodes
    roots: _Arcs  # from states of the grammar to nodes
    inner: _Arcs  # between nodes
    ends: _Arcs  # from nodes to the states after a word that ends there; `label` has no meaning


def lexicon_with_grammar(
    lexicon: Lexicon, grammar: Grammar, topology: Topology, labels: InputLabels
) -> AutomatonArrays | None:
    """Return the automaton from phones to words; None if the grammar has no sentence.

    Silence may begin an utterance; a short pause or silence may follow every word, unless the lexicon marks silence. No
    pause has its own label, which takes no frames. The first phone of a word has the cost of its pronunciation. Raises
    LexiconError if a pronunciation has an unknown phone.
    """
    tree = _lexicon_tree(labeled_pronunciations(lexicon, grammar, topology, labels), len(grammar.words))
    words = trimmed(automaton_arrays(grammar.fst))
    if words is None:
        return None
    words = merge_equal_states(words)
    n = len(words.final_cost)
    source = np.repeat(np.arange(n, dtype=np.int32), np.diff(words.arc_start))
    arcs = _Arcs(source, words.input_label, words.output_label, words.cost.astype(np.float64), words.target)
    is_word = words.input_label <= len(grammar.words)
    back_off, arcs = arcs.where(~is_word), arcs.where(is_word)
    # States are numbered: 0 ... n - 1 before words, n ... 2 n - 1 after words, 2 n the first, then nodes of trees.
    trees = _trees(arcs, tree, 2 * n + 1)
    silences = labels.pauses(lexicon)
    shared = trees.nodes.height[trees.ends.source - 2 * n - 1] > 0  # ends inside of longer words
    inner = _joined(trees.inner, _repeated(trees.ends.where(shared), silences))
    merged = np.arange(2 * n + 1 + len(trees.nodes.key), dtype=np.int32)
    merged[trees.ends.source[~shared]] = n + trees.ends.target[~shared]
    _merge_trees(inner, trees.nodes.height, merged)
    after = np.flatnonzero(np.bincount(arcs.target, minlength=n))
    found = _joined(
        trees.roots,
        inner.where(merged[inner.source] == inner.source),
        back_off._replace(label=np.full_like(back_off.label, labels.back_off), output=np.zeros_like(back_off.output)),
        _repeated(_jumps(n + after, after), silences),
        _repeated(_jumps(np.array([2 * n]), [words.start]), silences[:2]),
    )
    found = found._replace(target=merged[found.target])
    states = np.arange(n) * len(tree.parent)
    return _numbered(found, words.final_cost, np.concatenate([states, states, [-1], trees.nodes.key]))


def _jumps(source: np.ndarray, target: Sequence[int] | np.ndarray) -> _Arcs:
    zeros = np.zeros(len(source), np.int32)
    return _Arcs(source.astype(np.int32), zeros, zeros, zeros.astype(np.float64), np.array(target, np.int32))


def _repeated(arcs: _Arcs, labels: list[int]) -> _Arcs:
    """Return the arcs with each of the labels."""
    copies = _Arcs(*(np.repeat(column, len(labels)) for column in arcs))
    return copies._replace(label=np.tile(np.array(labels, np.int32), len(arcs.source)))


def _trees(arcs: _Arcs, tree: _Lexicon, first: int) -> _Trees:
    """Return the trees for the word arcs of a grammar, made from the deepest nodes up; numbers begin with `first`."""
    size = len(tree.parent)
    n_variants = np.diff(tree.first)[arcs.label]
    arc = np.repeat(np.arange(len(n_variants)), n_variants)
    variant = np.arange(len(arc)) + np.repeat(tree.first[arcs.label] - np.cumsum(n_variants) + n_variants, n_variants)
    end, word = tree.end[variant], arcs.label[arc]
    cost = arcs.cost[arc] + tree.cost[variant]
    key = arcs.source[arc].astype(np.int64) * size + end
    by_depth = np.argsort(tree.depth[end], kind="stable")
    bounds = np.searchsorted(tree.depth[end], np.arange(tree.depth.max() + 2), sorter=by_depth)
    place = np.empty(len(arc), np.int32)  # node of every variant
    nothing = np.empty(0, np.int32)
    levels, parents = [_Nodes(nothing.astype(np.int64), nothing.astype(np.float64), nothing, nothing)], [nothing]
    for depth in range(len(bounds) - 2, 0, -1):
        own, below = by_depth[bounds[depth] : bounds[depth + 1]], levels[-1]
        lexical = below.key % size
        keys = np.concatenate([key[own], below.key - lexical + tree.parent[lexical]])
        if not len(keys):
            continue
        order = np.argsort(keys, kind="stable")
        begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
        number = np.empty(len(keys), np.int32)
        number[order] = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(keys))) + first
        place[own] = number[: len(own)]
        parents.append(number[len(own) :])
        costs, words, heights = (
            np.concatenate(pair)[order]
            for pair in (
                (cost[own], below.cost),
                (word[own], below.word),
                (np.zeros(len(own), np.int32), below.height + 1),
            )
        )
        lowest, highest = np.minimum.reduceat(words, begins), np.maximum.reduceat(words, begins)
        only = np.where(lowest == highest, lowest, 0)
        levels.append(
            _Nodes(keys[order][begins], np.minimum.reduceat(costs, begins), only, np.maximum.reduceat(heights, begins))
        )
        first += len(begins)
    nodes, parent = _Nodes(*(np.concatenate(columns) for columns in zip(*levels, strict=True))), np.concatenate(parents)
    base = first - len(nodes.key)
    above, here = parent - base, slice(0, len(parent))
    state, lexical = np.divmod(nodes.key, size)
    label, node, last = tree.label[lexical], np.arange(base, first, dtype=np.int32), slice(len(parent), None)
    roots = _Arcs(state[last].astype(np.int32), label[last], nodes.word[last], nodes.cost[last], node[last])
    output = np.where(nodes.word[above] == 0, nodes.word[here], 0)
    inner = _Arcs(parent, label[here], output, nodes.cost[here] - nodes.cost[above], node[here])
    at = place - base
    ends = _Arcs(place, place, np.where(nodes.word[at] == 0, word, 0), cost - nodes.cost[at], arcs.target[arc])
    return _Trees(nodes, roots, inner, ends)


def _merge_trees(inner: _Arcs, height: np.ndarray, merged: np.ndarray) -> None:
    """Give nodes of equal height with equal arcs the number of the first of them in `merged`, in place."""
    height = height[inner.source - (len(merged) - len(height))]
    order = np.lexsort((inner.source, height))
    for low, high in pairwise(np.searchsorted(height[order], np.arange(1, height.max(initial=0) + 2))):
        arcs = inner.where(order[low:high])
        begins = np.flatnonzero(np.diff(arcs.source, prepend=-1))
        # A set of arcs is represented by the sum of their hashes.
        futures = np.add.reduceat(hashed(arcs.label, arcs.output, rounded(arcs.cost), merged[arcs.target]), begins)
        _, firsts, classes = np.unique(futures, return_index=True, return_inverse=True)
        nodes = arcs.source[begins]
        merged[nodes] = nodes[firsts][classes]


def _numbered(arcs: _Arcs, final_cost: np.ndarray, key: np.ndarray) -> AutomatonArrays:
    """Return the automaton of the states in use, sorted by `key`; the start has the smallest."""
    in_use = np.zeros(len(key), bool)
    in_use[arcs.source] = in_use[arcs.target] = True
    used = np.flatnonzero(in_use)
    used = used[np.argsort(key[used], kind="stable")]
    number = np.empty(len(key), np.int64)
    number[used] = np.arange(len(used))
    source = number[arcs.source]
    order = np.lexsort((arcs.label, source))
    final = np.full(len(key), np.inf, np.float32)
    final[: len(final_cost)] = final_cost
    return AutomatonArrays(
        start=0,
        final_cost=final[used],
        arc_start=np.searchsorted(source[order], np.arange(len(used) + 1)),
        input_label=arcs.label[order].astype(np.int32),
        output_label=arcs.output[order].astype(np.int32),
        cost=arcs.cost[order].astype(np.float32),
        target=number[arcs.target[order]].astype(np.int32),
    )
