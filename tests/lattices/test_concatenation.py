"""Lattices of pieces as one lattice."""

from itertools import product

import numpy as np
import pytest

from asr.lattices.concatenation import concatenated
from asr.lattices.lattice import Lattice
from asr.lattices.n_best import n_best

N_FRAMES = 10


def _lattice(sentences):
    """Return a lattice with a chain of arcs for each sentence and score."""
    words = tuple(sorted({word for sentence, _ in sentences for word in sentence})) or ("A",)
    nodes, rows, final = 1, [], {}
    for sentence, score in sentences:
        node = 0
        for place, word in enumerate(sentence):
            rows.append((node, nodes, words.index(word), 2 * place, -1.0, -0.5))
            node, nodes = nodes, nodes + 1
        final[node] = score
    rows.sort()
    columns = np.array(rows, float).reshape(-1, 6).T
    ends = np.array([final.get(node, -np.inf) for node in range(nodes)])
    frames = np.zeros(nodes, np.int32)
    frames[columns[1].astype(int)] = columns[3] + 2
    source, target, word, begin = columns[:4].astype(np.int32)
    return Lattice(
        words, frames, source, target, word, begin, columns[4], columns[5], ends, np.where(ends > -np.inf, 0.0, ends),
        N_FRAMES, 2.0, 0.0, 100.0, tuple(sentences[0][0]), np.ones(N_FRAMES),
    )  # fmt: skip


PARTS = [
    [(("A", "B"), -1.0), (("B",), -4.0)],
    [((), -0.25), (("C",), -1.5)],
    [(("A",), 0.0), (("C", "A"), -3.0)],
]


def test_concatenated_has_all_sentences_of_the_parts():
    parts = [_lattice(sentences) for sentences in PARTS]
    joined = concatenated([(N_FRAMES * place, one) for place, one in enumerate(parts)], 30)
    expected = {}
    for combination in product(*PARTS):
        words = tuple(word for sentence, _ in combination for word in sentence)
        score = sum(end - 2.0 * len(sentence) for sentence, end in combination)
        expected.setdefault(words, []).append(score)
    found = {}
    for one in n_best(joined, 100):
        words = tuple(joined.words[word] for word in joined.word[one.arcs])
        found.setdefault(words, []).append(one.score)
    assert found.keys() == expected.keys()
    for words, scores in expected.items():
        assert max(found[words]) == pytest.approx(max(scores))
    assert (joined.source < joined.target).all() and (np.diff(joined.source) >= 0).all()
    assert joined.first == ("A", "B", "A")
    assert [(word.start, word.end) for word in joined.segments(joined.first_path)] == [(0, 2), (2, 4), (20, 22)]


def test_concatenated_whole_recording_is_unchanged():
    one = _lattice(PARTS[0])
    assert concatenated([(0, one)], N_FRAMES) is one
