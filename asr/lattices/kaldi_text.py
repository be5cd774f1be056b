"""Kaldi's text form of compact lattices, as `lattice-copy ark:in.lats ark,t:out` writes them.

An utterance is a line with its name, lines `source target word grammar,acoustic,frames` and, for final nodes, `node
grammar,acoustic,`, and an empty line. Scores are costs, negative natural logarithms, unscaled. Kaldi's third field has
the transition ids, one per frame, joined by `_`; here each is 1, so that Kaldi's tools find the times. The scores do
not include the word insertion penalty.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from asr.corpus.identifiers import fault_in_key
from asr.lattices.lattice import Lattice
from asr.lattices.networks import Network, NetworkLink, lattice_from, network_of
from asr.util.errors import CorpusError
from asr.util.files import atomic_write
from asr.util.text_lines import read_text_lines

EPSILON = "<eps>"
_WEIGHT = re.compile(r"(-?[0-9.]+(?:[eE][-+]?\d+)?),(-?[0-9.]+(?:[eE][-+]?\d+)?),([0-9_]*)", re.ASCII)
_MAX_SCORE = 1e12


def write_kaldi_lattices(path: Path | str, lattices: Mapping[str, Lattice]) -> None:
    """Write lattices by utterance; CorpusError for an invalid name."""
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for name, lattice in lattices.items():
            fault = fault_in_key(name)
            if fault is not None:
                raise CorpusError(f"{path}: {name!r} cannot be written to a lattice archive: it {fault}")
            network = network_of(lattice)
            stream.write(f"{name} \n")
            ends = sorted(network.final)
            lines = [(link.source, 0, link) for link in network.links] + [(node, 1, None) for node in ends]
            for node, _, link in sorted(lines, key=lambda line: line[:2]):
                if link is None:
                    acoustic, grammar = network.final[node]
                    n_frames = lattice.n_frames - network.frames[node]
                    stream.write(f"{node}\t{_weight(acoustic, grammar, n_frames)}\n")
                else:
                    n_frames = network.frames[link.target] - network.frames[link.source]
                    weight = _weight(link.acoustic, link.grammar, n_frames)
                    stream.write(f"{link.source}\t{link.target}\t{link.word or EPSILON}\t{weight}\n")
            stream.write("\n")


def _weight(acoustic: float, grammar: float, n_frames: int) -> str:
    return f"{0.0 - grammar:.9g},{0.0 - acoustic:.9g},{'_'.join(['1'] * n_frames)}"


def read_kaldi_lattices(
    path: Path | str, *, lm_scale: float = 1.0, insertion_penalty: float = 0.0
) -> Iterator[tuple[str, Lattice]]:
    """Yield utterance and lattice from a file of `write_kaldi_lattices`, which does not have scale and penalty.

    Raises CorpusError with file and line for a malformed file or a repeated utterance.
    """
    name: str | None = None
    begun = 0
    lines_of: dict[str, int] = {}
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate([*read_text_lines(path, CorpusError), ""], 1):
        fields = line.split()
        if name is None:
            if fields:
                if len(fields) != 1:
                    raise CorpusError(f"{path}:{number}: {line[:80]!r}. Expected only the id of an utterance")
                name, begun, rows = fields[0], number, []
                if name in lines_of:
                    raise CorpusError(f"{path}:{number}: {name[:80]!r} appears twice, first on line {lines_of[name]}")
                lines_of[name] = number
        elif fields:
            rows.append((number, fields))
        else:
            yield name, _parsed(path, begun, name, rows, lm_scale, insertion_penalty)
            name = None


def _parsed(
    path: Path | str,
    begun: int,
    name: str,
    rows: list[tuple[int, list[str]]],
    lm_scale: float,
    insertion_penalty: float,
) -> Lattice:
    links: list[tuple[NetworkLink, int]] = []
    final: dict[int, tuple[float, float]] = {}
    left: dict[int, int] = {}
    for number, fields in rows:
        weight = _WEIGHT.fullmatch(fields[-1])
        numbers = fields[: min(2, len(fields) - 1)]
        if len(fields) not in (2, 4) or weight is None or not all(one.isdecimal() and len(one) < 9 for one in numbers):
            raise CorpusError(
                f"{path}:{number}: not a link or an end. Expected 'source target word grammar,acoustic,frames' or "
                "'node grammar,acoustic,frames'"
            )
        try:
            grammar, acoustic = 0.0 - float(weight[1]), 0.0 - float(weight[2])
        except ValueError:
            raise CorpusError(f"{path}:{number}: {fields[-1][:80]!r} does not have two numbers") from None
        if not max(abs(grammar), abs(acoustic)) < _MAX_SCORE:
            raise CorpusError(f"{path}:{number}: {fields[-1][:80]!r}. Expected two numbers below {_MAX_SCORE:g}")
        n_frames = weight[3].count("_") + 1 if weight[3] else 0
        if len(fields) == 2:
            final[int(fields[0])], left[int(fields[0])] = (acoustic, grammar), n_frames
        else:
            word = None if fields[2] == EPSILON else fields[2]
            links.append((NetworkLink(int(fields[0]), int(fields[1]), word, acoustic, grammar), n_frames))
    where = f"{path}:{begun}: {name}"
    n_nodes = 1 + max([*final, *(link.target for link, _ in links)], default=-1)
    if n_nodes > len(links) + 1:
        raise CorpusError(f"{where}: has {n_nodes} nodes for {len(links)} links. Expected nodes numbered from 0")
    frames = [0] * n_nodes
    for link, n_frames in sorted(links, key=lambda one: one[0][:2]):
        if link.source < n_nodes:
            frames[link.target] = frames[link.source] + n_frames
    return lattice_from(
        Network(frames, [link for link, _ in links], final),
        n_frames=max((frames[node] + n_frames for node, n_frames in left.items()), default=0),
        lm_scale=lm_scale,
        insertion_penalty=insertion_penalty,
        fault=lambda reason: CorpusError(f"{where}: {reason}"),
    )
