"""Quality of word confidences, and the oracle error of lattices.

    python -m benchmarks.confidences --model FILE --data DIR [--fit DIR] [--grammar NAME|FILE] [--root DIR]
        [--lattice-beam B] [--pairs FILE]

Speakers of DIR, a Kaldi data directory with transcripts, should be neither in training nor in the tuning data of the
model. Confidences are calibrated by the model, or with --fit on the speech of another directory. The output has: word
errors of the best paths, of the words of minimum risk and of the best path of every lattice (the oracle); sizes and
costs of lattices; and measures of posteriors and confidences, followed by the same as a JSON object. The measures are
the area under the ROC curve of correct words, the expected calibration error (ten bins of equal width) and NIST's
normalized cross entropy. --pairs appends the confidence of each word and its correctness to a file, and --pool prints
the figures of such a file.
"""

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402

from asr.acoustic.model_file import SpeechModel, load_model  # noqa: E402
from asr.commands.decode import corpus_for, static_frames  # noqa: E402
from asr.decode.graph_compiler import compile_graph  # noqa: E402
from asr.hmm.state_graph import StateGraph  # noqa: E402
from asr.lattices.generation import LatticeBeam  # noqa: E402
from asr.lattices.oracle import oracle_errors  # noqa: E402
from asr.recognition.confidence import mbr_segments, with_confidence  # noqa: E402
from asr.recognition.decoder import Recognition, recognize  # noqa: E402
from asr.recognition.grammars import chosen_grammar  # noqa: E402
from asr.recognition.lattice_outputs import default_lattice_beam  # noqa: E402
from asr.recognition.vocabulary import recognizable  # noqa: E402
from asr.scoring.wer import align_words, count_errors  # noqa: E402
from asr.training.tuning.confidence import fit_confidence, judged, right_words  # noqa: E402
from discriminants.parallel.workers import SerialWorkers  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="model file of asr train")
    parser.add_argument("--data", type=Path, help="Kaldi data directory with transcripts")
    parser.add_argument("--fit", type=Path, help="data directory to calibrate the confidences on")
    parser.add_argument("--grammar", help="grammar, as in asr decode")
    parser.add_argument("--root", type=Path, help="root folder of relative paths")
    parser.add_argument("--lattice-beam", type=float)
    parser.add_argument("--pairs", type=Path, help="file to append the confidences of words to")
    parser.add_argument("--pool", type=Path, help="file of confidences; prints its figures without recognition")
    given = parser.parse_args(arguments)
    if given.pool is not None:
        table = np.loadtxt(given.pool, ndmin=2)
        print(json.dumps({"pooled": figures(table[:, 0], table[:, 1] > 0).rounded()}))
        return
    if given.model is None or given.data is None:
        parser.error("Expected --model and --data, or --pool")
    model = load_model(given.model)
    lexicon = recognizable(model)
    graph = compile_graph(lexicon, chosen_grammar(model, lexicon, given.grammar), model.hmm.topology)
    beam = default_lattice_beam(model.search) if given.lattice_beam is None else LatticeBeam(given.lattice_beam)
    settings = model.search.confidence
    if given.fit is not None:
        found, references, _ = heard(model, graph, given.fit, given.root, beam)
        settings = fit_confidence(judged(found.lattices, references))
    found, references, seconds = heard(model, graph, given.data, given.root, beam)
    plain, _, _ = heard(model, graph, given.data, given.root, None)
    best, least, oracle, words, arcs, frames = 0, 0, 0, 0, 0, 0
    posteriors: list[float] = []
    confidences: list[float] = []
    right: list[bool] = []
    started = time.process_time()
    for name, lattice in found.lattices.items():
        reference, segments = references[name], found.words[name]
        said = [segment.label for segment in segments]
        words += len(reference)
        best += count_errors(align_words(reference, said)).errors
        risk = [segment.label for segment in mbr_segments(lattice, settings)]
        least += count_errors(align_words(reference, risk)).errors
        oracle += oracle_errors(lattice, reference)
        arcs, frames = arcs + lattice.n_arcs, frames + lattice.n_frames
        posteriors += [segment.confidence or 0.0 for segment in with_confidence(lattice, segments, None)]
        confidences += [segment.confidence or 0.0 for segment in with_confidence(lattice, segments, settings)]
        right += right_words(reference, said)
    after = time.process_time() - started
    row = {
        "utterances": len(found.lattices),
        "words": words,
        "WER": 100 * best / words,
        "WER of minimum risk": 100 * least / words,
        "oracle WER": 100 * oracle / words,
        "lattice beam": beam.width,
        "arcs a second": arcs / seconds,
        "recognition, CPU s/s": plain.cpu_seconds / seconds,
        "with lattices, CPU s/s": found.cpu_seconds / seconds,
        "uses of lattices, CPU s/s": after / seconds,
        "calibration": None if settings is None else settings.model_dump(),
        "posteriors": figures(np.array(posteriors), np.array(right)).rounded(),
        "confidences": figures(np.array(confidences), np.array(right)).rounded(),
    }
    for title, value in row.items():
        print(f"{title:26} {value:.4g}" if isinstance(value, float) else f"{title:26} {value}")
    print(json.dumps(row))
    if given.pairs is not None:
        with given.pairs.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{one:.6f} {int(was)}\n" for one, was in zip(confidences, right, strict=True))


def heard(
    model: SpeechModel, graph: StateGraph, data: Path, root: Path | None, beam: LatticeBeam | None
) -> tuple[Recognition, Mapping[str, tuple[str, ...]], float]:
    """Return the recognition of a data directory, its transcripts, and its duration in seconds."""
    corpus = corpus_for(model, data, root)
    static, _ = static_frames(model, corpus, SerialWorkers())
    found = recognize(model, static, graph, lattice_beam=beam)
    references = {utterance.id: utterance.words or () for utterance in corpus.utterances}
    return found, references, len(static.frames) * model.front_end.config.shift_ms / 1000.0


@dataclass(frozen=True)
class Figures:
    """Quality of confidences: number of words, share of correct words, and the three measures.

    If all words are correct or all are wrong, area and cross-entropy are nan.
    """

    words: int
    right: float
    auc: float
    calibration_error: float
    cross_entropy: float

    def rounded(self) -> dict[str, float | None]:
        """Return the figures by name, to four digits; None for nan."""
        return {name: None if np.isnan(value) else round(float(value), 4) for name, value in vars(self).items()}


def figures(confidences: np.ndarray, right: np.ndarray) -> Figures:
    """Measure confidences (n,) of words with correctness bool (n,)."""
    order = np.argsort(confidences, kind="stable")
    rank = np.empty(len(order))
    _, inverse, counts = np.unique(confidences[order], return_inverse=True, return_counts=True)
    rank[order] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]  # mean rank of ties
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    different = n_right > 0 and n_wrong > 0
    auc = (rank[right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong) if different else np.nan
    bins = np.minimum((confidences * 10).astype(int), 9)
    error = sum(
        abs(confidences[bins == one].mean() - right[bins == one].mean()) * np.mean(bins == one)
        for one in np.unique(bins)
    )
    kept = np.clip(confidences, 1e-6, 1 - 1e-6)
    share = right.mean()
    surprise = -np.log(np.where(right, kept, 1 - kept)).mean()
    known = -(share * np.log(share) + (1 - share) * np.log(1 - share)) if different else np.nan
    return Figures(len(right), float(share), float(auc), float(error), float((known - surprise) / known))


if __name__ == "__main__":
    main()
