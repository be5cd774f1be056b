"""Drawing of a word lattice as a layered graph."""

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from asr.lattices.lattice import Lattice
from asr.lattices.posteriors import arc_posteriors
from asr.util.display import new_axes
from asr.util.errors import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEST, _OTHER = "#1f5fa8", "0.55"
_FONT = 8.0
_ROUNDING = 1e-6  # of the scores of the same path at its arcs
_Item = tuple[int, int]  # node and -1, or arc and the number of the layers it has passed
_Place = tuple[float, float]


def draw_lattice(lattice: Lattice, ax: "Axes | None" = None, max_words: int = 40) -> "Axes":
    """Draw the most likely words of a lattice, see `Lattice.plot`.

    Layers alternate between nodes and words, so that every word has a place of its own. An arc that skips nodes passes
    the layers between them at free places (Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical
    system structures, 1981). The best path is straight.
    """
    through = lattice.forward[lattice.source] + lattice.score + lattice.backward[lattice.target]
    loss = np.sort(lattice.best_score - through)
    beam = float(loss[min(max_words, len(loss)) - 1]) if len(loss) and max_words > 0 else 0.0
    beam = min(beam, 1e30) + _ROUNDING  # arcs without a complete path have an infinite loss
    posterior = arc_posteriors(lattice)[(through >= lattice.best_score - beam) & (through > -np.inf)]
    lattice = lattice.pruned(beam)
    depth = np.zeros(lattice.n_nodes, int)
    for source, target in zip(lattice.source.tolist(), lattice.target.tolist(), strict=True):
        depth[target] = max(depth[target], depth[source] + 1)  # sources are sorted, and targets are later nodes
    best = set(lattice.first_path.tolist())
    places = _places(lattice, depth, best)
    n_rows = 1 + np.ptp([row for _, row in places.values()])
    longest = max((len(lattice.words[word]) for word in lattice.word.tolist()), default=1)
    height = 0.6 + 0.42 * n_rows
    width = max((depth.max() + 1) * (0.7 + 0.085 * longest), height)
    axes = new_axes(width, height) if ax is None else ax
    for arc in sorted(range(lattice.n_arcs), key=lambda arc: arc in best):  # the best path is drawn last
        _draw_arc(axes, lattice, arc, places, float(posterior[arc]), arc in best)
    for node, frame in enumerate(lattice.node_frame.tolist()):
        final = lattice.final_score[node] > -np.inf
        axes.text(
            *places[node, -1], str(frame), ha="center", va="center", fontsize=_FONT - 2, zorder=4,
            bbox={
                "boxstyle": "circle,pad=0.25", "facecolor": "0.85" if final else "white",
                "edgecolor": "black", "linewidth": 1.6 if final else 0.7,
            },
        )  # fmt: skip
    axes.set_axis_off()
    rows = [row for _, row in places.values()]
    axes.set(xlim=(-0.5, 2 * depth.max() + 0.5), ylim=(max(rows) + 0.6, min(rows) - 0.6))
    return axes


def _places(lattice: Lattice, depth: np.ndarray, best: set[int]) -> dict[_Item, _Place]:
    """Return layer and row of every node, word, and passage of a long arc through a layer.

    In each layer, they are sorted by the mean row of their predecessors, and those of the best path have row 0.
    """
    layers: dict[int, list[_Item]] = defaultdict(list)
    before: dict[_Item, list[_Item]] = defaultdict(list)
    best_items: set[_Item] = {(0, -1)}
    for node in range(lattice.n_nodes):
        layers[2 * int(depth[node])].append((node, -1))
    for arc, (source, target) in enumerate(zip(lattice.source.tolist(), lattice.target.tolist(), strict=True)):
        previous: _Item = (source, -1)
        for passed, layer in enumerate(range(2 * int(depth[source]) + 1, 2 * int(depth[target]))):
            layers[layer].append((arc, passed))
            before[arc, passed].append(previous)
            previous = (arc, passed)
        before[target, -1].append(previous)
        if arc in best:
            best_items |= {(arc, passed) for passed in range(2 * int(depth[target] - depth[source]) - 1)}
            best_items.add((target, -1))
    places: dict[_Item, _Place] = {}
    for layer in sorted(layers):
        means = {
            item: 0.0 if item in best_items else float(np.mean([places[one][1] for one in before[item]]))
            for item in layers[layer]
        }
        ordered = sorted(layers[layer], key=lambda item: (means[item], item not in best_items))
        straight = [row for row, item in enumerate(ordered) if item in best_items]
        shift = straight[0] if straight else round((len(ordered) - 1) / 2 - float(np.mean(list(means.values()))))
        places |= {item: (float(layer), float(row - shift)) for row, item in enumerate(ordered)}
    return places


def _draw_arc(
    axes: "Axes", lattice: Lattice, arc: int, places: dict[_Item, _Place], posterior: float, on_best_path: bool
) -> None:
    source, target = int(lattice.source[arc]), int(lattice.target[arc])
    passages = [places[arc, passed] for passed in range(len(places)) if (arc, passed) in places]
    x, y = zip(places[source, -1], *passages, places[target, -1], strict=True)
    color = _BEST if on_best_path else _OTHER
    axes.plot(x, y, color=color, linewidth=2.0 if on_best_path else 0.8, zorder=2 if on_best_path else 1)
    axes.text(
        *passages[0], f"{printable(lattice.words[lattice.word[arc]])}\n{posterior:.2f}", ha="center", va="center",
        fontsize=_FONT, linespacing=1.0, fontweight="bold" if on_best_path else "normal", parse_math=False, zorder=3,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": color, "linewidth": 0.8},
    )  # fmt: skip
