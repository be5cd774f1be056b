"""Graph compilation in separate processes, to measure time and memory."""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from asr.acoustic.model_file import SpeechModel, load_model
from asr.decode.graph_compiler import compile_graph
from asr.hmm.state_graph import StateGraph
from asr.lexicon import read_lexicon
from asr.recognition.grammars import chosen_grammar
from asr.recognition.vocabulary import recognizable
from benchmarks.decoding_graph.unshared import unshared_graph

COMPILERS = {"unshared": unshared_graph, "shared": compile_graph}
Made = tuple[StateGraph, float, float]
"""A graph, its compilation time in seconds and the peak memory of its process in MB."""


def opened(model: Path, lexicon: Path | None) -> SpeechModel:
    """Load the model, optionally with another lexicon; words with phones unknown to the model are dropped."""
    loaded = load_model(model)
    if lexicon is None:
        return loaded
    known = set(loaded.hmm.topology.phones)
    other = read_lexicon(lexicon)
    heard = [word for word, variants in other.pronunciations.items() if all(known.issuperset(v) for v in variants)]
    return replace(loaded, lexicon=other.subset(heard))


def making(kind: str, model: Path, lexicon: Path | None, grammar: str | None) -> Made:
    """Run one of the `COMPILERS` on the grammar that `asr decode` would use for `grammar`."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_make, kind, model, lexicon, grammar).result()


def _make(kind: str, path: Path, lexicon: Path | None, wanted: str | None) -> Made:
    model = opened(path, lexicon)
    words = recognizable(model)
    grammar = chosen_grammar(model, words, wanted)
    started = time.perf_counter()
    graph = COMPILERS[kind](words, grammar, model.hmm.topology)
    return graph, time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
