"""Training on given phone boundaries, such as hand labels, instead of a flat start."""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.model_file import SpeechModel, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.alignment.alignment_check import check_segments
from asr.alignment.ctm import read_ctm
from asr.decode.path_segments import Segment
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.hmm.topology import SILENCE, Topology, count_transitions, estimate_self_loops
from asr.lexicon import Lexicon
from asr.lexicon.phone_units import is_silent
from asr.training.config import check_same_static
from asr.training.dataset import Dataset
from asr.training.gmm_stages import AlignedGmms, TrainingContext, load_gmm_stage
from asr.util.counted_text import count, some
from asr.util.errors import CorpusError
from asr.util.files import write_array

DIVISIONS = 3
"""Number of times that the states of a phone are divided again by single Gaussians."""
Interval = tuple[float, float, str]
Run = tuple[int, int, int]
"""Number of a phone, its first frame and its end frame."""


@dataclass(frozen=True)
class GivenAlignment:
    """Phones with start and end in seconds, by utterance; `path` is their file."""

    path: Path
    phones: Mapping[str, list[Interval]]

    def digest(self) -> str:
        """Return the SHA-256 (hexadecimal) of the phones and their times."""
        return hashlib.sha256(json.dumps(self.phones, sort_keys=True).encode()).hexdigest()


def read_alignment(path: Path, lexicon: Lexicon) -> GivenAlignment:
    """Read a CTM file of phones, such as `phones.ctm` of `asr align`; times count from the start of the utterance.

    Silence is SIL, or one of the names of `asr.lexicon.phone_units`. Raises CorpusError, with the file, for a malformed
    file and for phones that the lexicon lacks.
    """
    found: dict[str, list[Interval]] = defaultdict(list)
    known = set(lexicon.phones)
    strange = set()
    for row in read_ctm(path):
        phone = row.label if row.label in known else SILENCE if is_silent(row.label) else None
        if phone is None:
            strange.add(row.label)
        else:
            found[row.utterance].append((row.start, row.start + row.duration, phone))
    if strange or not found:
        fault = (
            f"{count(len(strange), 'phone')} not in the lexicon: {some(sorted(strange))}" if strange else "no phones"
        )
        raise CorpusError(f"{path}: {fault}. Expected phones such as {some(lexicon.phones)}, or {SILENCE}")
    return GivenAlignment(path, {name: sorted(phones) for name, phones in found.items()})


def phone_runs(intervals: list[Interval], n_frames: int, shift: float, window: float, topology: Topology) -> list[Run]:
    """Return the phones as runs of frames; a frame belongs to the phone at its center.

    Frames between two phones are silence. Frames after the last phone belong to it if they are fewer than three, else
    they are silence too.
    """
    centers = np.arange(n_frames) * shift + window / 2
    of_frame = np.full(n_frames, -1)
    for number, (start, end, _) in enumerate(intervals):
        of_frame[(centers >= start) & (centers < end)] = number
    covered = np.flatnonzero(of_frame >= 0)
    if len(covered) and n_frames - 1 - covered[-1] < 3:
        of_frame[covered[-1] :] = of_frame[covered[-1]]
    starts = np.flatnonzero(np.r_[True, np.diff(of_frame) != 0]) if n_frames else np.zeros(0, int)
    ends = np.r_[starts[1:], n_frames]
    phone = [SILENCE if of_frame[at] < 0 else intervals[of_frame[at]][2] for at in starts]
    return [(topology.number(name), int(first), int(end)) for name, first, end in zip(phone, starts, ends, strict=True)]


def divide_evenly(length: int, n_states: int) -> np.ndarray:
    """Return the position in the phone of each of its frames, int32 (length,), in equal parts."""
    return np.minimum(np.arange(length) * n_states // max(length, 1), n_states - 1).astype(np.int32)


def divide(scores: np.ndarray) -> np.ndarray:
    """Return the best position of each frame, int32 (length,), from log-likelihoods (length, n_states).

    Positions start at the first state, never decrease, and reach the last. Shorter phones are divided evenly.
    """
    length, n_states = scores.shape
    if length < n_states:
        return divide_evenly(length, n_states)
    best = np.full((length, n_states), -np.inf)
    best[:, 0] = np.cumsum(scores[:, 0])
    entered = np.zeros((length, n_states), bool)
    for at in range(1, length):
        stay, enter = best[at - 1, 1:], best[at - 1, :-1]
        entered[at, 1:] = enter > stay
        best[at, 1:] = np.maximum(stay, enter) + scores[at, 1:]
    positions = np.zeros(length, np.int32)
    position = n_states - 1
    for at in range(length - 1, -1, -1):
        positions[at] = position
        position -= int(entered[at, position])
    return positions


def train_given_mixtures(
    context: TrainingContext, name: str, dataset: Dataset, features: FeatureConfig | None = None
) -> AlignedGmms:
    """Stage `name`: train mixtures on the given phone boundaries; only the states within a phone are found.

    The states of a phone first divide it evenly, and then by single Gaussians, `DIVISIONS` times. Utterances without
    an alignment are left out. `features` default to those of the context's configuration.
    """
    features = context.config.features if features is None else features
    check_same_static(context.config.features, features)
    given, topology, settings = context.given, context.topology, context.config.gmm
    assert given is not None

    def build(directory: Path) -> str:
        started = time.monotonic()
        front_end = FrontEnd(features).fit(dataset.static)
        table = front_end.transform(dataset.static)
        shift, window = features.shift_samples / features.sample_rate, features.window_samples / features.sample_rate
        runs = {}
        for utterance in table.ids:
            if utterance in given.phones:
                rows = table.rows(utterance)
                runs[utterance] = phone_runs(given.phones[utterance], rows.stop - rows.start, shift, window, topology)
        if not runs:
            raise CorpusError(f"{given.path}: none of the utterances. Expected names such as {some(table.ids)}")
        states = _states(runs, table, topology, None)
        grow = partial(
            mixtures_of_states,
            silence=topology.silence_states,
            silence_gaussian_ratio=settings.silence_gaussian_ratio,
            workers=context.workers,
        )
        for _ in range(DIVISIONS):
            single = grow(table.frames, states, topology.n_states, 1)
            states = _states(runs, table, topology, single)
        counts = [count_transitions(states[table.rows(one)], topology) for one in runs]
        self_loops = estimate_self_loops(*np.sum(counts, axis=0))
        untrained = context.lexicon.untrained_phones(dataset.references.values())
        for n_components in settings.mixtures:
            grown = grow(table.frames, states, topology.n_states, n_components)
            hmm = PhoneHmm(topology, grown, self_loops)
            model = SpeechModel(
                hmm, front_end, context.lexicon, context.config.gmm_search, context.source, untrained=untrained
            )
            save_model(directory / f"gmm-{n_components}.safetensors", model)
            context.run.note_time(f"{n_components} components", time.monotonic() - started)
        aligned = states >= 0
        mean = float(grown.log_likelihood(table.frames[aligned])[np.arange(aligned.sum()), states[aligned]].mean())
        segments = {one: _segments(phones, topology) for one, phones in runs.items()}
        check = check_segments(states, table, segments, topology, dataset.frame_shift)
        (directory / "alignment.json").write_text(json.dumps(check.as_dict(), sort_keys=True), encoding="utf-8")
        write_array(directory / "states.npy", states)
        missing = {one: ("no-alignment", f"not in {given.path}") for one in table.ids if one not in runs}
        (directory / "failed.json").write_text(json.dumps(missing, sort_keys=True), encoding="utf-8")
        (directory / "training.json").write_text(json.dumps({n: [mean] for n in settings.mixtures}))
        return f"{n_components} Gaussians/state on given phones, log-likelihood {mean:.2f}, {len(missing)} not aligned"

    return load_gmm_stage(context, name, build)


def _states(
    runs: Mapping[str, list[Run]],
    table: FrameTable,
    topology: Topology,
    model: GaussianMixtures | None,
) -> np.ndarray:
    """Return the state of every frame, int32 (n_frames,), -1 without an alignment; a `model` divides the phones."""
    n_states = topology.states_per_phone
    states = np.full(table.n_frames, -1, np.int32)
    for utterance, phones in runs.items():
        rows = table.rows(utterance)
        scores = None if model is None else model.log_likelihood(table.frames[rows])
        for phone, first, end in phones:
            own = slice(phone * n_states, (phone + 1) * n_states)
            positions = divide_evenly(end - first, n_states) if scores is None else divide(scores[first:end, own])
            states[rows.start + first : rows.start + end] = phone * n_states + positions
    return states


def _segments(runs: list[Run], topology: Topology) -> tuple[list[Segment], list[Segment]]:
    """Return the phones as segments, and those that are not silence as words."""
    phones = [Segment(topology.phone_names[phone], first, end) for phone, first, end in runs]
    return phones, [one for one in phones if one.label != SILENCE]
