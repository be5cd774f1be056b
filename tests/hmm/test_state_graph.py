import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.hmm.state_graph import NO_WORD, StateGraphBuilder

edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@given(edges, edges)
def test_arcs_and_jumps_are_found_at_their_start_node(arcs, jumps):
    builder = StateGraphBuilder(["w"])
    for _ in range(6):
        builder.node()
    for number, (start, end) in enumerate(arcs):
        builder.chain(start, end, [number], weight=-number, word=number % 2 - 1, begins_word=number % 2 == 1)
    for number, (start, end) in enumerate(jumps):
        builder.jump(start, end, weight=-number)
    graph = builder.build(0)
    found_arcs = [
        (start, int(graph.arc_end[arc]), int(graph.arc_unit[arc]))
        for start in range(6)
        for arc in range(graph.arc_start[start], graph.arc_start[start + 1])
    ]
    assert sorted(found_arcs, key=lambda arc: arc[2]) == [(*edge, number) for number, edge in enumerate(arcs)]
    np.testing.assert_array_equal(graph.arc_weight, -graph.arc_unit)
    np.testing.assert_array_equal(graph.arc_word, graph.arc_unit % 2 - 1)
    np.testing.assert_array_equal(graph.arc_begins_word, graph.arc_unit % 2 == 1)
    found_jumps = [
        (start, int(graph.jump_end[jump]), int(-graph.jump_weight[jump]))
        for start in range(6)
        for jump in range(graph.jump_start[start], graph.jump_start[start + 1])
    ]
    assert sorted(found_jumps, key=lambda jump: jump[2]) == [(*edge, number) for number, edge in enumerate(jumps)]
    assert (graph.jump_word == NO_WORD).all()


@given(edges, edges)
def test_a_topological_order_leads_forward_and_cycles_are_refused(arcs, jumps):
    builder = StateGraphBuilder([])
    for _ in range(6):
        builder.node()
    for start, end in arcs:
        builder.chain(start, end, [0])
    for start, end in jumps:
        builder.jump(start, end)
    reach = np.zeros((6, 6), bool)
    for start, end in (*arcs, *jumps):
        reach[start, end] = True
    for _ in range(6):
        reach |= reach @ reach
    graph = builder.build(0)
    if reach.diagonal().any():
        with pytest.raises(ValueError, match="cycle"):
            graph.topological_order()
        return
    order = graph.topological_order().tolist()
    assert sorted(order) == list(range(6))
    assert all(order.index(start) < order.index(end) for start, end in (*arcs, *jumps))


def test_a_chain_has_weight_and_word_on_its_first_arc():
    builder = StateGraphBuilder(["w"])
    start, end = builder.node(), builder.node()
    builder.chain(start, end, [4, 5, 6], weight=-1.5, word=0, begins_word=True)
    builder.finish(end, -0.5)
    graph = builder.build(start)
    assert (graph.n_nodes, graph.n_arcs) == (4, 3)
    order = np.argsort(graph.arc_unit)
    assert graph.arc_weight[order].tolist() == [-1.5, 0.0, 0.0]
    assert graph.arc_word[order].tolist() == [0, NO_WORD, NO_WORD]
    assert graph.arc_begins_word[order].tolist() == [True, False, False]
    assert graph.final_weight.tolist() == [-np.inf, -0.5, -np.inf, -np.inf]
