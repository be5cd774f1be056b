"""Weighted automata with empty and ambiguous arcs made into ones with one arc a word (Mohri 1997, section 3.3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from asr.errors import GrammarError
from asr.grammar.automaton import IMPOSSIBLE, Arc

MOST_STEPS = 3_000_000
"""Arcs followed; where weights along two loops of the same words differ, there is no end."""
_STEPS_AN_ARC = 1000
_FEWEST_STEPS = 200_000
_DECIMALS = 6
"""Of costs; states whose costs differ by less are one, since automata have single precision."""

Costs = dict[int, float]


def determinize(name: str, arcs: Iterable[Arc], *, start: int, end: int) -> tuple[list[Arc], Mapping[int, float], int]:
    """The same sentences, each at the cost of its best path, with no empty arcs and at most one arc a word and state.

    A state stands for a set of the given ones, each with what is still owed on a path that goes on there. Of a set only
    the states with an arc of a word, and the end, are kept: so all words after which the same may follow lead to one
    state, and a loop over n words keeps n arcs.

    Parameters
    ----------
    name : str
        The source, for errors.
    arcs : iterable of Arc
        `word` None is an empty word. States that lead to no end are passed over.
    start, end : int

    Returns
    -------
    arcs : list of Arc
    final_costs : mapping from state to cost
        Empty where there is no sentence.
    n_states : int

    Raises
    ------
    GrammarError
        When empty words alone lead around in a circle, or the automaton would be too large.
    """
    arcs = list(arcs)
    spoken, empty = _by_source(arcs, _leads_to(arcs, end))
    rank, cycle = ranks_or_cycle(empty)
    if cycle:
        raise GrammarError(
            f"{name}: the nodes {' '.join(map(str, cycle[:10]))}{' ...' * (len(cycle) > 10)} lead around in a circle "
            "without a word; put a word between."
        )
    limit = min(MOST_STEPS, _FEWEST_STEPS + _STEPS_AN_ARC * len(arcs))
    steps = 0

    def closure(costs: Costs) -> Costs:
        """The states that empty words lead to, those kept that something follows."""
        nonlocal steps
        waiting = [(rank.get(state, 0), state) for state in costs]
        waiting.sort()
        while waiting:
            state = heappop(waiting)[1]
            for arc in empty.get(state, ()):
                steps += 1
                if arc.target not in costs:
                    heappush(waiting, (rank.get(arc.target, 0), arc.target))
                costs[arc.target] = min(costs.get(arc.target, IMPOSSIBLE), costs[state] + arc.cost)
        return {state: cost for state, cost in sorted(costs.items()) if state in spoken or state == end}

    def key(costs: Costs) -> tuple[tuple[int, float], ...]:
        return tuple((state, round(cost, _DECIMALS)) for state, cost in costs.items())

    subsets = [closure({start: 0.0})]
    numbers = {key(subsets[0]): 0}
    new: list[Arc] = []
    final_costs: Costs = {}
    for number, costs in enumerate(subsets):  # which grows
        if end in costs:
            final_costs[number] = costs[end]
        following: dict[str, Costs] = defaultdict(dict)
        for state, cost in costs.items():
            steps += 1
            for arc in spoken.get(state, ()):
                assert arc.word is not None
                steps += 1
                targets = following[arc.word]
                targets[arc.target] = min(targets.get(arc.target, IMPOSSIBLE), cost + arc.cost)
        for word, targets in sorted(following.items()):
            reached = closure(targets)
            paid = min(reached.values())
            owed = {state: cost - paid for state, cost in reached.items()}
            target = numbers.setdefault(key(owed), len(subsets))
            if target == len(subsets):
                subsets.append(owed)
            new.append(Arc(number, word, paid, target))
            if steps > limit:
                raise GrammarError(
                    f"{name}: has too many paths that say the same words to be made into an automaton with one arc a "
                    f"word: it has {len(subsets)} states and is not complete. A back-off network of many words is one; "
                    "give the ARPA file that it was made of (HLStats writes one, HBuild reads it) in its place, or an "
                    "n-gram of your text by asr.grammar.estimate_ngram and write_arpa."
                )
    return new, final_costs, len(subsets)


def _leads_to(arcs: list[Arc], end: int) -> set[int]:
    """The states with a path to `end`."""
    before: dict[int, list[int]] = defaultdict(list)
    for arc in arcs:
        before[arc.target].append(arc.source)
    found, waiting = {end}, [end]
    while waiting:
        for state in before[waiting.pop()]:
            if state not in found:
                found.add(state)
                waiting.append(state)
    return found


def _by_source(arcs: list[Arc], useful: set[int]) -> tuple[dict[int, list[Arc]], dict[int, list[Arc]]]:
    """Arcs of words and empty arcs, by the state that they leave."""
    spoken: dict[int, list[Arc]] = {}
    empty: dict[int, list[Arc]] = {}
    for arc in arcs:
        if arc.target in useful:
            (empty if arc.word is None else spoken).setdefault(arc.source, []).append(arc)
    return spoken, empty


def ranks_or_cycle(arcs: Mapping[int, Sequence[Arc]]) -> tuple[dict[int, int], list[int]]:
    """A rank for every state such that arcs lead upwards (Kahn 1962); or the states of a cycle, in its order.

    Parameters
    ----------
    arcs : mapping from state to the arcs that leave it
    """
    waiting_for: dict[int, int] = dict.fromkeys(arcs, 0)
    before: dict[int, list[int]] = defaultdict(list)
    for leaving in arcs.values():
        for arc in leaving:
            waiting_for[arc.target] = waiting_for.get(arc.target, 0) + 1
            before[arc.target].append(arc.source)
    ready = [state for state, n in waiting_for.items() if n == 0]
    for state in ready:  # which grows
        for arc in arcs.get(state, ()):
            waiting_for[arc.target] -= 1
            if waiting_for[arc.target] == 0:
                ready.append(arc.target)
    rank = {state: number for number, state in enumerate(ready)}
    if len(rank) == len(waiting_for):
        return rank, []
    # Each of the others has one of them before it: walking back, one comes by some state again.
    state = next(state for state in waiting_for if state not in rank)
    walked: dict[int, None] = {}
    while state not in walked:
        walked[state] = None
        state = next(source for source in before[state] if source not in rank)
    states = list(walked)
    return {}, states[states.index(state) :][::-1]
