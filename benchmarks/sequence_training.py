"""Cost of a pass of sequence training compared with a search of the same utterances, on one core.

    python -m benchmarks.sequence_training [--model FILE --data DIR] [--utterances N]

A pass scores and searches every utterance, builds its lattice and propagates the derivative of the expected accuracy to
the weights. It must be slower than scoring and search alone, the peer here, with the same beam, limit and grammar in
the same run. Without --model the quickstart's corpus and a model of its size are made first (the extra `synth`), in
--work-dir, and reused later. Prints seconds, microseconds per frame and the ratio of a pass to its peer, and the peak
memory of the process; last the same as a JSON object.
"""

import argparse
import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

from asr.acoustic.model_file import SpeechModel, load_model  # noqa: E402
from asr.acoustic.sequence_training import MAX_ACTIVE, train_sequences  # noqa: E402
from asr.alignment.batch_alignment import align_table  # noqa: E402
from asr.alignment.transcript_graph import transcript_graph  # noqa: E402
from asr.corpus.data_directory import read_data_directory  # noqa: E402
from asr.decode.graph_compiler import compile_graph  # noqa: E402
from asr.decode.token_passing import best_path  # noqa: E402
from asr.features.extraction import extract_static  # noqa: E402
from asr.features.frame_table import FrameTable  # noqa: E402
from asr.grammar import arpa_grammar, estimate_ngram  # noqa: E402
from asr.hmm.state_graph import StateGraph  # noqa: E402
from asr.recognition.speaker_transforms import aligned_maps, frames_of  # noqa: E402
from asr.training.dataset import trainable  # noqa: E402
from benchmarks.recognize_calls import quickstart  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="hybrid of asr train")
    parser.add_argument("--data", type=Path, help="Kaldi data directory with transcripts")
    parser.add_argument("--work-dir", type=Path, default=Path("runs/recognize-calls"))
    parser.add_argument("--utterances", type=int, default=200, help="at most")
    given = parser.parse_args(arguments)
    if (given.model is None) != (given.data is None):
        parser.error("Use --model and --data together")
    path, data = (given.model, given.data) if given.model is not None else quickstart(given.work_dir)
    model = load_model(path)
    table, states, graph = speech(model, data, given.utterances)
    n_frames = int((states >= 0).sum())

    def one_pass() -> None:
        train_sequences(model.hmm, table, states, graph, model.search, passes=1)

    def searched() -> None:
        for number in range(len(table)):
            best_path(
                model.hmm.log_likelihood(table.utterance(number)),
                graph,
                model.hmm.topology.unit_state,
                model.hmm.self_loops,
                lm_scale=model.search.lm_scale,
                insertion_penalty=model.search.insertion_penalty,
                beam=model.search.beam,
                max_active=MAX_ACTIVE,
            )

    searched()  # warm-up: functions are compiled or loaded
    one_pass()
    found = {"search": processor_seconds(searched), "pass": processor_seconds(one_pass)}
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(table)} utterances, {n_frames:,} frames, {graph.n_arcs:,} arcs; processor time")
    for name, seconds in found.items():
        print(f"{name:8} {seconds:8.2f} s {1e6 * seconds / n_frames:8.1f} µs a frame")
    ratio = found["pass"] / found["search"]
    print(f"a pass takes {ratio:.2f} times the search; {megabytes:.0f} MB at most")
    print(json.dumps({**found, "ratio": ratio, "frames": n_frames, "megabytes": megabytes}))


def speech(model: SpeechModel, data: Path, most: int) -> tuple[FrameTable, np.ndarray, StateGraph]:
    """Return frames and states of utterances with known words, and a graph of the word frequencies."""
    corpus, _ = trainable(read_data_directory(data), model.lexicon)
    corpus = corpus.subset([utterance.id for utterance in corpus.utterances[:most]])
    static, _ = extract_static(corpus, model.front_end.config)
    words = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    graphs = {name: transcript_graph(words[name], model.lexicon, model.hmm.topology) for name in static.ids}
    table = frames_of(model, static, aligned_maps(model, static, graphs))
    aligned = align_table(model.hmm.log_likelihood, table, graphs, model.hmm.topology, model.hmm.self_loops)
    grammar = arpa_grammar(estimate_ngram([words[name] for name in table.ids], 1))
    return table, aligned.states, compile_graph(model.lexicon, grammar, model.hmm.topology)


def processor_seconds(work: Callable[[], None]) -> float:
    """Return the CPU seconds of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
