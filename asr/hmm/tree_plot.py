"""State-tying trees as a drawing, as indented text, or as a Graphviz graph."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from asr.hmm.state_tying import BEGINS, LEFT, SIDES, StateTying
from asr.hmm.topology import SILENCE, Topology
from asr.util.display import new_axes
from asr.util.errors import ConfigError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMN, _ROW = 2.1, 0.42  # inches for each level of questions, and for each tied state
_CHARACTERS, _LINES = 22, 3  # of a question
_FONT = 7.0


def tree_lines(topology: Topology) -> Iterator[str]:
    """Yield a summary, then every question with its indented answers, and the states."""
    tying = _tying(topology)
    asking = int((tying.node_question[tying.root] >= 0).sum())
    yield f"{asking} of {tying.root.size} trees have questions; {tying.n_states} states, including silence"
    for phone, roots in zip(topology.phones, tying.root.tolist(), strict=True):
        for position, root in enumerate(roots, start=1):
            yield f"{printable(phone)}, state {position}"
            yield from _lines(topology, tying, root, "  ")


def _lines(topology: Topology, tying: StateTying, root: int, indent: str) -> Iterator[str]:
    waiting = [(root, indent, "")]
    while waiting:
        node, indent, answer = waiting.pop()
        if tying.node_question[node] < 0:
            yield f"{indent}{answer}{printable(topology.state_name(int(tying.node_yes[node])))}"
            continue
        yield f"{indent}{answer}{question_text(topology, int(tying.node_question[node]))}"
        waiting.append((int(tying.node_no[node]), f"{indent}  ", "no: "))
        waiting.append((int(tying.node_yes[node]), f"{indent}  ", "yes: "))


def tree_graph(topology: Topology) -> Iterator[str]:
    """Yield the lines of a Graphviz file for `dot -Tsvg`."""
    tying = _tying(topology)
    yield "digraph states {"
    for phone, roots in zip(topology.phones, tying.root.tolist(), strict=True):
        for position, root in enumerate(roots, start=1):
            yield f"  p{root} [shape=box, label={_quoted(f'{phone}, state {position}')}];"
            yield f"  p{root} -> n{root};"
    for node, (question, yes, no) in enumerate(
        zip(tying.node_question.tolist(), tying.node_yes.tolist(), tying.node_no.tolist(), strict=True)
    ):
        text = topology.state_name(yes) if question < 0 else question_text(topology, question)
        yield f"  n{node} [label={_quoted(text)}];"
        if question >= 0:
            yield f'  n{node} -> n{yes} [label="yes"];'
            yield f'  n{node} -> n{no} [label="no"];'
    yield "}"


def question_text(topology: Topology, question: int) -> str:
    """Format a question: `before it: N M`, with `pause` for non-speech, or the excluded phones if they are fewer."""
    tying = _tying(topology)
    side = tying.question_side[question]
    if side >= BEGINS:
        return f"{SIDES[side]} a word"
    names = ["pause" if name == SILENCE else name for name in topology.phone_names[:-1]]
    yes = tying.question_phones[question]
    among, out = (
        [printable(name) for name, said in zip(names, yes, strict=True) if said == wanted] for wanted in (1, 0)
    )
    asked = " ".join(among) if len(among) <= len(out) else f"none of {' '.join(out)}"
    return f"{'before' if side == LEFT else 'after'} it: {asked}"


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tying(topology: Topology) -> StateTying:
    if topology.tying is None:
        raise ValueError("this topology has no trees, because its states do not depend on neighboring phones")
    return topology.tying


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
