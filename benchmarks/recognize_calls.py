"""Cost of one call of `Recognizer.recognize` on pieces of one second, on one core.

    python -m benchmarks.recognize_calls [--model FILE --data DIR] [--grammar NAME|FILE] [--beam X] [--max-active N]

Without --model the quickstart's corpus is synthesized (the extra `synth`) and a model of the quickstart's size trained
on it, in --work-dir. This takes some minutes; later runs reuse both. With --tune its scale, penalty and width are then
chosen on every fifth of the recordings. Pieces are cut consecutively from the recordings of the data directory. Most
begin and end within a sentence, which makes the search slower than whole sentences do. Prints CPU milliseconds of
loading, of the first call (graph compilation, loading of functions) and of the others, and their part outside the
search; last the same as a JSON object.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import soundfile  # noqa: E402

import asr  # noqa: E402
from asr.corpus.data_directory import read_data_directory  # noqa: E402
from asr.corpus.synthesis import CorpusSettings, make_naval_corpus  # noqa: E402
from asr.corpus.writing import write_data_directory  # noqa: E402

SETTINGS = {
    "gmm": {"mixtures": [1, 2, 4], "iterations": [8, 4, 4], "start": "equal"},
    "hybrid": {
        "classifier": "kernel-logistic",
        "parameters": {"n_centers": 1500, "n_candidates": 3000, "max_iter": 2},
        "vtlp_warps": [],
        "realignments": 0,
    },
    "tuning": {"held_out": 0.0},
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="model file of asr train")
    parser.add_argument("--data", type=Path, help="Kaldi data directory with recordings that are cut into pieces")
    parser.add_argument("--work-dir", type=Path, default=Path("runs/recognize-calls"))
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of every piece")
    parser.add_argument("--grammar", help="grammar, as in asr decode")
    parser.add_argument("--beam", type=float)
    parser.add_argument("--max-active", type=int)
    parser.add_argument("--tune", action="store_true", help="choose scale, penalty and width first")
    given = parser.parse_args(arguments)
    if (given.model is None) != (given.data is None):
        parser.error("Use --model and --data together")
    model, data = (given.model, given.data) if given.model is not None else quickstart(given.work_dir)
    if given.tune:
        model = tuned(model, data, given.work_dir, given.grammar)
    started = time.process_time()
    recognizer = asr.Recognizer.load(model, grammar=given.grammar, beam=given.beam, max_active=given.max_active)
    found = {"load": milliseconds(started)}
    rate = recognizer.sample_rate
    clips = list(islice(cycle(pieces(data, rate, given.seconds)), given.calls + 1))
    times = []
    for clip in clips:
        started = time.process_time()
        recognizer.recognize(clip, rate=rate)
        times.append(milliseconds(started))
    found |= {"first": times[0], "mean": statistics.fmean(times[1:]), "median": statistics.median(times[1:])}
    found["95 %"] = sorted(times[1:])[int(0.95 * (len(times) - 1))]
    found["without search"] = without_search(recognizer, clips[1:101], rate)
    search = recognizer.search
    print(f"{len(times) - 1} calls of {given.seconds:g} s on one core, {recognizer.graph.n_arcs:,} arcs, ", end="")
    print(f"beam {search.beam:g}, max_active {search.max_active}; milliseconds")
    for name, value in found.items():
        print(f"{name:15} {value:9.2f}")
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))


def quickstart(work_dir: Path) -> tuple[Path, Path]:
    """Return model and test data of the quickstart's size, made unless they exist."""
    corpus = work_dir / "corpus"
    if not corpus.is_dir():
        make_naval_corpus(corpus, CorpusSettings(), jobs=1)
    asr.train(corpus / "train", corpus / "lexicon.txt", work_dir / "run", config=SETTINGS, jobs=1)
    return work_dir / "run" / "model.safetensors", corpus / "test"


def tuned(model: Path, data: Path, work_dir: Path, grammar: str | None) -> Path:
    """Tune the model on every fifth utterance."""
    corpus = read_data_directory(data, prefer="audio")
    part = corpus.subset([utterance.id for utterance in corpus.utterances[::5]])
    write_data_directory(work_dir / "tuning-data", list(part.utterances), part.gender)
    output = work_dir / "tuned.safetensors"
    return asr.tune(model, work_dir / "tuning-data", output, grammar=grammar, overwrite=True, jobs=1).model


def pieces(data: Path, rate: int, seconds: float) -> Iterator[np.ndarray]:
    """Yield consecutive pieces of all recordings of that rate, float32."""
    length = round(seconds * rate)
    for utterance in read_data_directory(data, prefer="audio").utterances:
        samples, native = soundfile.read(utterance.source, dtype="float32", always_2d=True)
        if native == rate:
            mono = samples.mean(axis=1)
            yield from (mono[start : start + length] for start in range(0, len(mono) - length + 1, length))


def without_search(recognizer: asr.Recognizer, clips: Sequence[np.ndarray], rate: int) -> float:
    """Return milliseconds of a call with a beam that leaves the search nothing to do."""
    idle = recognizer.with_settings(beam=1e-3)
    list(idle.recognize_all(clips[:1], rate=rate))
    started = time.process_time()
    for _ in idle.recognize_all(clips, rate=rate):
        pass
    return milliseconds(started) / len(clips)


def milliseconds(since: float) -> float:
    """Return the milliseconds since a time."""
    return 1000.0 * (time.process_time() - since)


if __name__ == "__main__":
    main()
