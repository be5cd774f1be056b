"""Cost of a large vocabulary: compilation of a trigram's graph, and the search in it.

    python -m benchmarks.large_vocabulary [--words 20000] [--ngrams 1000000] [--utterances 50] [--noise X]
        [--beam X ...] [--max-active N ...] [--lm-scale X] [--seed 0]

The seed makes a normalized trigram with back-off (an ARPA file) over words with Zipf's frequencies. Pronunciations have
five random phones of 40 on average. One process reads and compiles the trigram. Another one composes the same lexicon
and grammar by kaldifst alone, without any further step. Prints seconds and peak memory of both, and CPU seconds.

Sentences are drawn from the grammar. Each of the three states of a phone takes three frames on average. Scores are
log-densities of frames in 20 dimensions: a random mean of the state, plus noise of deviation --noise that is correlated
over time (0.9 from frame to frame), like errors of real frames. Prints the frames whose best state is wrong. For every
beam and limit, prints the word error rate and the real-time factor of the search on one core (10 ms a frame, without
scoring). The last output is the same as a JSON object.
"""

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import kaldifst  # noqa: E402
import numpy as np  # noqa: E402

from asr.decode.graph_compiler import compile_graph  # noqa: E402
from asr.decode.lexicon_transducer import InputLabels, lexicon_transducer  # noqa: E402
from asr.decode.path_segments import word_segments  # noqa: E402
from asr.decode.token_passing import best_path  # noqa: E402
from asr.grammar import read_grammar, sample_sentence  # noqa: E402
from asr.hmm.state_graph import StateGraph  # noqa: E402
from asr.hmm.topology import SILENCE, Topology, uniform_self_loops  # noqa: E402
from asr.lexicon import Lexicon  # noqa: E402
from asr.scoring.wer import score_utterances  # noqa: E402

TOPOLOGY = Topology(tuple(f"p{number:02d}" for number in range(40)))
DIMENSIONS = 20
CORRELATION = 0.9
SENTENCE_ENDS = 0.07  # part of the tokens
LEFT = (0.2, 0.5)  # range of the probability that a history leaves to shorter ones
Returned = TypeVar("Returned")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--ngrams", type=int, default=1_000_000)
    parser.add_argument("--utterances", type=int, default=50)
    parser.add_argument("--noise", type=float, default=1.8, help="deviation; that of the means is 1")
    parser.add_argument("--beam", type=float, nargs="+", default=[200.0])
    parser.add_argument("--max-active", type=int, nargs="+", default=[3000])
    parser.add_argument("--lm-scale", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    lexicon = random_lexicon(given.words, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trigram.arpa"
        write_trigram(path, lexicon.words, given.ngrams, given.seed)
        (graph, sentences, reading, compilation), memory = measured(
            compiled, path, lexicon, given.utterances, given.seed
        )
        composition, other_memory = measured(composed, path, lexicon)
    for name, (wall, cpu), peak in (
        ("reading", reading, memory), ("compilation", compilation, memory),
        ("composition by kaldifst alone", composition, other_memory),
    ):  # fmt: skip
        print(f"{name}: {wall:.1f} s ({cpu:.1f} s of CPU), peak memory {peak:.0f} MB")
    print(f"{graph.n_nodes:,d} nodes, {graph.n_arcs:,d} arcs, {len(graph.jump_end):,d} jumps", flush=True)
    spoken = [utterance(words, lexicon, given.noise, given.seed + n) for n, words in enumerate(sentences)]
    n_frames = sum(len(states) for states, _ in spoken)
    wrong = sum(int((scores.argmax(axis=1) != states).sum()) for states, scores in spoken) / n_frames
    print(
        f"{sum(map(len, sentences))} words in {n_frames / 100:.0f} s; best state wrong in {100 * wrong:.1f} % of frames"
    )
    print("    beam  max_active  word errors  real-time factor")
    rows = []
    for beam in given.beam:
        for limit in given.max_active:
            rate, factor = searched(graph, sentences, [scores for _, scores in spoken], beam, limit, given.lm_scale)
            print(f"{beam:8g}  {limit:10d}  {100 * rate:9.1f} %  {factor:16.3f}", flush=True)
            rows.append({"beam": beam, "max_active": limit, "wer": 100 * rate, "rtf": factor})
    print(json.dumps({
        "reading": reading, "compilation": compilation, "MB": memory, "composition": composition, "searches": rows,
        "wrong frames": wrong,
    }))  # fmt: skip


def random_lexicon(n_words: int, seed: int) -> Lexicon:
    """Return words w0, w1, ... with pronunciations of 2 to 9 phones."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(2 + rng.poisson(3.0, n_words), 2, 9)
    drawn = [rng.choice(TOPOLOGY.phones, size=length).tolist() for length in lengths]
    return Lexicon({f"w{number}": (tuple(phones),) for number, phones in enumerate(drawn)})


def write_trigram(path: Path, words: Sequence[str], n_ngrams: int, seed: int) -> None:
    """Write a normalized model with two bigrams for three trigrams; frequent histories have most."""
    rng = np.random.default_rng(seed)
    names = np.array([*words, "</s>", "<s>"])
    n_words, size = len(words), len(names)
    zipf = 1.0 / (np.arange(n_words) + 2.7)
    zipf *= (1 - SENTENCE_ENDS) / zipf.sum()
    unigram, history = np.append(zipf, [SENTENCE_ENDS, 0.0]), np.append(zipf, [0.0, SENTENCE_ENDS])
    n_bigrams = (n_ngrams - size) * 2 // 5

    def pairs(n: int, draw: Callable[[int], np.ndarray]) -> np.ndarray:
        found = np.empty(0, np.int64)
        while len(found) < n:
            found = np.unique(np.append(found, draw(n)))
        return np.sort(rng.choice(found, n, replace=False))

    def section(group: np.ndarray, n_groups: int, shorter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities in groups of equal history, and the back-off weights of the groups."""
        left, weights = rng.uniform(*LEFT, n_groups), rng.gamma(0.5, size=len(group)) + 1e-3
        values = weights * ((1 - left) / np.maximum(np.bincount(group, weights, n_groups), 1e-9))[group]
        return values, left / (1 - np.bincount(group, shorter, n_groups))

    codes = pairs(n_bigrams, lambda n: rng.choice(size, n, p=history) * size + rng.choice(size, n, p=unigram))
    first, second = np.divmod(codes, size)
    bigram, back_off = section(first, size, unigram[second])
    total = np.concatenate([[0.0], np.cumsum(bigram)])
    begin = np.searchsorted(first, np.arange(size + 1))
    joint = history[first] * bigram * (begin[second + 1] > begin[second])

    def next_bigram(n: int) -> np.ndarray:
        one = rng.choice(n_bigrams, n, p=joint / joint.sum())
        low, high = begin[second[one]], begin[second[one] + 1]
        place = np.searchsorted(total, rng.uniform(total[low], total[high]), side="right") - 1
        return one * n_bigrams + np.clip(place, low, high - 1)

    before, last = np.divmod(pairs(n_ngrams - size - n_bigrams, next_bigram), n_bigrams)
    trigram, further = section(before, n_bigrams, bigram[last])
    has_longer = np.bincount(before, minlength=n_bigrams) > 0
    two = np.char.add(np.char.add(names[first], " "), names[second])
    sections = [
        (unigram, names, np.where(np.diff(begin) > 0, back_off, 1.0)),
        (bigram, two, np.where(has_longer, further, 1.0)),
        (trigram, np.char.add(np.char.add(two[before], " "), names[second[last]]), None),
    ]
    with path.open("w", encoding="utf-8") as file:
        file.write("\\data\\\n" + "".join(f"ngram {k}={len(values)}\n" for k, (values, _, _) in enumerate(sections, 1)))
        for order, (values, texts, weights) in enumerate(sections, 1):
            file.write(f"\n\\{order}-grams:\n")
            logs = np.log10(np.maximum(values, 1e-99)).tolist()
            ends = [""] * len(logs) if weights is None else [f"\t{w:.6f}" if w else "" for w in np.log10(weights)]
            file.writelines(f"{p:.6f}\t{text}{end}\n" for p, text, end in zip(logs, texts.tolist(), ends, strict=True))
        file.write("\n\\end\\\n")


def measured(function: Callable[..., Returned], *arguments: object) -> tuple[Returned, float]:
    """Return a function's result in a separate process, and the peak memory of that process in MB."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        result = process.submit(function, *arguments).result()
        return result, process.submit(_peak).result()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compiled(
    path: Path, lexicon: Lexicon, n_sentences: int, seed: int
) -> tuple[StateGraph, list[tuple[str, ...]], tuple[float, float], tuple[float, float]]:
    """Return the graph, random sentences, and the wall and CPU seconds of reading and of compilation."""
    started = _clocks()
    grammar = read_grammar(path, vocabulary=lexicon.words)
    read = _clocks()
    graph = compile_graph(lexicon, grammar, TOPOLOGY)
    ended = _clocks()
    rng = np.random.default_rng(seed)
    sentences = [sample_sentence(grammar, rng) for _ in range(n_sentences)]
    return graph, [words for words in sentences if words], _passed(started, read), _passed(read, ended)


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _passed(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    return end[0] - start[0], end[1] - start[1]


def composed(path: Path, lexicon: Lexicon) -> tuple[float, float]:
    """Return the wall and CPU seconds of the composition of lexicon and grammar by kaldifst."""
    grammar = read_grammar(path, vocabulary=lexicon.words)
    transducer = lexicon_transducer(lexicon, grammar, TOPOLOGY, InputLabels(TOPOLOGY))
    started = _clocks()
    kaldifst.compose(transducer, grammar.fst)
    return _passed(started, _clocks())


def utterance(words: Sequence[str], lexicon: Lexicon, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the state of every frame, int32 (n_frames,), and state scores, float32 (n_frames, n_states)."""
    rng = np.random.default_rng(seed)
    phones = [SILENCE, *(phone for word in words for phone in lexicon.pronunciations[word][0]), SILENCE]
    chain = [state for phone in phones for state in TOPOLOGY.units(phone)]
    states = np.repeat(chain, rng.geometric(1 / 3, len(chain)))
    means = np.random.default_rng(0).normal(size=(TOPOLOGY.n_states, DIMENSIONS))
    drawn = rng.normal(size=(len(states), DIMENSIONS))
    for frame in range(1, len(states)):
        drawn[frame] = CORRELATION * drawn[frame - 1] + np.sqrt(1 - CORRELATION**2) * drawn[frame]
    frames = means[states] + noise * drawn
    squares = (frames**2).sum(axis=1)[:, None] - 2 * frames @ means.T + (means**2).sum(axis=1)
    return states, (-0.5 / noise**2 * squares).astype(np.float32)


def searched(
    graph: StateGraph, sentences: Sequence[Sequence[str]], scores: Sequence[np.ndarray], beam: float, limit: int,
    lm_scale: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the word error rate and the CPU seconds per second of speech."""
    loops = uniform_self_loops(TOPOLOGY)

    def search(one: np.ndarray) -> list[str]:
        path = best_path(one, graph, TOPOLOGY.unit_state, loops, lm_scale=lm_scale, beam=beam, max_active=limit)
        return [] if path is None else [segment.label for segment in word_segments(path, graph, TOPOLOGY)]

    search(scores[0])  # functions are compiled, and memory is touched
    started = time.process_time()
    found = {str(n): search(one) for n, one in enumerate(scores)}
    seconds = time.process_time() - started
    report = score_utterances({str(n): tuple(words) for n, words in enumerate(sentences)}, found)
    return report.errors / sum(map(len, sentences)), seconds / (sum(map(len, scores)) / 100)


if __name__ == "__main__":
    main()
