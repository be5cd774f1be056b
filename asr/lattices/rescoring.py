"""Rescoring of a lattice with another grammar."""

from dataclasses import replace

import numpy as np

from asr.grammar.automaton import IMPOSSIBLE, Grammar
from asr.grammar.scoring import end_cost, step
from asr.lattices.lattice import Lattice
from asr.lattices.n_best import n_best
from asr.util.errors import GrammarError


def rescored(lattice: Lattice, grammar: Grammar, lm_scale: float | None = None) -> Lattice:
    """Return the lattice with the grammar's scores; nodes are split by the state of the grammar.

    The grammar's scores replace those of the search, with their pronunciation probabilities. Back-off is exact: it is
    not used for a listed n-gram. `lm_scale` applies to the new scores; the default is the
    lattice's own. Raises GrammarError if the grammar accepts no sentence of the lattice.
    """
    label = [grammar.labels.get(word, 0) for word in lattice.words]
    known: dict[tuple[int, int], tuple[float, int | None]] = {}
    numbers: list[dict[int, int]] = [{} for _ in range(lattice.n_nodes)]  # of every node, grammar state -> new node
    numbers[0][grammar.fst.start] = 0
    arcs: list[tuple[int, int, int, float]] = []  # old arc, new source and target, score
    final: list[tuple[int, int, float]] = []
    nodes: list[int] = []
    order: list[tuple[int, int]] = []
    for node in range(lattice.n_nodes):
        for state in numbers[node]:
            order.append((node, state))
            nodes.append(node)
            if lattice.final_score[node] > -np.inf:
                cost = end_cost(grammar, state)
                if cost < IMPOSSIBLE:
                    final.append((len(order) - 1, node, 0.0 - cost))
            for arc in range(int(lattice.arc_start[node]), int(lattice.arc_start[node + 1])):
                said = label[lattice.word[arc]]
                if said == 0:
                    continue
                if (state, said) not in known:
                    known[state, said] = step(grammar, state, said)
                cost, following = known[state, said]
                if following is not None and cost < IMPOSSIBLE:
                    numbers[lattice.target[arc]].setdefault(following, 0)
                    arcs.append((arc, len(order) - 1, following, 0.0 - cost))
    if not final:
        raise GrammarError(f"no sentence of the lattice is in the grammar {grammar.name!r}")
    number = {pair: index for index, pair in enumerate(order)}
    table = np.array([(arc, source) for arc, source, _, _ in arcs], np.int64).reshape(-1, 2)
    target = np.array([number[int(lattice.target[arc]), following] for arc, _, following, _ in arcs], np.int32)
    final_acoustic = np.full(len(order), -np.inf)
    final_grammar = np.full(len(order), -np.inf)
    for index, node, score in final:
        final_acoustic[index], final_grammar[index] = lattice.final_acoustic[node], score
    old = table[:, 0]
    new = replace(
        lattice,
        node_frame=lattice.node_frame[nodes],
        source=table[:, 1].astype(np.int32),
        target=target,
        word=lattice.word[old],
        begin=lattice.begin[old],
        acoustic=lattice.acoustic[old],
        grammar=np.array([score for _, _, _, score in arcs], np.float64),
        final_acoustic=final_acoustic,
        final_grammar=final_grammar,
        lm_scale=lattice.lm_scale if lm_scale is None else lm_scale,
        first=(),
    ).pruned(np.inf)
    best = n_best(new, 1)[0]
    return replace(new, first=tuple(new.words[word] for word in new.word[best.arcs]), beam=lattice.beam)
