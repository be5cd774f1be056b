"""Networks for lattice files: nodes with times, links with or without a word, one or several final nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from asr.lattices.lattice import Lattice
from asr.lattices.n_best import n_best
from asr.util.errors import AsrError


class NetworkLink(NamedTuple):
    """A link, without word for a pause or an end. Scores are natural logarithms."""

    source: int
    target: int
    word: str | None
    acoustic: float
    grammar: float


class Network(NamedTuple):
    """Frame of every node, links sorted by source and target, and final scores by node."""

    frames: Sequence[int]
    links: Sequence[NetworkLink]
    final: Mapping[int, tuple[float, float]]


def network_of(lattice: Lattice) -> Network:
    """Return the network of a lattice, with a link without a word for each pause between words."""
    late = lattice.begin > lattice.node_frame[lattice.source]
    pauses = sorted(set(zip(lattice.source[late].tolist(), lattice.begin[late].tolist(), strict=True)))
    # A pause's node comes after its source.
    order = sorted([(node, 0) for node in range(lattice.n_nodes)] + pauses)
    number = {place: index for index, place in enumerate(order)}
    frames = [int(lattice.node_frame[node]) if begin == 0 else begin for node, begin in order]
    links = [NetworkLink(number[node, 0], number[node, begin], None, 0.0, 0.0) for node, begin in pauses]
    columns = (lattice.source, lattice.target, lattice.begin, lattice.word, lattice.acoustic, lattice.grammar, late)
    for source, target, begin, word, acoustic, grammar, pause in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        first = number[source, begin if pause else 0]
        links.append(NetworkLink(first, number[target, 0], lattice.words[word], acoustic, grammar))
    ends = np.flatnonzero(lattice.final_score > -np.inf).tolist()
    final = {
        number[node, 0]: (float(lattice.final_acoustic[node]), float(lattice.final_grammar[node])) for node in ends
    }
    return Network(frames, sorted(links, key=lambda link: link[:2]), final)


def lattice_from(
    network: Network,
    *,
    n_frames: int,
    lm_scale: float,
    insertion_penalty: float,
    fault: Callable[[str], AsrError],
) -> Lattice:
    """Return the lattice of a network in the form of `network_of`.

    Raises the error made by `fault` for a network without nodes, a link to a lower node or back in time, or a link
    without a word that is not a pause.
    """
    if not network.frames:
        raise fault("has no nodes. Expected at least one")
    into: dict[int, list[NetworkLink]] = {}
    for link in network.links:
        if not 0 <= link.source < link.target < len(network.frames):
            raise fault(f"the link from node {link.source} to node {link.target} does not lead to a higher node")
        if network.frames[link.source] > network.frames[link.target]:
            raise fault(f"the link from node {link.source} to node {link.target} leads back in time")
        into.setdefault(link.target, []).append(link)
    before: dict[int, int] = {}
    for link in network.links:
        if link.word is None:
            if len(into[link.target]) > 1 or (link.acoustic, link.grammar) != (0.0, 0.0) or link.source in before:
                raise fault(
                    f"the link from node {link.source} to node {link.target} has no word, which is only supported "
                    "for pauses in this program's format"
                )
            before[link.target] = link.source
    kept = [node for node in range(len(network.frames)) if node not in before]
    number = {node: index for index, node in enumerate(kept)}
    spoken = sorted(
        (number[before.get(link.source, link.source)], number[link.target], network.frames[link.source], *link[2:])
        for link in network.links
        if link.word is not None
    )
    words = tuple(sorted({str(link[3]) for link in spoken}))
    index = {word: place for place, word in enumerate(words)}
    final = np.full((len(kept), 2), -np.inf)
    for node, scores in network.final.items():
        if node not in number:
            raise fault(f"node {node} leads to the end, but no word ends there")
        final[number[node]] = scores
    lattice = Lattice(
        words=words,
        node_frame=np.array([network.frames[node] for node in kept], np.int32),
        source=np.array([link[0] for link in spoken], np.int32),
        target=np.array([link[1] for link in spoken], np.int32),
        word=np.array([index[str(link[3])] for link in spoken], np.int32),
        begin=np.array([link[2] for link in spoken], np.int32),
        acoustic=np.array([link[4] for link in spoken], np.float64),
        grammar=np.array([link[5] for link in spoken], np.float64),
        final_acoustic=final[:, 0],
        final_grammar=final[:, 1],
        n_frames=n_frames,
        lm_scale=lm_scale,
        insertion_penalty=insertion_penalty,
        beam=np.inf,
        first=(),
    )
    if not np.isfinite(lattice.best_score):
        raise fault("no path leads from the first node to an end")
    best = n_best(lattice, 1)[0]
    object.__setattr__(lattice, "first", tuple(words[word] for word in lattice.word[best.arcs]))
    return lattice
