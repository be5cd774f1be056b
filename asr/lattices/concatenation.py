"""Lattices of the pieces of a long recording as one lattice."""

from collections.abc import Sequence

import numpy as np

from asr.lattices.lattice import Lattice

_Ends = list[tuple[int, float, float]]  # final nodes with acoustic and grammar scores


def concatenated(parts: Sequence[tuple[int, Lattice]], n_frames: int) -> Lattice:
    """Join lattices in order of time, each with its first frame in a recording of `n_frames`.

    Every sentence of a lattice may be followed by every sentence of the next. A word after a border has the final
    scores of the earlier lattice in addition to its own. A word sequence occurs several times if it can be divided in
    several ways. The lattice of a whole recording is returned unchanged.
    """
    if len(parts) == 1 and parts[0][0] == 0 and parts[0][1].n_frames == n_frames:
        return parts[0][1]
    words = tuple(sorted({word for _, lattice in parts for word in lattice.words}))
    number = {word: place for place, word in enumerate(words)}
    frames: list[np.ndarray] = [np.zeros(1, np.int32)]
    arcs: list[np.ndarray] = []  # rows of source, target, word, begin, acoustic, grammar
    ends: _Ends = [(0, 0.0, 0.0)]
    n_nodes = 1
    for first, lattice in parts:
        own = np.array([number[word] for word in lattice.words])[lattice.word] if lattice.n_arcs else lattice.word
        rows = np.stack(
            [
                lattice.source + n_nodes - 1, lattice.target + n_nodes - 1, own, lattice.begin + first,
                lattice.acoustic, lattice.grammar,
            ],
            axis=1,
        ).astype(np.float64)  # fmt: skip
        inner = lattice.source > 0
        for node, acoustic, grammar in ends:
            entering = rows[~inner].copy()
            entering[:, 0] = node
            entering[:, 4:] += acoustic, grammar
            arcs.append(entering)
        arcs.append(rows[inner])
        frames.append(lattice.node_frame[1:] + first)
        ends = _following(ends, lattice, n_nodes - 1)
        n_nodes += lattice.n_nodes - 1
    table = np.concatenate(arcs)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    final = np.full((n_nodes, 2), -np.inf)
    for node, *scores in ends:
        final[node] = scores
    any_state = [(first, lattice.any_state) for first, lattice in parts]
    template = parts[0][1]
    return Lattice(
        words=words,
        node_frame=np.concatenate(frames).astype(np.int32),
        source=table[:, 0].astype(np.int32),
        target=table[:, 1].astype(np.int32),
        word=table[:, 2].astype(np.int32),
        begin=table[:, 3].astype(np.int32),
        acoustic=table[:, 4].copy(),
        grammar=table[:, 5].copy(),
        final_acoustic=final[:, 0].copy(),
        final_grammar=final[:, 1].copy(),
        n_frames=n_frames,
        lm_scale=template.lm_scale,
        insertion_penalty=template.insertion_penalty,
        beam=min(lattice.beam for _, lattice in parts),
        first=tuple(word for _, lattice in parts for word in lattice.first),
        any_state=_filled(any_state, n_frames),
    )


def _following(ends: _Ends, lattice: Lattice, offset: int) -> _Ends:
    """Return the ends after one more lattice; a lattice that accepts no words leaves the earlier ends too."""
    final = np.flatnonzero(lattice.final_score > -np.inf)
    found: _Ends = [
        (int(node) + offset, float(lattice.final_acoustic[node]), float(lattice.final_grammar[node]))
        for node in final
        if node
    ]
    if len(final) and final[0] == 0:
        found += [
            (node, acoustic + float(lattice.final_acoustic[0]), grammar + float(lattice.final_grammar[0]))
            for node, acoustic, grammar in ends
        ]
    return found


def _filled(parts: Sequence[tuple[int, np.ndarray | None]], n_frames: int) -> np.ndarray | None:
    """Return the values of all frames, 0 outside the parts; None if a part has none."""
    found = np.zeros(n_frames)
    for first, values in parts:
        if values is None:
            return None
        found[first : first + len(values)] = values
    return found
