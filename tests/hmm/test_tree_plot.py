"""Drawing of trees: every question and tied state is in the picture, and no two boxes overlap."""

import pytest

from asr.hmm.topology import SILENCE, Topology
from asr.hmm.tree_plot import draw_tree, tree_lines
from asr.util.errors import ConfigError
from tests.hmm.random_tying import random_tying

PHONES = ("A", "B$", "C")


@pytest.mark.parametrize("seed", range(4))
def test_tree_picture_has_the_nodes_of_the_text(seed):
    from matplotlib.figure import Figure

    topology = Topology(PHONES, tying=random_tying(seed, 3, 3))
    lines = list(tree_lines(topology))
    first = lines.index("B$, state 2") + 1
    block = lines[first : lines.index("B$, state 3")]
    ax = Figure(figsize=(20, 20)).subplots()
    assert draw_tree(topology, "B$", 2, ax) is ax
    texts = [" ".join(text.get_text().split()) for text in ax.texts if text.get_text() not in ("yes", "no")]
    assert sorted(texts) == sorted(line.strip().removeprefix("yes: ").removeprefix("no: ") for line in block)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text() not in ("yes", "no")]
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


@pytest.mark.parametrize(("phone", "state"), [(SILENCE, 1), ("X", 1), ("A", 0), ("A", 4)])
def test_unknown_tree_raises(phone, state):
    with pytest.raises(ConfigError, match=phone if state == 1 else str(state)):
        draw_tree(Topology(PHONES, tying=random_tying(0, 3, 3)), phone, state)
    with pytest.raises(ConfigError, match="context = 3"):
        draw_tree(Topology(PHONES), phone, state)
