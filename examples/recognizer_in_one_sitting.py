"""A speech recognizer from audio files to a word error rate in one script.

    python examples/recognizer_in_one_sitting.py --corpus-dir DIR

Run it where the project is installed. DIR holds the Kaldi data directories `train` and `test` (see
docs/how-to/prepare-data.md) and `lexicon.txt`; the Free Spoken Digit Dataset in this form takes half a minute on two
cores. Without --corpus-dir the synthesizer eSpeak NG (the extra `synth`) makes a very small corpus of naval sentences
in a temporary directory. It is enough to run every step, but too small for a low error rate; `recipes/quickstart.py`
makes a larger one.

Read it from top to bottom: every step is one call with arrays as input and output. The command `asr train` and the
recipes take the same steps. They also resume after an interruption, write model files, and choose the settings that are
fixed here (scales, widths, penalties) on held-out training speakers.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from asr.acoustic.gmm_training import GmmSettings, train_gmm
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.batch_alignment import align_table
from asr.alignment.transcript_graph import transcript_graph
from asr.corpus.data_directory import read_data_directory
from asr.corpus.synthesis import CorpusSettings, make_naval_corpus
from asr.decode.graph_compiler import compile_graph
from asr.decode.path_segments import Segment, word_segments
from asr.decode.token_passing import best_path
from asr.features.config import FeatureConfig
from asr.features.extraction import extract_static
from asr.features.frontend import FrontEnd
from asr.grammar import arpa_grammar, estimate_ngram, one_word
from asr.hmm.state_graph import StateGraph
from asr.hmm.topology import Topology
from asr.lexicon import read_lexicon
from asr.scoring.bootstrap import wer_interval
from asr.scoring.transcript import aligned_transcript
from asr.scoring.wer import score_utterances
from asr.training.dataset import trainable
from discriminants import SparseKernelLogisticClassifier
from discriminants.parallel.workers import workers_for

JOBS = os.cpu_count() or 1  # the results do not depend on it
WORKERS = workers_for(JOBS)
SMALL_NAVAL_CORPUS = CorpusSettings(
    n_train_speakers=12, n_train_utterances=180, n_test_speakers=3, n_test_utterances=30, snr_db=(20.0, 30.0)
)
STARTED = time.monotonic()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus-dir", type=Path, help="folder with train/, test/ and lexicon.txt")
    corpus_dir = parser.parse_args(arguments).corpus_dir
    if corpus_dir is not None:
        recognize_corpus(corpus_dir)
        return
    with tempfile.TemporaryDirectory() as folder:
        say("0. No corpus given", "eSpeak NG speaks a few naval sentences")
        make_naval_corpus(Path(folder) / "naval", SMALL_NAVAL_CORPUS, jobs=JOBS)
        recognize_corpus(Path(folder) / "naval")


def recognize_corpus(corpus_dir: Path) -> None:
    # 1. A corpus is a set of text files: audio paths, transcripts, speakers. The lexicon spells words in phones.
    lexicon = read_lexicon(corpus_dir / "lexicon.txt")
    train, left_out = trainable(read_data_directory(corpus_dir / "train"), lexicon)
    test, _ = trainable(read_data_directory(corpus_dir / "test"), lexicon)
    transcripts = {utterance.id: utterance.words or () for utterance in train.utterances}
    references = {utterance.id: utterance.words or () for utterance in test.utterances}
    say("1. Corpus", f"{len(train.utterances)} training utterances of {len(train.speakers)} speakers")
    print(
        f"   {len(test.utterances)} test utterances, {len(lexicon.words)} words, {len(left_out)} utterances not usable"
    )

    # 2. Features: one row of numbers every 10 ms. Static features (12 cepstra and the energy) do not depend on
    # other frames; the front end adds differences and normalizes each speaker's mean and deviation: 39 numbers.
    rate = soundfile.info(str(train.utterances[0].audio)).samplerate
    config = FeatureConfig(sample_rate=rate, normalize="speaker")
    train_static, _ = extract_static(train, config, workers=WORKERS)
    test_static, _ = extract_static(test, config, workers=WORKERS)
    front_end = FrontEnd(config).fit(train_static)
    frames = front_end.transform(train_static)
    say("2. Features", f"{frames.n_frames} frames of {frames.n_features} values, {rate} Hz audio")

    # 3. A phone is a chain of three states, each of any duration. A transcript is then a graph of all
    # ways to say it: every pronunciation, with silence, a short pause or no pause between words.
    topology = Topology(lexicon.phones)
    graphs = {name: transcript_graph(transcripts[name], lexicon, topology) for name in frames.ids}
    say("3. HMMs", f"{len(lexicon.phones)} phones and silence: {topology.n_states} states")

    # 4. Phone boundaries are unknown. Divide every utterance evenly, give each state a Gaussian, find the
    # most likely division, re-estimate and repeat; then split the Gaussians and continue (a flat start).
    settings = GmmSettings(mixtures=(1, 2, 4, 8), iterations=(8, 4, 4, 4))
    mixtures = {}
    for n_components, hmm, curve in train_gmm(frames, graphs, topology, settings, workers=WORKERS):
        mixtures[n_components] = hmm
        say("4. GMM", f"{n_components} Gaussians per state, log-likelihood per frame {curve[-1]:.2f}")
    gmm = mixtures[8]

    # 5. The best model's best path through every transcript graph gives one state per frame: the class labels.
    aligned = align_table(gmm.log_likelihood, frames, graphs, topology, gmm.self_loops, workers=WORKERS)
    silence = np.isin(aligned.states, topology.silence_states).mean()
    say("5. Alignment", f"{100 * silence:.0f} % of the frames are silence, {len(aligned.failed)} utterances failed")

    # 6. The classifier's input has 7 frames on each side, projected to the 60 directions (at most one
    # less than the number of states) that separate the states best.
    wide = FeatureConfig(sample_rate=rate, normalize="speaker", context=7, lda_dimension=60)
    wide_front_end = FrontEnd(wide).fit(train_static, aligned.states)
    wide_frames = wide_front_end.transform(train_static)
    say("6. Splicing and LDA", f"{wide_frames.n_features} values per frame")

    # 7. The sparse discriminant. Orthogonal least squares selects, one by one, the Gaussian kernels that explain most
    # of the one-vs-rest targets of all states together: one common dictionary. Its weights then minimize the
    # logistic loss, so that outputs are log posteriors P(state | frame). Divided by the state
    # priors P(state), they replace the mixtures' likelihoods: a hybrid.
    classifier = SparseKernelLogisticClassifier(n_centers=600, n_candidates=1800, max_iter=4, random_state=0)
    hybrid = HybridAcousticModel(classifier, topology.n_states, prior_exponent=0.7)
    hybrid.fit(wide_frames.frames, aligned.states)
    say("7. Discriminant", f"{len(classifier.basis_centers_)} kernels shared by {topology.n_states} states")
    print(
        f"   cross-entropy {classifier.loss_curve_[0]:.2f} after the first pass, {classifier.loss_curve_[-1]:.2f} now"
    )
    hybrid_hmm = PhoneHmm(topology, hybrid, gmm.self_loops)

    # 8. The grammar: exactly one word if every training transcript is one, else a bigram of the transcripts.
    # Grammar, lexicon and phone HMMs are compiled into one graph of states.
    if all(len(words) == 1 for words in transcripts.values()):
        grammar = one_word(lexicon.words)
    else:
        grammar = arpa_grammar(estimate_ngram(transcripts.values(), 2, vocabulary=lexicon.words))
    graph = compile_graph(lexicon, grammar, topology)
    say("8. Graph", f"grammar '{grammar.name}', {graph.n_nodes} nodes, {graph.n_arcs} arcs")

    # 9. Search: the best path through that graph for every test utterance, and its words with their times.
    # 10. Score: the fewest word substitutions, deletions and insertions that turn the reference into the result.
    # Posteriors are flatter than densities, so the hybrid weighs the grammar less and needs a narrower beam.
    for system, model, table, lm_scale, beam in (
        ("gmm-8", gmm, front_end.transform(test_static), 8.0, 200.0),
        ("hybrid", hybrid_hmm, wide_front_end.transform(test_static), 3.0, 80.0),
    ):
        found = {name: search(model, table.utterance(name), graph, lm_scale, beam) for name in table.ids}
        hypotheses = {name: [segment.label for segment in segments] for name, segments in found.items()}
        report = score_utterances(references, hypotheses)
        interval = wer_interval(report)
        say(f"9./10. {system}", f"word error rate {report.wer:.2f} %, {report.errors} errors in {report.words} words")
        print(f"   95 % confidence interval (bootstrap over utterances) {interval.low:.2f} to {interval.high:.2f} %")

    worst = max(report.utterances, key=lambda utterance: utterance.counts.errors)
    print("\nThe hybrid's worst utterance:\n")
    print(aligned_transcript(worst))
    print("Times of its words in seconds:")
    shift = config.shift_ms / 1000
    for segment in found[worst.id]:
        print(f"   {segment.start * shift:6.2f} to {segment.end * shift:5.2f}  {segment.label}")


def search(model: PhoneHmm, frames: np.ndarray, graph: StateGraph, lm_scale: float, beam: float) -> list[Segment]:
    """Return the words of the best path, or none if no path fits."""
    scores = model.log_likelihood(frames)
    path = best_path(scores, graph, model.topology.unit_state, model.self_loops, lm_scale=lm_scale, beam=beam)
    return [] if path is None else word_segments(path, graph, model.topology)


def say(step: str, what: str) -> None:
    print(f"[{time.monotonic() - STARTED:5.1f} s] {step}: {what}", flush=True)


if __name__ == "__main__":
    main()
