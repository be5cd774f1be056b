"""Word networks in HTK's standard lattice format."""

import gzip
import itertools
import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.grammar import determinization, read_grammar, score_sentence, word_loop
from asr.grammar.automaton import Grammar
from asr.grammar.network import NULL
from asr.grammar.slf import WordNetwork, is_slf, parse_slf, read_slf, slf_grammar, write_slf
from asr.util.errors import GrammarError

# ( SENT-START ( CALL <ANNA | BORIS> | YES ) SENT-END ), as HParse writes it
CALLS = """VERSION=1.0
N=8 L=11
I=0    W=SENT-END
I=1    W=ANNA
I=2    W=!NULL
I=3    W=BORIS
I=4    W=CALL
I=5    W=SENT-START
I=6    W=YES
I=7    W=!NULL
J=0     S=2    E=0
J=1     S=6    E=0
J=2     S=4    E=1
J=3     S=2    E=1
J=4     S=1    E=2
J=5     S=3    E=2
J=6     S=4    E=3
J=7     S=2    E=3
J=8     S=5    E=4
J=9     S=5    E=6
J=10    S=0    E=7
"""
WEIGHTED = "VERSION=1.0\nbase=10\nN=4 L=5\nI=0\nI=1 W=A\nI=2 W=A\nI=3 W=B\n" + (
    "J=0 S=0 E=1 l=-1\nJ=1 S=0 E=2 l=-2\nJ=2 S=1 E=3 l=-3\nJ=3 S=2 E=3 l=-1\nJ=4 S=1 E=2 l=0.5\n"
)
Sentence = tuple[str, ...]


def network(text: str) -> WordNetwork:
    return parse_slf(text.splitlines(), "net.slf")


def walk(net: WordNetwork, longest: int) -> dict[Sentence, float]:
    """The log probability of every sentence of at most `longest` words: all paths, one after the other."""
    found: dict[Sentence, float] = {}

    def go_on(node: int, said: Sentence, cost: float) -> None:
        if len(said) > longest:
            return
        if node == net.end:
            found[said] = max(found.get(said, -math.inf), -cost)
        for link in net.links:
            if link.source == node:
                word = net.nodes[link.target] if link.word is None else link.word
                go_on(link.target, said if word == NULL else (*said, word), cost + link.cost)

    first = net.nodes[net.start]
    go_on(net.start, () if first == NULL else (first,), 0.0)
    return found


def paths(grammar: Grammar, longest: int) -> Iterator[tuple[Sentence, float]]:
    """Every sentence of an automaton without back-off, and its log probability."""
    waiting: list[tuple[int, Sentence, float]] = [(grammar.fst.start, (), 0.0)]
    for state, said, cost in waiting:
        if grammar.final_costs[state] < math.inf:
            yield said, -cost - grammar.final_costs[state]
        if len(said) < longest:
            for label, (target, more) in grammar.arcs[state].items():
                waiting.append((target, (*said, grammar.words[label - 1]), cost + more))


def test_a_network_of_hparse_says_the_sentences_of_its_grammar() -> None:
    grammar = slf_grammar(network(CALLS), ["YES", "CALL", "ANNA", "BORIS", "NO"])
    assert (grammar.name, grammar.words, grammar.left_out) == ("network", ("ANNA", "BORIS", "CALL", "YES"), ())
    assert score_sentence(grammar, ["YES"]) == 0
    assert score_sentence(grammar, "CALL ANNA BORIS BORIS ANNA".split()) == 0
    assert score_sentence(grammar, ["CALL"]) == score_sentence(grammar, ["YES", "ANNA"]) == -math.inf
    marked = slf_grammar(network(CALLS), ["YES", "SENT-START", "SENT-END"])
    assert score_sentence(marked, ["SENT-START", "YES", "SENT-END"]) == 0
    assert marked.left_out == ("ANNA", "BORIS", "CALL")


def test_better_of_two_paths_with_the_same_words_counts() -> None:
    net = network(WEIGHTED)
    grammar = slf_grammar(net)
    assert dict(paths(grammar, 5)) == pytest.approx(walk(net, 5), abs=1e-5)
    assert score_sentence(grammar, ["A", "B"]) == pytest.approx(-3 * math.log(10), abs=1e-5)
    assert score_sentence(grammar, ["A", "A", "B"]) == pytest.approx(-1.5 * math.log(10), abs=1e-5)
    plain = slf_grammar(network("base=0\nN=2 L=2\nJ=0 S=0 E=1 W=A l=0.25\nJ=1 S=0 E=1 W=B l=0\n"))
    assert plain.words == ("A",)
    assert score_sentence(plain, ["A"]) == pytest.approx(math.log(0.25))
    impossible = network("N=2 L=2\nJ=0 S=0 E=1 W=A\nJ=1 S=0 E=1 W=B l=-1e10\n")
    assert slf_grammar(impossible).words == ("A",)


def test_a_loop_over_many_words_keeps_one_arc_a_word() -> None:
    n = 500
    lines = ["VERSION=1.0", f"N={n + 3} L={2 * n + 2}", "I=0", "I=1", "I=2"]
    lines += [f"I={number} W=w{number}" for number in range(3, n + 3)]
    links = [(0, 1), (1, 2), *((1, node) for node in range(3, n + 3)), *((node, 1) for node in range(3, n + 3))]
    lines += [f"J={number} S={source} E={target}" for number, (source, target) in enumerate(links)]
    grammar = slf_grammar(parse_slf(lines, "loop"))
    assert sum(map(len, grammar.arcs)) <= 2 * n


@st.composite
def networks(draw: st.DrawFn) -> str:
    """Acyclic networks with words on nodes or links, empty words, and paths that say the same."""
    n = draw(st.integers(2, 7))
    label = st.sampled_from(["A", "B", NULL])
    on_links = draw(st.booleans())
    pairs = {(node, node + 1) for node in range(n - 1)}
    pairs |= draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])))
    lines = [f"I={node}" + ("" if on_links else f" W={draw(label)}") for node in range(n)]
    for number, (source, target) in enumerate(sorted(pairs)):
        word = f" W={draw(label)}" if on_links else ""
        weight = draw(st.sampled_from(["", " l=-0.5", " l=-1.25", " l=0.25"]))
        lines.append(f"J={number} S={source} E={target}{word}{weight}")
    draw(st.randoms(use_true_random=False)).shuffle(lines)
    return "\n".join(["VERSION=1.0", f"N={n} L={len(pairs)}", *lines])


@given(networks())
def test_the_automaton_says_what_a_walk_through_the_network_does(text: str) -> None:
    net = network(text)
    expected = walk(net, 10)
    if not any(expected):
        with pytest.raises(GrammarError, match="no sentence of one or more words"):
            slf_grammar(net)
        return
    assert dict(paths(slf_grammar(net), 10)) == pytest.approx(expected, abs=1e-5)


INNER = st.tuples(st.integers(1, 4), st.integers(1, 4)).filter(lambda pair: pair != (4, 4))


@given(st.lists(st.sampled_from("AB"), min_size=3, max_size=3), st.sets(INNER), st.booleans())
def test_networks_with_loops_say_what_a_walk_does(words: list[str], inner: set[tuple[int, int]], at_end: bool) -> None:
    labels = [NULL, *words, NULL, "B" if at_end else NULL]
    links = sorted(inner | {(0, 1), (0, 2), (0, 3), (1, 5), (2, 4), (3, 5), (4, 5)})
    lines = ["VERSION=1.0", f"N=6 L={len(links)}", *(f"I={node} W={label}" for node, label in enumerate(labels))]
    lines += [f"J={number} S={source} E={target}" for number, (source, target) in enumerate(links)]
    net = parse_slf(lines, "net.slf")
    said = dict(paths(slf_grammar(net), 4))
    assert said == walk(net, 4)
    assert said


@given(networks())
def test_a_grammar_written_and_read_back_is_the_same(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    net = network(text)
    if any(walk(net, 10)):
        grammar = slf_grammar(net)
        path = tmp_path_factory.mktemp("slf") / "again.slf"
        write_slf(grammar, path)
        again = read_grammar(path, vocabulary=grammar.words)
        assert dict(paths(again, 10)) == pytest.approx(dict(paths(grammar, 10)), abs=1e-5)


def test_a_loop_of_words_is_written_with_backing_off_as_an_empty_word(tmp_path: Path) -> None:
    loop = word_loop(["7", "it's", "ONE"])
    write_slf(loop, tmp_path / "loop.slf")
    again = slf_grammar(read_slf(tmp_path / "loop.slf"))
    for sentence in (["7"], ["ONE", "it's", "7", "7"], []):
        assert score_sentence(again, sentence) == pytest.approx(score_sentence(loop, sentence), abs=1e-5)


def test_a_grammar_file_is_known_for_a_network_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "net.slf.gz"
    path.write_bytes(gzip.compress(b"# made by hand\n" + WEIGHTED.encode()))
    assert read_grammar(path, vocabulary=["A", "B"]).name == "network"
    assert is_slf(["", "lmname=x vocab=y"])
    assert not is_slf(["N = 5"])
    assert not is_slf([])
    with pytest.raises(GrammarError, match=r"no sentence of one or more words.* vocabulary: B"):
        read_grammar(path, vocabulary=["A"])


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        ("I=1 W=A", "I=1 L=digits", r"line 5: sub-lattices \('digits'\)"),
        ("base=10", "SUBLAT=digits", r"line 2: sub-lattices \('digits'\)"),
        ("base=10", "dir=b", "line 2: dir=b"),
        ("base=10", "base=-1", "line 2: base=-1"),
        ("base=10", "base=ten", "line 2: base=ten. Expected a number"),
        ("base=10", "start=9", "start=9, but this node does not exist"),
        ("N=4 L=5", "N=4", "has no line 'N=.. L=..'"),
        ("N=4 L=5", "N=5 L=5", "line 3: the header has 5 nodes, but the file has 4"),
        ("N=4 L=5", "NODES=4 LINKS=999999999", "line 3: the header has 999999999 links, but the file has 5"),
        ("N=4 L=5", "N=4 L=" + "5" * 5000, "line 3: L=5+. Expected a whole number"),
        ("I=1 W=A", "I=0 W=A", "line 5: node 0 appears twice"),
        ("I=1 W=A", 'I=1 W="A', "line 5: the value of W: the quote \" is not closed"),
        ("I=1 W=A", "I=1 W=A WORD=B", "line 5: the field WORD appears twice"),
        ("I=1 W=A", "I=1 A", "line 5: 'A' is not a field"),
        ("I=1 W=A", "W=A", "Expected I="),
        ("J=1 S=0", "J=0 S=0", "line 9: link 0 appears twice, first on line 8"),
        ("J=1 S=0 E=2", "J=1 S=0", "line 9: the field E= is missing"),
        ("J=1 S=0 E=2", "J=1 S=0 E=7", "line 9: node 7 does not exist"),
        ("J=1 S=0 E=2", "J=1 S=0 E=2 W=X", "line 9: the link has the word 'X', and node 1 has the word 'A'"),
        ("l=-2", "l=nan", "line 9: l=nan. Expected a number"),
        ("l=-2", "l=1e300", "line 9: l=1e300. Expected at most"),
        ("J=3 S=2 E=3", "J=3 S=1 E=3", "one node without outgoing links as the end, but found 2 3"),
        ("J=3 S=2 E=3", "J=3 S=3 E=0", "one node without incoming links as the start, but found none"),
    ],
)  # fmt: skip
def test_a_malformed_network_is_refused_with_its_line(old: str, new: str, texts: str) -> None:
    assert old in WEIGHTED
    text = WEIGHTED.replace(old, new, 1)
    with pytest.raises(GrammarError, match=texts) as raised:
        network(text)
    assert "net.slf" in str(raised.value)


@st.composite
def back_off_networks(draw: st.DrawFn) -> str:
    """Words that follow each other in any way, also by way of empty words, which lead to later ones and to words."""
    weight = st.sampled_from([0.0, -0.5, -1.25, -2.0, 0.25])
    words = [draw(st.sampled_from("AABC")) for _ in range(draw(st.integers(1, 4)))]
    n, n_empty = len(words), draw(st.integers(1, 3))
    nodes = [*words, *n_empty * [NULL], NULL, NULL]
    start, end, empty = n + n_empty, n + n_empty + 1, range(n, n + n_empty)
    possible = [(a, b) for a in (*range(n), *empty, start) for b in (*range(n), *empty, end) if b < n or a != b]
    possible = [(a, b) for a, b in possible if (a, b) != (start, end) and not (a in empty and b in empty and a > b)]
    links = {(start, draw(st.sampled_from(range(n + 1)))), (end - 2, 0), (0, end)}
    links |= draw(st.sets(st.sampled_from(possible), max_size=14))
    lines = ["VERSION=1.0", f"start={start} end={end}", f"N={len(nodes)} L={len(links)}"]
    lines += [f"I={number} W={word}" for number, word in enumerate(nodes)]
    lines += [f"J={i} S={a} E={b} l={draw(weight)}" for i, (a, b) in enumerate(sorted(links))]
    return "\n".join(lines)


def with_empty_arcs(grammar: Grammar, longest: int) -> dict[Sentence, float]:
    """The log probability of every sentence where backing off is always possible: all paths, one after the other."""
    found: dict[Sentence, float] = {}
    waiting: list[tuple[int, Sentence, float]] = [(grammar.fst.start, (), 0.0)]
    for state, said, cost in waiting:
        if grammar.final_costs[state] < math.inf:
            found[said] = max(found.get(said, -math.inf), -cost - grammar.final_costs[state])
        for label, (target, more) in grammar.arcs[state].items():
            if label == grammar.back_off_label:
                waiting.append((target, said, cost + more))
            elif len(said) < longest:
                waiting.append((target, (*said, grammar.words[label - 1]), cost + more))
    return found


@settings(deadline=None)
@given(st.one_of(back_off_networks(), networks()))
def test_back_off_kept_costs_as_an_empty_word(text: str) -> None:
    net = network(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(determinization, "_MIN_SAVED", 0)
        try:
            grammar = slf_grammar(net)
        except GrammarError as error:
            assert "no sentence" in str(error) or "too many paths" in str(error)
            return
    expected = walk(net, 3)
    assert with_empty_arcs(grammar, 3) == pytest.approx(expected, abs=1e-5)
    for said, log_probability in expected.items():
        assert score_sentence(grammar, said) == pytest.approx(log_probability, abs=1e-5)
    others = (said for n in (1, 2) for said in itertools.product("ABC", repeat=n) if said not in expected)
    assert all(score_sentence(grammar, said) == -math.inf for said in others)


def test_a_back_off_network_of_many_words_keeps_its_back_off_arcs() -> None:
    n, draw = 2000, random.Random(0)
    nodes = ["!ENTER", "!EXIT", NULL, *(f"w{number}" for number in range(n))]
    words = range(3, n + 3)
    links = {(2, word): -7.0 - draw.random() for word in words} | {(2, 1): -3.0}
    links |= {(word, 2): draw.uniform(-2, 0.1) for word in (0, *words)}
    links |= {(word, draw.choice(words)): draw.uniform(-8, 0) for word in (0, *words) for _ in range(5)}
    lines = ["VERSION=1.0", f"N={len(nodes)} L={len(links)}", *(f"I={i} W={word}" for i, word in enumerate(nodes))]
    lines += [f"J={i} S={a} E={b} l={weight}" for i, ((a, b), weight) in enumerate(links.items())]
    grammar = slf_grammar(parse_slf(lines, "net.slf"), nodes[3:])
    assert sum(map(len, grammar.arcs)) <= len(links)
    for _ in range(100):
        said = [draw.choice(words)]
        while len(said) < 5:
            after = [word for first, word in links if first == said[-1] and word > 2]
            said.append(draw.choice(after if after and draw.random() < 0.5 else words))
        best = 0.0
        for first, word in zip([0, *said], [*said, 1], strict=True):
            best += max(links.get((first, word), -math.inf), links[first, 2] + links[2, word])
        assert score_sentence(grammar, [nodes[word] for word in said]) == pytest.approx(best, abs=1e-3)


def test_empty_words_in_a_circle_are_refused_and_words_are_not() -> None:
    text = "start=0 end=3\nN=4 L=4\nI=0\nI=1 {}\nI=2\nI=3 W=B\nJ=0 S=0 E=1\nJ=1 S=1 E=2\nJ=2 S=2 E=1\nJ=3 S=2 E=3\n"
    with pytest.raises(GrammarError, match=r"nodes (1 2|2 1) are a cycle without a word"):
        slf_grammar(network(text.format("W=!NULL")))
    assert score_sentence(slf_grammar(network(text.format("W=A"))), ["A", "A", "A", "B"]) == 0


@pytest.mark.slow
def test_weights_without_an_automaton_of_one_arc_a_word_are_refused() -> None:
    text = "N=4 L=6\nI=0\nI=1 W=A\nI=2 W=A\nI=3 W=B\nJ=0 S=0 E=1\nJ=1 S=0 E=2\nJ=2 S=1 E=1 l=-1\nJ=3 S=2 E=2 l=-2\n"
    with pytest.raises(GrammarError, match=r"net\.slf.*too many paths"):
        slf_grammar(network(text + "J=4 S=1 E=3\nJ=5 S=2 E=3\n"))


def test_spoiled_networks_are_read_or_refused() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        text = list(draw.choice([CALLS, WEIGHTED]))
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(text))
            text[place] = draw.choice(["", *"0123456789=-.\\\"' \nIJSEWlNLe!"])
        try:
            slf_grammar(network("".join(text)), ["A", "B", "YES", "CALL", "ANNA"])
        except GrammarError as error:
            assert "net.slf" in str(error) or "grammar" in str(error)


def optional_words(n: int) -> WordNetwork:
    """Each of n different words may be left out: empty nodes in a row, a word beside each."""
    links = [link for i in range(n) for link in ((2 * i, 2 * i + 1), (2 * i, 2 * i + 2), (2 * i + 1, 2 * i + 2))]
    lines = [f"N={2 * n + 1} L={len(links)}"]
    lines += [f"I={node} W={f'w{node}' if node % 2 else NULL}" for node in range(2 * n + 1)]
    return parse_slf([*lines, *(f"J={i} S={a} E={b}" for i, (a, b) in enumerate(links))], "net.slf")


def test_slf_grammar_optional_words_in_a_row_are_read() -> None:
    assert sum(map(len, slf_grammar(optional_words(300)).arcs)) == 300 * 301 / 2


def test_slf_grammar_too_many_empty_ways_raises() -> None:
    with pytest.raises(GrammarError, match="too many paths"):
        slf_grammar(optional_words(1500))


def test_determinize_counts_empty_arcs_before_following(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(determinization, "MIN_STEPS", 100)
    monkeypatch.setattr(determinization, "STEPS_AN_ARC", 0)
    with pytest.raises(GrammarError, match="0 states so far"):
        slf_grammar(optional_words(60))
