"""Drawing of a state-tying tree."""

import textwrap
from typing import TYPE_CHECKING, Any

from asr.hmm.topology import Topology
from asr.hmm.tree_text import question_text
from asr.util.display import new_axes
from asr.util.errors import ConfigError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMN, _ROW = 2.1, 0.42  # inches for each level of questions, and for each tied state
_CHARACTERS, _LINES = 22, 3  # of a question
_FONT = 7.0


def draw_tree(topology: Topology, phone: str, state: int, ax: "Axes | None" = None) -> "Axes":
    """Draw the tree of a phone's state, numbered from 1, with its root on the left; see `DescribedModel.plot_tree`.

    Raises ConfigError for an unknown phone or state, or a topology without trees.
    """
    tying = topology.tying
    if tying is None:
        raise ConfigError("the model has no decision trees. Use a model trained with context = 3")
    if phone not in topology.phones:
        raise ConfigError(f"phone={phone!r} has no trees. Expected one of {' '.join(topology.phones)}")
    if not 1 <= state <= topology.states_per_phone:
        raise ConfigError(f"state={state}. Expected a number from 1 to {topology.states_per_phone}")
    root = int(tying.root[topology.number(phone) - 1, state - 1])
    places: dict[int, tuple[int, float]] = {}  # level and row of every node
    n_leaves = 0

    def place(node: int, level: int) -> float:
        nonlocal n_leaves
        if tying.node_question[node] < 0:
            row, n_leaves = float(n_leaves), n_leaves + 1
        else:
            row = sum(place(int(child[node]), level + 1) for child in (tying.node_yes, tying.node_no)) / 2
        places[node] = level, row
        return row

    place(root, 0)
    deepest = max(level for level, _ in places.values())
    axes = new_axes(_COLUMN * (deepest + 1), max(1.2, 0.5 + _ROW * n_leaves)) if ax is None else ax
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": _FONT, "parse_math": False}
    for node, (level, row) in places.items():
        question = int(tying.node_question[node])
        if question < 0:
            text, color = printable(topology.state_name(int(tying.node_yes[node]))), "#cfe3f5"
        else:
            asked = textwrap.wrap(question_text(topology, question), _CHARACTERS, max_lines=_LINES, placeholder=" ...")
            text, color = "\n".join(asked), "#eeeeee"
            for answer, child in (("yes", int(tying.node_yes[node])), ("no", int(tying.node_no[node]))):
                below, child_row = places[child]
                axes.plot([level, below], [row, child_row], color="0.5", linewidth=0.8, zorder=1)
                shown = {**style, "color": "#1a6b1a" if answer == "yes" else "#a02020"}
                axes.text(
                    level + 0.62, row + 0.62 * (child_row - row), answer, **shown,
                    bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
                )  # fmt: skip
        axes.text(level, row, text, **style, bbox={"boxstyle": "round", "facecolor": color, "edgecolor": "0.5"})
    axes.set_axis_off()
    axes.set(xlim=(-0.5, deepest + 0.5), ylim=(n_leaves - 0.4, -0.6))
    axes.set_title(f"{printable(phone)}, state {state}", parse_math=False)
    return axes
