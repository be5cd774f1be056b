"""Drawing of lattices: all words and nodes have places of their own, and the best path is straight."""

from dataclasses import replace

import numpy as np
import pytest

from asr.lattices.posteriors import arc_posteriors
from tests.lattices.test_generation import ARRAYS
from tests.lattices.test_uses import lattice  # noqa: F401


def labels(ax):
    """Words with posteriors, and frames of nodes."""
    texts = [text.get_text() for text in ax.texts]
    return [text for text in texts if "\n" in text], [int(text) for text in texts if "\n" not in text]


@pytest.mark.slow
def test_lattice_picture_has_every_word_once(lattice):  # noqa: F811
    from matplotlib.figure import Figure

    ax = Figure(figsize=(40, 40)).subplots()
    assert lattice.plot(ax, max_words=lattice.n_arcs) is ax
    words, frames = labels(ax)
    posterior = arc_posteriors(lattice)
    expected = [f"{lattice.words[w]}\n{p:.2f}" for w, p in zip(lattice.word, posterior, strict=True)]
    assert sorted(words) == sorted(expected)
    assert sorted(frames) == sorted(lattice.node_frame.tolist())
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
    best = {arc.get_color() for arc in ax.lines if np.ptp(arc.get_ydata()) == 0 and arc.get_ydata()[0] == 0}
    assert len(best) == 1


def test_lattice_picture_of_few_words_has_the_best_path(lattice):  # noqa: F811
    ax = lattice.plot(max_words=1)
    bold = [text.get_text().split("\n")[0] for text in ax.texts if text.get_fontweight() == "bold"]
    best = lattice.first_path
    assert bold == [lattice.words[word] for word in lattice.word[best]]
    assert set(lattice.node_frame[lattice.target[best]].tolist()) <= set(labels(ax)[1])


def test_lattice_picture_without_words_has_one_node(lattice):  # noqa: F811
    empty = replace(
        lattice, node_frame=lattice.node_frame[:1], **{name: getattr(lattice, name)[:0] for name in ARRAYS[1:7]},
        final_acoustic=np.zeros(1), final_grammar=np.zeros(1), first=(),
    )  # fmt: skip
    assert labels(empty.plot()) == ([], [0])
