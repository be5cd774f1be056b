"""Word networks in HTK's standard lattice format (HTK Book 3.4, chapter 20), as HParse and HBuild write them.

VERSION=1.0
N=4 L=4
I=0 W=!NULL
I=1 W=YES
I=2 W=NO
I=3 W=!NULL
J=0 S=0 E=1 l=-0.69
J=1 S=0 E=2 l=-0.69
J=2 S=1 E=3
J=3 S=2 E=3
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from asr.grammar.automaton import MAX_COST, Arc, Grammar
from asr.grammar.network import NULL, network_grammar, some
from asr.util.errors import GrammarError
from asr.util.files import atomic_write
from asr.util.htk_strings import read_htk_string, write_htk_string
from asr.util.text_lines import read_text_lines

LOG_ZERO = -0.5e10
"""HTK treats log probabilities up to this as impossible."""
_LONG_NAMES = {"VERSION": "V", "UTTERANCE": "U", "SUBLAT": "S", "NODES": "N", "LINKS": "L", "WORD": "W", "START": "S",
               "END": "E", "language": "l"}  # fmt: skip
_FIRST_LINE = re.compile(
    r"(VERSION|V|UTTERANCE|U|SUBLAT|S|NODES|N|LINKS|L|base|start|end|dir|[at]cscale|tscale|lmscale|wdpenalty|lmname|"
    r"lmpen|vocab|hmms)="
)
_FIELD = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*)=")
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class Link:
    """A link of a word network: its line, its ends, its own word or None, and its cost, -ln p (may be inf)."""

    line: int
    source: int
    target: int
    word: str | None
    cost: float


@dataclass
class WordNetwork:
    """Contents of a file: the word of each node (`!NULL` for none), the links, the first and last node."""

    source: str
    nodes: dict[int, str] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    start: int = 0
    end: int = 0


def is_slf(lines: Iterable[str]) -> bool:
    """Return whether the first line, after blank lines and comments (`#`), is a header of a lattice."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return _FIRST_LINE.match(first.strip()) is not None


def read_slf(path: Path | str) -> WordNetwork:
    """Read a word network, plain or gzip-compressed.

    The header fields `base`, `start` and `end` are used; scales and penalties (`lmscale`, `wdpenalty`) are ignored, as
    in HVite. Of a link `S`, `E`, `W` and `l` are used; times, acoustic scores and other fields are ignored.

    Raises GrammarError with file and line for a malformed line, a node or link that is unnumbered, repeated or
    incomplete, counts that differ from `N` and `L`, a sub-lattice, a backward lattice, words on both links and nodes,
    or several first or last nodes.

    Parameters
    ----------
    path : path
        HTK lattice file.

    Returns
    -------
    WordNetwork
        The nodes and links, for `slf_grammar`.

    Examples
    --------
    >>> from asr.grammar import read_slf, slf_grammar, word_string, write_slf
    >>> write_slf(word_string(["NO", "YES"], 2), "network.slf")
    >>> len(read_slf("network.slf").links) > 0
    True
    """
    return parse_slf(read_text_lines(path, GrammarError), str(path))


def parse_slf(lines: Iterable[str], source: str) -> WordNetwork:
    """Parse lines of text as `read_slf` does; `source` is used in errors."""
    network = WordNetwork(source)
    given: dict[str, int] = {}
    sized = source
    link_lines: dict[int, int] = {}
    base = math.e
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{source}, line {number}"
        fields = slf_fields(line, where)
        if "I" in fields:
            node = _integer(fields, "I", where)
            if "L" in fields:
                raise _sub_lattice(where, fields["L"])
            if node in network.nodes:
                raise GrammarError(f"{where}: node {node} appears twice. Expected each node once, numbered from 0.")
            network.nodes[node] = fields.get("W", NULL)
        elif "J" in fields:
            link = _integer(fields, "J", where)
            if link in link_lines:
                raise GrammarError(f"{where}: link {link} appears twice, first on line {link_lines[link]}.")
            link_lines[link] = number
            first, last = _integer(fields, "S", where), _integer(fields, "E", where)
            network.links.append(Link(number, first, last, fields.get("W"), _cost(fields.get("l"), base, where)))
        elif link_lines or network.nodes:
            raise GrammarError(
                f"{where}: {line.strip()!r} is not a node or link. Expected I= (a node) or J= (a link) first."
            )
        else:
            if "S" in fields:
                raise _sub_lattice(where, fields["S"])
            if fields.get("dir", "f") != "f":
                raise GrammarError(
                    f"{where}: dir={fields['dir']} is not supported. Expected a forward network (dir=f)."
                )
            if "base" in fields:
                base = _float(fields["base"], "base", where)
                if base != 0 and not base > 1:
                    raise GrammarError(
                        f"{where}: base={fields['base']}. Expected 0 (no logarithms) or a number above 1."
                    )
            sized = where if "N" in fields or "L" in fields else sized
            given |= {name: _integer(fields, name, where) for name in ("start", "end", "N", "L") if name in fields}
    _check(network, given.get("N"), given.get("L"), sized)
    network.start = _only_end(network, "start", given.get("start"))
    network.end = _only_end(network, "end", given.get("end"))
    return network


def slf_grammar(network: WordNetwork, vocabulary: Iterable[str] | None = None) -> Grammar:
    """Build the automaton of a word network; a sentence has the cost of its best path, as in HVite.

    A link without `l` has cost 0. A network without any thus gives all sentences the weight 1, as in HVite: it states
    what is possible, not how likely it is. Word pairs, in contrast, are equally likely. `vocabulary` and errors are as
    in `network_grammar`.

    Parameters
    ----------
    network : WordNetwork
        Result of `read_slf`.
    vocabulary : iterable of str, optional
        Words that may be recognized; all words of the network by default.

    Returns
    -------
    Grammar
        The automaton.

    Examples
    --------
    >>> from asr.grammar import read_slf, slf_grammar, word_string, write_slf
    >>> write_slf(word_string(["NO", "YES"], 2), "network.slf")
    >>> slf_grammar(read_slf("network.slf")).words
    ('NO', 'YES')
    """
    before = max(network.nodes) + 1  # a node from which the first word leads to the first node
    arcs = [Arc(before, network.nodes[network.start], 0.0, network.start)]
    arcs += [
        Arc(link.source, network.nodes[link.target] if link.word is None else link.word, link.cost, link.target)
        for link in network.links
        if link.cost < math.inf
    ]
    return network_grammar(network.source, arcs, start=before, end=network.end, vocabulary=vocabulary)


def write_slf(grammar: Grammar, path: Path | str) -> None:
    """Write a grammar as a word network with words on nodes; back-off arcs become epsilons.

    Sentence costs are the same when read back, except if a model backs off: then the better path counts.

    Parameters
    ----------
    grammar : Grammar
        The automaton.
    path : path
        File to write.

    Examples
    --------
    >>> from asr.grammar import read_slf, slf_grammar, word_string, write_slf
    >>> write_slf(word_string(["NO", "YES"], 2), "network.slf")
    """
    states = range(grammar.fst.num_states)
    words = {0: NULL, grammar.back_off_label: NULL} | dict(enumerate(grammar.words, 1))
    ends = sorted({(label, target) for state in states for label, (target, _) in grammar.arcs[state].items()})
    node_of = {end: number for number, end in enumerate(ends, len(states))}
    n_nodes = len(states) + len(ends) + 2
    links = [(n_nodes - 2, grammar.fst.start, 0.0)]
    links += [(node, target, 0.0) for (_, target), node in node_of.items()]
    for state in states:
        links += [
            (state, node_of[label, target], cost) for label, (target, cost) in sorted(grammar.arcs[state].items())
        ]
        if grammar.final_costs[state] < math.inf:
            links.append((state, n_nodes - 1, grammar.final_costs[state]))
    labels = [*(0 for _ in states), *(label for label, _ in ends), 0, 0]
    lines = ["VERSION=1.0", f"start={n_nodes - 2} end={n_nodes - 1}", f"N={n_nodes} L={len(links)}"]
    lines += [f"I={number} W={write_htk_string(words[label])}" for number, label in enumerate(labels)]
    lines += [f"J={number} S={first} E={last} l={0.0 - cost:.9g}" for number, (first, last, cost) in enumerate(links)]
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def slf_fields(line: str, where: str) -> dict[str, str]:
    """Return the fields `name=value` of a line by short name; GrammarError, beginning with `where`, if malformed."""
    fields: dict[str, str] = {}
    position, line = 0, line.rstrip()
    while position < len(line):
        match = _FIELD.match(line, position)
        if match is None:
            raise GrammarError(f"{where}: {line[position:].strip()[:80]!r} is not a field. Expected name=value.")
        name = _LONG_NAMES.get(match[1], match[1])
        try:
            value, position = read_htk_string(line, match.end())
        except ValueError as problem:
            raise GrammarError(f"{where}: the value of {match[1]}: {problem}.") from None
        if name in fields:
            raise GrammarError(f"{where}: the field {match[1]} appears twice.")
        fields[name] = value
    return fields


def _integer(fields: dict[str, str], name: str, where: str) -> int:
    value = fields.get(name)
    if value is None:
        raise GrammarError(f"{where}: the field {name}= is missing.")
    if _NUMBER.fullmatch(value) is None:
        raise GrammarError(f"{where}: {name}={value[:80]}. Expected a whole number of at most nine digits.")
    return int(value)


def _float(value: str, name: str, where: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GrammarError(f"{where}: {name}={value[:80]}. Expected a number.")
    return number


def _cost(value: str | None, base: float, where: str) -> float:
    """Return -ln p for a log probability to `base` (a probability if base is 0); 0 if not given."""
    if value is None:
        return 0.0
    number = _float(value, "l", where)
    if base == 0:
        if number < 0:
            raise GrammarError(f"{where}: l={value[:80]}. Expected a probability of at least 0, because base=0.")
        return -math.log(number) if number else math.inf
    if number <= LOG_ZERO:
        return math.inf
    cost = 0.0 - number * math.log(base)
    if not abs(cost) <= MAX_COST:
        raise GrammarError(f"{where}: l={value[:80]}. Expected at most {MAX_COST:g} in natural logarithms.")
    return cost


def _check(network: WordNetwork, n_nodes: int | None, n_links: int | None, sized: str) -> None:
    """Check the numbers of nodes and links, the links' nodes, and that words are on nodes or on links."""
    if n_nodes is None or n_links is None:
        raise GrammarError(f"{network.source} has no line 'N=.. L=..' with the numbers of nodes and links.")
    if not network.nodes:  # they may be left out
        network.nodes |= {node: NULL for link in network.links for node in (link.source, link.target)}
    for kind, said, found in (("nodes", n_nodes, len(network.nodes)), ("links", n_links, len(network.links))):
        if said != found:
            raise GrammarError(f"{sized}: the header has {said} {kind}, but the file has {found}.")
    if not network.nodes:
        raise GrammarError(f"{network.source} has no nodes. Expected at least one.")
    labelled = next((node for node, word in network.nodes.items() if word != NULL), None)
    for link in network.links:
        for node in (link.source, link.target):
            if node not in network.nodes:
                raise GrammarError(
                    f"{network.source}, line {link.line}: node {node} does not exist (no line I={node})."
                )
        if link.word is not None and labelled is not None:
            raise GrammarError(
                f"{network.source}, line {link.line}: the link has the word {link.word!r}, and node {labelled} "
                f"has the word {network.nodes[labelled]!r}. Expected words on links or on nodes, not on both."
            )


def _only_end(network: WordNetwork, name: str, given: int | None) -> int:
    """Return the given first or last node, or the only one without incoming or outgoing links."""
    if given is not None:
        if given not in network.nodes:
            raise GrammarError(f"{network.source}: the header has {name}={given}, but this node does not exist.")
        return given
    inner = {link.target if name == "start" else link.source for link in network.links}
    found = sorted(set(network.nodes) - inner)
    if len(found) != 1:
        to = "without incoming links" if name == "start" else "without outgoing links"
        message = f"found {some(found)}" if found else "found none"
        raise GrammarError(
            f"{network.source}: expected one node {to} as the {name}, but {message}. Use {name}= in the header."
        )
    return found[0]


def _sub_lattice(where: str, name: str) -> GrammarError:
    return GrammarError(
        f"{where}: sub-lattices ({name!r}) are not supported. Run HParse on the grammar to expand them."
    )
