"""State-tying trees as indented text, or as a Graphviz graph."""

from collections.abc import Iterator

from asr.hmm.state_tying import BEGINS, LEFT, SIDES, StateTying
from asr.hmm.topology import SILENCE, Topology
from asr.util.errors import printable


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
