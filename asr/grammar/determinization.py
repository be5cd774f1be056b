"""Weighted automata with empty and ambiguous arcs made into ones with one arc a word (Mohri 1997, section 3.3).

A back-off network has a state of all words, to which empty words lead from nearly all others; without these every
state would have an arc of every word. Such a state is kept, and the empty words to it become back-off arcs.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple, NoReturn

from asr.grammar.automaton import IMPOSSIBLE, Arc
from asr.util.errors import GrammarError

MIN_STEPS = 1_200_000
"""Arcs that may be followed in any automaton. Where weights along two loops of the same words differ, following them
never ends; n optional words one after the other take n * n steps."""
STEPS_AN_ARC = 8
"""Further arcs that may be followed for each given arc, so that large networks with few empty arcs are not refused."""
_DECIMALS = 6
"""Of costs; states whose costs differ by less are one, since automata have single precision."""
_MIN_SAVED = 10_000
"""Arcs of words: where a shared state saves more, the empty words that lead to it are kept."""
_MANY = 1 << 40  # more words than are counted

Costs = dict[int, float]


def determinize(
    name: str, arcs: Iterable[Arc], *, start: int, end: int, back_off: bool = True
) -> tuple[list[Arc], Mapping[int, float], int]:
    """The same sentences, each at the cost of its best path, with at most one arc a word and state.

    A state stands for a set of the given ones, each with what is still owed on a path that goes on there. Of a set only
    the states with an arc of a word, and the end, are kept: so all words after which the same may follow lead to one
    state, and a loop over n words keeps n arcs.

    Empty arcs are removed, but for at most one a state, `word` None, to a state that many share and that has many
    words. A sentence costs the same whether such an arc is taken as backing off, only where there is no arc for the
    next word, or as an empty word: an arc of a word beside it is that of the better of the two ways.

    Parameters
    ----------
    name : str
        The source, for errors.
    arcs : iterable of Arc
        `word` None is an empty word. States that lead to no end are passed over.
    start, end : int
    back_off : bool
        Whether arcs for backing off may be made; not where words of the automaton are such arcs already.

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
    subsets: list[_Subset] = []

    def refuse() -> NoReturn:
        raise GrammarError(
            f"{name}: too many paths have the same words or no words for an automaton with one arc a word: it has "
            f"{len(subsets)} states and is not complete. Expected few optional expressions or empty words in a row. If "
            "the network was made of an n-gram, use the n-gram's ARPA file (HLStats writes one, HBuild reads it), or "
            "estimate one from your text with asr.grammar.estimate_ngram and write_arpa."
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
        """The number of the subset that a word leads to, and the cost of the best way there."""
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
    for number, (costs, shared) in enumerate(subsets):  # which grows
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
    """Given states with what is owed at each; to one of them, `shared`, a back-off arc leads."""

    costs: Costs
    shared: int | None


class _StateClosure(NamedTuple):
    """What follows a shared state: arcs of words, with the empty words before them, the cost of ending, its subset."""

    words: Mapping[str, Sequence[Arc]]
    ending: float
    subset: _Subset


class _Steps:
    """Counts the arcs followed; calls `refuse` before there are more than `most`."""

    def __init__(self, most: int, refuse: Callable[[], NoReturn]) -> None:
        self._left = most
        self._refuse = refuse

    def add(self, n: int) -> None:
        self._left -= n
        if self._left < 0:
            self._refuse()


class _EpsilonPaths:
    """Where words and empty words lead; `steps` counts the arcs followed."""

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
        """About how many arcs of words there are behind every state and the empty words that leave it."""
        states = {arc.target for leaving in self._empty.values() for arc in leaving} | set(self._empty)
        found = {state: len(self._spoken.get(state, ())) for state in states}
        for state in sorted(self._empty, key=lambda state: self._rank[state], reverse=True):
            found[state] = min(_MANY, found[state] + sum(found[arc.target] for arc in self._empty[state]))
        return found

    def closure(self, costs: Costs) -> _Subset:
        """The states that empty words lead to, those kept that something follows.

        The way ends at a state that may be shared, unless there is nothing beside it, or another one of more words.
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
        self.steps.add(2 * len(costs))  # they become a state's name
        return {
            state: cost
            for state, cost in sorted(costs.items())
            if state in self._spoken or state == self._end or (state in self._n_words and state not in opened)
        }

    def say(self, following: dict[str, Costs], arcs: Sequence[Arc], owed: float) -> None:
        """Put the ends of arcs, at what is owed and their own cost, under their words."""
        self.steps.add(len(arcs))
        for arc in arcs:
            assert arc.word is not None
            targets = following[arc.word]
            targets[arc.target] = min(targets.get(arc.target, IMPOSSIBLE), owed + arc.cost)

    def backing_off(self, shared: int, owed: float) -> Iterator[tuple[_StateClosure, float]]:
        """What follows a shared state, those to which back-off arcs lead from there, each with what is owed there."""
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
