"""Sequence training of a hybrid's classifier.

Frame cross-entropy weights all frames equally, but only some frame errors change a word. Each utterance is therefore
searched under a simple grammar. The weights are changed to raise the expected number of frames in the correct phone
over the paths of its lattice, weighted by their posteriors: minimum Bayes risk over phones (Povey and Woodland 2002;
for networks Kingsbury 2009; Vesely et al. 2013). Every step generates new lattices with the current model.
"""

import logging
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from asr.acoustic.composite import CompositeAcousticModel, hybrid_stream
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.search_settings import SearchSettings
from asr.decode.token_passing import best_path_and_tokens
from asr.features.frame_table import FrameTable
from asr.hmm.state_graph import StateGraph
from asr.lattices.expected_accuracy import expected_accuracy, token_states
from asr.lattices.links import trellis_links
from asr.util.errors import ConfigError
from discriminants.parallel.threads import in_threads
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse.output_descent import OutputDescent, weight_gradient
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier

log = logging.getLogger(__name__)

LEARNING_RATE = 0.02
FULL_RATE_FRAMES = 300_000  # with fewer frames the rate falls with the square root
SMOOTHING = 0.05  # weight of the frame loss
LATTICE_BEAM = 6.0  # natural log of path probabilities
LATTICE_DENSITY = 200  # arcs and nodes per frame
MAX_ACTIVE = 1000  # hypotheses per frame; 3000 give the same words
STEPS = 8  # minimum per pass
FRAMES_A_STEP = 32_768  # more steps if there are more frames
BATCH_FRAMES = 2048  # frames of whole utterances for one worker at a time


def train_sequences(
    hmm: PhoneHmm,
    table: FrameTable,
    states: np.ndarray,
    graph: StateGraph,
    search: SearchSettings,
    *,
    passes: int,
    seed: int = 0,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    progress: Callable[[int], None] | None = None,
) -> list[float]:
    """Train the classifier of a hybrid in place and return the percentage of frames expected correct in every pass.

    The percentages are measured while the weights change. The result does not depend on the workers. If no utterance
    can be used, the hybrid stays unchanged, with a warning and an empty list. Raises ConfigError if the classifier does
    not support sequence training.

    Parameters
    ----------
    hmm : PhoneHmm
        Its acoustic model is a hybrid, or has one among its streams.
    table : FrameTable
        Frames of the training set, as the model scores them.
    states : int32 (n_frames,)
        Their alignment. Utterances with frames of -1 are left out.
    graph : StateGraph
        Of a weak grammar of the training transcripts; a strong one leaves no competing paths.
    search : SearchSettings
        Scores are divided by its `lm_scale`, or by 1 if that is smaller, to give log probabilities.
    passes : int
        Passes over all utterances, in random order.
    progress : callable, optional
        Called with the number of utterances done, in all passes together.
    """
    hybrid, columns, weight = _trainable(hmm)
    classifier = hybrid.classifier
    numbers = [n for n in range(len(table)) if np.isin(states[table.rows(n)], classifier.classes_).all()]
    if not numbers:
        log.warning("Sequence training skipped: no training utterance is completely aligned")
        return []
    n_frames = sum(len(table.utterance(number)) for number in numbers)
    n_steps = min(len(numbers), max(STEPS, -(-n_frames // FRAMES_A_STEP)))
    threads = in_threads(workers)
    descent = OutputDescent(
        classifier,
        table.frames[:, columns],
        learning_rate=LEARNING_RATE * min(1.0, (n_frames / FULL_RATE_FRAMES) ** 0.5),
        n_steps=passes * n_steps,
        random_state=seed,
        workers=threads,
    )
    random = np.random.default_rng(seed)
    shares, n_done = [], 0
    for number in range(1, passes + 1):
        totals = np.zeros(3)
        for chosen in np.array_split(random.permutation(numbers), n_steps):
            shared = threads.share((hmm, classifier, columns, weight, graph, search))
            gradient, counts = np.zeros(()), np.zeros(3)
            for part, own in threads.map(_slope, _batches(table, states, chosen), shared):
                gradient = gradient + part
                counts += own
            if counts[0]:
                descent.step(gradient / counts[0])
            totals += counts
            n_done += len(chosen)
            if progress is not None:
                progress(n_done)
        n_heard, right, n_lost = totals.tolist()
        if not n_heard:
            log.warning("Sequence training skipped: no training utterance has a path within the beam")
            return []
        shares.append(100.0 * right / n_heard)
        hybrid.smbr_epochs = (hybrid.smbr_epochs or 0) + 1
        lost = f"; utterances without a path within the beam: {n_lost:.0f}" if n_lost else ""
        log.debug(
            "sequences, pass %d of %d: expected phone accuracy %.2f %% of the training frames, pauses included%s",
            number, passes, shares[-1], lost,
        )  # fmt: skip
    return shares


def _trainable(hmm: PhoneHmm) -> tuple[HybridAcousticModel, slice, float]:
    """Return the hybrid, its columns of the frames and the weight of its scores."""
    acoustic = hmm.acoustic_model
    found = hybrid_stream(acoustic)
    if found is None or not isinstance(found[1].classifier, SparseKernelLogisticClassifier):
        raise ConfigError(
            "Sequence training needs a hybrid with the classifier 'kernel-logistic'; this model has none."
        )
    number, hybrid = found
    if isinstance(acoustic, CompositeAcousticModel):
        stream = acoustic.streams[number]
        return hybrid, slice(stream.start, stream.end), stream.weight
    return hybrid, slice(None), 1.0


def _batches(
    table: FrameTable, states: np.ndarray, numbers: np.ndarray
) -> Iterator[list[tuple[np.ndarray, np.ndarray]]]:
    """Yield frames and states of several utterances at a time."""
    batch: list[tuple[np.ndarray, np.ndarray]] = []
    for number in numbers.tolist():
        batch.append((table.utterance(number), states[table.rows(number)]))
        if sum(len(own) for _, own in batch) >= BATCH_FRAMES:
            yield batch
            batch = []
    if batch:
        yield batch


def _slope(
    batch: Sequence[tuple[np.ndarray, np.ndarray]],
    shared: tuple[PhoneHmm, SparseKernelLogisticClassifier, slice, float, StateGraph, SearchSettings],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivative by weights and biases, and three counts.

    The counts are frames, frames expected correct, and utterances without a path.
    """
    hmm, classifier, columns, weight, graph, search = shared
    frames = np.concatenate([own for own, _ in batch])
    states = np.concatenate([own for _, own in batch])
    scores = hmm.log_likelihood(frames)
    slopes = np.zeros(scores.shape)
    heard = np.zeros(len(frames), np.bool_)
    right, n_lost, start = 0.0, 0, 0
    for own, _ in batch:
        rows = slice(start, start + len(own))
        start = rows.stop
        expected = _expected(hmm, scores[rows], states[rows], graph, search)
        if expected is None:
            n_lost += 1
            continue
        own_right, slopes[rows] = expected
        right += own_right
        heard[rows] = True
    gradient = weight_gradient(
        classifier,
        frames[heard, columns],
        weight * slopes[np.ix_(heard, classifier.classes_)],
        np.searchsorted(classifier.classes_, states[heard]),
        smoothing=SMOOTHING,
    )
    return gradient, np.array([heard.sum(), right, n_lost])


def _expected(
    hmm: PhoneHmm, scores: np.ndarray, states: np.ndarray, graph: StateGraph, search: SearchSettings
) -> tuple[float, np.ndarray] | None:
    """Return the expected number of correct frames and its derivative by the scores; None without a path."""
    phone = hmm.topology.unit_phone[: hmm.topology.n_states]
    scale = max(1.0, search.lm_scale)
    weights = {"lm_scale": search.lm_scale, "insertion_penalty": search.insertion_penalty}
    found = best_path_and_tokens(
        scores,
        graph,
        hmm.topology.unit_state,
        hmm.self_loops,
        lattice_beam=LATTICE_BEAM * scale,
        beam=max(search.beam, LATTICE_BEAM * scale),
        max_active=MAX_ACTIVE,
        **weights,
    )
    if found is None:
        return None
    trellis = found[1].narrowed(LATTICE_DENSITY * len(scores))
    links = trellis_links(trellis, scores, graph, hmm.topology, hmm.self_loops, **weights)
    right, slopes = expected_accuracy(
        links, token_states(trellis, graph, hmm.topology), phone == phone[states][:, None], scale=1.0 / scale
    )
    return right, slopes / scale
