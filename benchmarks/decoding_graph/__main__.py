"""Cost of a grammar's graph and of the search in it, compared with a graph without sharing below phones.

    python -m benchmarks.decoding_graph --model FILE --data DIR [--grammar NAME|FILE ...] [--lexicon FILE]
        [--beam X ...] [--max-active N ...] [--utterances N] [--shared-only]

DIR is a Kaldi data directory with transcripts; the defaults of --grammar and --lexicon are the model's own. Each graph
is made in a separate process. For every grammar, prints the sizes of both graphs, the seconds of compilation and the
peak memory of the process (grammar and libraries included). For every beam and limit (default: the model's own; 0 means
no limit), prints word errors and the real-time factor of the search on one core, without frame scoring. The last output
is the same as a JSON object.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

from asr.acoustic.model_file import SearchSettings, SpeechModel  # noqa: E402
from asr.commands.decode import corpus_for, static_frames  # noqa: E402
from asr.hmm.state_graph import StateGraph  # noqa: E402
from asr.recognition.search import search_words  # noqa: E402
from asr.recognition.speaker_transforms import frames_of, recognized_maps  # noqa: E402
from asr.scoring.wer import score_utterances  # noqa: E402
from benchmarks.decoding_graph.making import COMPILERS, Made, making, opened  # noqa: E402
from discriminants.parallel.workers import SerialWorkers  # noqa: E402

Speech = tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]], float]
"""State scores and transcript of every utterance, and their total duration in seconds."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="model file of asr train")
    parser.add_argument("--data", type=Path, required=True, help="Kaldi data directory with transcripts")
    parser.add_argument("--grammar", nargs="+", default=[None], help="grammar, as in asr decode")
    parser.add_argument("--lexicon", type=Path, help="lexicon (default: the model's)")
    parser.add_argument("--beam", type=float, nargs="+")
    parser.add_argument("--max-active", type=int, nargs="+")
    parser.add_argument("--lm-scale", type=float)
    parser.add_argument("--insertion-penalty", type=float)
    parser.add_argument("--utterances", type=int, help="maximum number of utterances, over all speakers")
    parser.add_argument("--shared-only", action="store_true", help="skip the unshared graph")
    given = parser.parse_args(arguments)
    model = opened(given.model, given.lexicon)
    wanted = {"lm_scale": given.lm_scale, "insertion_penalty": given.insertion_penalty}
    own = model.search.model_copy(update={name: value for name, value in wanted.items() if value is not None})
    searches = [
        own.model_copy(update={"beam": beam, "max_active": limit})
        for beam in given.beam or [own.beam]
        for limit in (given.max_active if given.max_active is not None else [own.max_active])
    ]
    kinds = list(COMPILERS)[given.shared_only :]
    made = {
        grammar: {kind: making(kind, given.model, given.lexicon, grammar) for kind in kinds}
        for grammar in given.grammar
    }
    graph, *_ = next(iter(made[given.grammar[0]].values()))
    speech = scored(model, given.data, given.utterances, graph)
    found = {}
    for grammar, of_kinds in made.items():
        name = grammar or "own"
        print(f"{name}: {len(next(iter(of_kinds.values()))[0].words)} words; lm_scale {own.lm_scale:g}")
        found[name] = {"graphs": sizes(of_kinds), "searches": list(rows(model, of_kinds, searches, speech))}
    print(json.dumps(found))


def sizes(made: Mapping[str, Made]) -> dict[str, dict[str, float]]:
    """Print and return sizes and costs of the graphs of a grammar."""
    found = {}
    print("graph         nodes       arcs     jumps  seconds      MB")
    for kind, (graph, seconds, memory) in made.items():
        numbers = {"nodes": graph.n_nodes, "arcs": graph.n_arcs, "jumps": len(graph.jump_end)}
        print(
            f"{kind:8} {graph.n_nodes:10,d} {graph.n_arcs:10,d} {len(graph.jump_end):9,d} {seconds:8.1f} {memory:7.0f}"
        )
        found[kind] = {**numbers, "seconds": round(seconds, 2), "MB": round(memory)}
    return found


def rows(
    model: SpeechModel, made: Mapping[str, Made], searches: Sequence[SearchSettings], speech: Speech
) -> Iterator[dict[str, object]]:
    """Print errors and speed of every search, and yield them."""
    scores, references, seconds = speech
    count = sum(map(len, references.values()))
    print("    beam  max_active    " + "    ".join(f"{kind:>22}" for kind in made))
    for search in searches:
        results, shown = {}, []
        for kind, (graph, _, _) in made.items():
            words, spent = searched(model, graph, search, scores)
            errors = score_utterances(references, words).errors
            results[kind] = {"errors": errors, "wer": 100 * errors / count, "seconds a second": spent / seconds}
            shown.append(f"{errors:5d} {100 * errors / count:5.1f} % {spent / seconds:6.3f} s/s")
        print(f"{search.beam:8g} {search.max_active:11d}    " + "    ".join(shown), flush=True)
        yield {"beam": search.beam, "max_active": search.max_active, **results}


def scored(model: SpeechModel, data: Path, most: int | None, graph: StateGraph) -> Speech:
    """Return state scores and transcript of every utterance, and their total duration in seconds. Speaker transforms,
    if the model uses them, are estimated with the graph.
    """
    corpus = corpus_for(model, data, None)
    step = max(1, -(-len(corpus.utterances) // most)) if most else 1
    corpus = replace(corpus, utterances=corpus.utterances[::step])
    static, _ = static_frames(model, corpus, SerialWorkers())
    frames = frames_of(model, static, recognized_maps(model, static, graph)[0])
    scores = {name: model.hmm.log_likelihood(frames.utterance(number)) for number, name in enumerate(frames.ids)}
    references = {utterance.id: utterance.words or () for utterance in corpus.utterances if utterance.id in scores}
    seconds = sum(map(len, scores.values())) * model.front_end.config.shift_ms / 1000.0
    return scores, references, seconds


def searched(
    model: SpeechModel, graph: StateGraph, search: SearchSettings, scores: dict[str, np.ndarray]
) -> tuple[dict[str, list[str]], float]:
    """Return the words of every utterance, and CPU seconds."""
    search_words(
        model.hmm, next(iter(scores.values())), graph, search
    )  # warm-up: compilation and first memory access do not count
    started = time.process_time()
    words = {
        name: [segment.label for segment in search_words(model.hmm, own, graph, search) or ()]
        for name, own in scores.items()
    }
    return words, time.process_time() - started


if __name__ == "__main__":
    main()
