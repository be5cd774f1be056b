"""Determinization of weighted automata with epsilons to one arc per word and state (Mohri 1997, section 3.3).

A back-off network has a state with all words, to which epsilon arcs lead from nearly all others. Without epsilons every
state would have an arc for every word. Such a state is kept, and the epsilon arcs to it become back-off arcs.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple, NoReturn

from asr.grammar.automaton import IMPOSSIBLE, Arc
from asr.util.errors import GrammarError

MIN_STEPS = 1_200_000
"""Limit on followed arcs for small automata. Loops of the same words with different weights never end; n optional words
in sequence take n * n steps."""
STEPS_AN_ARC = 8
"""Additional limit per given arc, for large networks with few epsilon arcs."""
_DECIMALS = 6
"""Rounding of costs when states are compared, because automata have single precision."""
_MIN_SAVED = 10_000
"""Number of word arcs that a shared state must save to be kept."""
_MANY = 1 << 40  # upper limit of word counts

Costs = dict[int, float]


def determinize(
    name: str, arcs: Iterable[Arc], *, start: int, end: int, back_off: bool = True
) -> tuple[list[Arc], Mapping[int, float], int]:
    """Return an automaton for the same sentences and best costs, with at most one arc per word and state.

    A state is a set of given states, each with its residual cost. Only states with word arcs and the end are kept in
    the set. So all words with the same continuations lead to one state, and a loop over n words keeps n arcs.

    Epsilon arcs are removed, except for at most one per state (`word` None), to a state that many share and that has
    many words. Sentence costs are the same whether it is read as back-off (without an arc for the next word) or as an
    epsilon, because word arcs have the cost of the better path. Raises GrammarError if there is a cycle of epsilons, or
    the automaton would be too large.

    Parameters
    ----------
    name : str
        The source, for errors.
    arcs : iterable of Arc
        `word` None is an epsilon. States that cannot reach the end are ignored.
    start, end : int
    back_off : bool
        Whether back-off arcs may be made; False if the automaton already has them as words.

    Returns
    -------
    arcs : list of Arc
    final_costs : mapping from state to cost
        Empty without sentences.
    n_states : int
    """
    arcs = list(arcs)
    spoken, empty = _by_source(arcs, _leads_to(arcs, end))
    rank, cycle = ranks_or_cycle(empty)
    if cycle:
        raise GrammarError(
            f"{name}: the nodes {' '.join(map(str, cycle[:10]))}{' ...' * (len(cycle) > 10)} are a cycle without "
            "a word. Expected a word in every cycle."
        )
    subsets: list[_Subset] = []

    def refuse() -> NoReturn:
        raise GrammarError(
            f"{name}: the network has too many paths with equal words or without words to make it deterministic "
            f"({len(subsets)} states so far). Expected few optional expressions or empty words in a row. If the "
            "network was made from an n-gram, use the n-gram's ARPA file (HLStats writes one, HBuild reads it), "
            "or estimate one from your text with asr.grammar.estimate_ngram and write_arpa."
        )

    ways = _EpsilonPaths(spoken, empty, rank, end, back_off, _Steps(MIN_STEPS + STEPS_AN_ARC * len(arcs), refuse))
    numbers: dict[tuple[int | None, tuple[tuple[int, float], ...]], int] = {}

    def number_of(subset: _Subset) -> int:
        key = subset.shared, tuple((state, round(cost, _DECIMALS)) for state, cost in subset.costs.items())
        number = numbers.setdefault(key, len(subsets))
        if number == len(subsets):
            subsets.append(subset)
        return number

    reached: dict[tuple[tuple[int, float], ...] | int, tuple[int, float]] = {}

    def behind_word(targets: Costs) -> tuple[int, float]:
        """Return the number of the subset after a word, and the cost of the best path there."""
        least = min(targets.values())
        relative = {state: cost - least for state, cost in sorted(targets.items())}
        key = tuple(relative.items()) if len(relative) > 1 else next(iter(relative))
        if key not in reached:
            found = ways.closure(relative)
            paid = min(found.costs.values())
            left = {state: cost - paid for state, cost in found.costs.items()}
            reached[key] = number_of(_Subset(left, found.shared)), paid
        number, paid = reached[key]
        return number, least + paid

    number_of(ways.closure({start: 0.0}))
    new: list[Arc] = []
    final_costs: Costs = {}
    for number, (costs, shared) in enumerate(subsets):  # subsets grows
        following: dict[str, Costs] = defaultdict(dict)
        for state, cost in costs.items():
            ways.steps.add(1)
            if state != shared:
                ways.say(following, spoken.get(state, ()), cost)
        ending = costs.get(end, IMPOSSIBLE)
        if shared is not None:
            words, ends = list(following), ending < IMPOSSIBLE
            for behind, owed in ways.backing_off(shared, costs[shared]):
                for word in words:
                    ways.say(following, behind.words.get(word, ()), owed)
                if ends:
                    ending = min(ending, owed + behind.ending)
            new.append(Arc(number, None, costs[shared], number_of(ways.closure({shared: 0.0}))))
        if ending < IMPOSSIBLE:
            final_costs[number] = ending
        for word, targets in sorted(following.items()):
            ways.steps.add(len(targets) + 3)  # the arc is made, sorted and checked
            target, paid = behind_word(targets)
            new.append(Arc(number, word, paid, target))
    return new, final_costs, len(subsets)


class _Subset(NamedTuple):
    """Given states with residual costs; a back-off arc leads to `shared`."""

    costs: Costs
    shared: int | None


class _StateClosure(NamedTuple):
    """Continuations of a shared state: word arcs including earlier epsilons, the final cost, and its subset."""

    words: Mapping[str, Sequence[Arc]]
    ending: float
    subset: _Subset


class _Steps:
    """Counts the arcs followed; calls `refuse` above `most`."""

    def __init__(self, most: int, refuse: Callable[[], NoReturn]) -> None:
        self._left = most
        self._refuse = refuse

    def add(self, n: int) -> None:
        self._left -= n
        if self._left < 0:
            self._refuse()


class _EpsilonPaths:
    """Targets of words and epsilons; `steps` counts the arcs followed."""

    def __init__(
        self,
        spoken: Mapping[int, list[Arc]],
        empty: Mapping[int, list[Arc]],
        rank: Mapping[int, int],
        end: int,
        back_off: bool,
        steps: _Steps,
    ) -> None:
        self._spoken, self._empty, self._rank, self._end = spoken, empty, rank, end
        self.steps = steps
        self._behind: dict[int, _StateClosure] = {}
        entries = Counter(arc.target for leaving in empty.values() for arc in leaving)
        n_words = self._words_after()
        self._n_words = {  # of the states that may be shared
            state: n_words[state] for state, n in entries.items() if back_off and n * n_words[state] > _MIN_SAVED
        }

    def _words_after(self) -> dict[int, int]:
        """Estimate the number of word arcs after every state and its epsilons."""
        states = {arc.target for leaving in self._empty.values() for arc in leaving} | set(self._empty)
        found = {state: len(self._spoken.get(state, ())) for state in states}
        for state in sorted(self._empty, key=lambda state: self._rank[state], reverse=True):
            found[state] = min(_MANY, found[state] + sum(found[arc.target] for arc in self._empty[state]))
        return found

    def closure(self, costs: Costs) -> _Subset:
        """Return the states that epsilons lead to and that have continuations.

        Paths end at a state that may be shared, unless it is the only one or another shared state has more words.
        """
        opened: set[int] = set()
        while True:
            found = self._reached(costs, opened)
            shared = [state for state in found if state in self._n_words and state not in opened]
            if len(shared) <= 1 < len(found) or not shared:
                return _Subset(found, shared[0] if shared else None)
            opened.add(min(shared, key=lambda state: (self._n_words[state], state)))

    def _reached(self, start: Costs, opened: Container[int]) -> Costs:
        costs = dict(start)
        waiting = [(self._rank.get(state, 0), state) for state in costs]
        waiting.sort()
        while waiting:
            state = heappop(waiting)[1]
            if state in self._n_words and state not in opened:
                continue
            leaving = self._empty.get(state, ())
            self.steps.add(len(leaving))
            for arc in leaving:
                if arc.target not in costs:
                    heappush(waiting, (self._rank.get(arc.target, 0), arc.target))
                costs[arc.target] = min(costs.get(arc.target, IMPOSSIBLE), costs[state] + arc.cost)
        self.steps.add(2 * len(costs))  # they become a state's key
        return {
            state: cost
            for state, cost in sorted(costs.items())
            if state in self._spoken or state == self._end or (state in self._n_words and state not in opened)
        }

    def say(self, following: dict[str, Costs], arcs: Sequence[Arc], owed: float) -> None:
        """Add the targets of arcs to their words, with residual cost plus arc cost."""
        self.steps.add(len(arcs))
        for arc in arcs:
            assert arc.word is not None
            targets = following[arc.word]
            targets[arc.target] = min(targets.get(arc.target, IMPOSSIBLE), owed + arc.cost)

    def backing_off(self, shared: int, owed: float) -> Iterator[tuple[_StateClosure, float]]:
        """Yield the continuations of a shared state and of its back-off states, each with its residual cost."""
        state: int | None = shared
        while state is not None:
            behind = self._behind.get(state)
            if behind is None:
                behind = self._behind[state] = self._what_follows(self.closure({state: 0.0}))
            yield behind, owed
            state = behind.subset.shared
            owed += 0.0 if state is None else behind.subset.costs[state]

    def _what_follows(self, subset: _Subset) -> _StateClosure:
        words: dict[str, list[Arc]] = defaultdict(list)
        for state, cost in subset.costs.items():
            for arc in self._spoken.get(state, ()) if state != subset.shared else ():
                assert arc.word is not None
                words[arc.word].append(replace(arc, cost=cost + arc.cost))
        return _StateClosure(words, subset.costs.get(self._end, IMPOSSIBLE), subset)


def _leads_to(arcs: list[Arc], end: int) -> set[int]:
    """Return the states with a path to `end`."""
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
    """Return word arcs and epsilon arcs by source state."""
    spoken: dict[int, list[Arc]] = {}
    empty: dict[int, list[Arc]] = {}
    for arc in arcs:
        if arc.target in useful:
            (empty if arc.word is None else spoken).setdefault(arc.source, []).append(arc)
    return spoken, empty


def ranks_or_cycle(arcs: Mapping[int, Sequence[Arc]]) -> tuple[dict[int, int], list[int]]:
    """Return a rank for every state such that arcs lead upwards (Kahn 1962), or the states of a cycle, in order.

    `arcs` has the outgoing arcs of each state.
    """
    waiting_for: dict[int, int] = dict.fromkeys(arcs, 0)
    before: dict[int, list[int]] = defaultdict(list)
    for leaving in arcs.values():
        for arc in leaving:
            waiting_for[arc.target] = waiting_for.get(arc.target, 0) + 1
            before[arc.target].append(arc.source)
    ready = [state for state, n in waiting_for.items() if n == 0]
    for state in ready:  # ready grows
        for arc in arcs.get(state, ()):
            waiting_for[arc.target] -= 1
            if waiting_for[arc.target] == 0:
                ready.append(arc.target)
    rank = {state: number for number, state in enumerate(ready)}
    if len(rank) == len(waiting_for):
        return rank, []
    # Each remaining state has a remaining predecessor, so walking back reaches some state twice.
    state = next(state for state in waiting_for if state not in rank)
    walked: dict[int, None] = {}
    while state not in walked:
        walked[state] = None
        state = next(source for source in before[state] if source not in rank)
    states = list(walked)
    return {}, states[states.index(state) :][::-1]
