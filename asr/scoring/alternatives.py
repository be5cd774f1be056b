"""References with alternatives and optional words, in the notation of NIST's sclite.

`{ A B / C / @ }` accepts any of its parts, `@` stands for nothing, and `(A)` is a word that may be absent.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from asr.util.errors import CorpusError

Pair = tuple[str | None, str | None]
"""Column of an alignment: (reference word, hypothesis word); None for a gap."""

MAX_NODES = 50_000
"""Maximum number of nodes of a reference, which take about a second to compare."""


@dataclass(frozen=True, slots=True)
class WordNetwork:
    """Reference with several readings: each path from the first node to the last is one.

    Attributes
    ----------
    arcs : tuple of (int, int, str)
        Start, end and word of each arc, sorted by end; "" means no word. Nodes are numbered from 0, and the end of an
        arc has a larger number than its start.
    """

    arcs: tuple[tuple[int, int, str], ...]

    def __iter__(self) -> Iterator[str]:
        """Return the words of all readings."""
        return (word for _, _, word in self.arcs if word)

    def __len__(self) -> int:
        """Return the number of nodes without the first."""
        return self.arcs[-1][1] if self.arcs else 0


Reference = Sequence[str] | WordNetwork
"""Words of a reference, or its network of readings."""


def mapped(reference: Reference, change: Callable[[str], str]) -> tuple[str, ...] | WordNetwork:
    """Return the reference with changed words; words that become "" are removed."""
    if isinstance(reference, WordNetwork):
        return WordNetwork(tuple((start, end, word and change(word)) for start, end, word in reference.arcs))
    return tuple(filter(None, map(change, reference)))


def parse_reference(words: Sequence[str], where: str) -> tuple[str, ...] | WordNetwork:
    """Parse alternatives and optional words; without them, return the words.

    Raises CorpusError, which begins with `where`, for braces that do not match, empty or single alternatives, braces
    inside words, and more than `MAX_NODES` nodes.
    """
    if not any(_is_mark(word) for word in words):
        return tuple(words)
    if len(words) > MAX_NODES:
        raise CorpusError(f"{where}: {len(words)} words with alternatives. Expected at most {MAX_NODES}")
    arcs: list[tuple[int, int, str]] = []
    open_groups: list[tuple[int, list[int]]] = []  # start node, ends of finished alternatives
    node = newest = 0
    for word in words:
        if word == "{":
            open_groups.append((node, []))
        elif open_groups and word in ("/", "}"):
            start, ends = open_groups[-1]
            if node == start:
                raise CorpusError(f"{where}: an alternative is empty. Expected words, or @ for nothing")
            ends.append(node)
            node = start
            if word == "}":
                if len(ends) < 2:
                    raise CorpusError(f"{where}: one alternative in braces. Expected at least two, as in '{{ A / B }}'")
                open_groups.pop()
                newest += 1
                node = newest
                arcs += [(end, node, "") for end in ends]
        elif word == "}" or (_is_mark(word) and not _is_optional(word) and word != "@"):
            raise CorpusError(f"{where}: the braces of {word[:80]!r} do not match. Expected '{{ A / B }}', with spaces")
        else:
            newest += 1
            arcs.append((node, newest, word.strip("()") if _is_optional(word) else "" if word == "@" else word))
            if _is_optional(word):
                arcs.append((node, newest, ""))
            node = newest
    if open_groups:
        raise CorpusError(f"{where}: a brace is not closed. Expected '{{ A / B }}'")
    return WordNetwork(tuple(arcs))


def align_network(network: WordNetwork, hypothesis: Sequence[str]) -> tuple[Pair, ...]:
    """Align the hypothesis with the reading that gives the fewest errors, then the most correct words.

    Time and memory are proportional to the numbers of nodes and hypothesis words.
    """
    incoming: list[list[tuple[int, str]]] = [[] for _ in range(len(network) + 1)]
    for start, end, word in network.arcs:
        incoming[end].append((start, word))
    heard = np.array(hypothesis, dtype=object)
    error = min(len(network), len(heard)) + 1  # cost of an error: more than all correct words gain
    steps = error * np.arange(len(heard) + 1, dtype=np.int32)
    costs = np.empty((len(incoming), len(steps)), np.int32)
    costs[0] = steps
    for node, arcs in enumerate(incoming[1:], 1):
        best = np.full(len(steps), np.iinfo(np.int32).max, np.int64)
        for start, word in arcs:
            row = costs[start].astype(np.int64)
            if word:
                moved = row[:-1] + np.where(heard == word, -1, error)
                row += error
                np.minimum(row[1:], moved, out=row[1:])
            np.minimum(best, row, out=best)
        costs[node] = np.minimum.accumulate(best - steps) + steps
    pairs: list[Pair] = []
    node, place = len(network), len(heard)
    while node or place:
        node, place, pair = _step_back(costs, incoming[node], hypothesis, error, node, place)
        if pair is not None:
            pairs.append(pair)
    return tuple(reversed(pairs))


def _step_back(
    costs: np.ndarray, arcs: Sequence[tuple[int, str]], hypothesis: Sequence[str], error: int, node: int, place: int
) -> tuple[int, int, Pair | None]:
    """Return the node and place before, and the aligned pair of the step; None for an arc without a word."""
    cost = costs[node, place]
    for start, word in arcs:
        if not word:
            if costs[start, place] == cost:
                return start, place, None
        elif place and costs[start, place - 1] + (-1 if hypothesis[place - 1] == word else error) == cost:
            return start, place - 1, (word, hypothesis[place - 1])
        elif costs[start, place] + error == cost:
            return start, place, (word, None)
    return node, place - 1, (None, hypothesis[place - 1])


def _is_mark(word: str) -> bool:
    return "{" in word or "}" in word or word == "@" or _is_optional(word)


def _is_optional(word: str) -> bool:
    return len(word) > 2 and word[0] == "(" and word[-1] == ")" and "(" not in word[1:] and ")" not in word[:-1]
