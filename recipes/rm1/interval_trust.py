"""Trust in phones of an alignment against the distance of their boundaries from given ones.

    python -m recipes.rm1.interval_trust --corpus-dir DIR [--seeds 0 1 2]

DIR is the sample of Resource Management (`recipes.rm1.sample_data`), with phones that Sphinx aligned. Mixtures of 8
Gaussians are trained from a flat start on two thirds of the training speakers, and align the others. Finally, all
training speakers align the test speakers. Transcripts are those of `recipes.rm1.flat_starts`.

Prints for each seed, and for the test, the percentage of phones with both boundaries within 20 ms and their mean trust.
Then follow the areas under the ROC curve of the trust of phones and of boundaries. A boundary has the product of the
trusts of its two phones.
"""

import argparse
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from asr.acoustic.gmm_training import GmmSettings, train_gmm
from asr.alignment.forced_alignment import align_utterance
from asr.alignment.interval_trust import NEAR, interval_trust
from asr.alignment.transcript_scores import free_path, phone_loop
from asr.decode.path_segments import phone_segments
from asr.features.frontend import FrontEnd
from asr.hmm.topology import SHORT_PAUSE, SILENCE, Topology
from asr.util.errors import Issue
from recipes.rm1.cepstra import FEATURES
from recipes.rm1.flat_starts import transcript_of
from recipes.rm1.sample_data import STATES_PER_PHONE, Labelled, phone_begins, read_sample


class Phone(NamedTuple):
    """An aligned phone in frames, with its trust and the distances of its boundaries from the given ones."""

    start: int
    end: int
    trust: float
    start_error: int
    end_error: int


def main() -> None:
    """Train, align and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus-dir", type=Path, required=True, help="the sample's folder")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="of the three folds of speakers")
    found = parser.parse_args()
    lexicon, splits = read_sample(found.corpus_dir)
    topology, train, test = Topology(lexicon.phones, STATES_PER_PHONE), splits["train"], splits["test"]
    speakers = train.dataset.speakers
    for seed in found.seeds:
        order = np.random.default_rng(seed).permutation(speakers).tolist()
        phones: list[list[Phone]] = []
        for fold in range(3):
            held = set(order[fold::3])
            phones += _judged(train, set(order) - held, train, held, topology)
        _print(f"training speakers, seed {seed}", phones)
    _print("test speakers", _judged(train, speakers, test, test.dataset.speakers, topology))


def _judged(
    train: Labelled, trained: Collection[str], test: Labelled, judged: Collection[str], topology: Topology
) -> list[list[Phone]]:
    """Train on some speakers and align others; return the phones of each utterance, without pauses."""
    known, unknown = train.dataset.of_speakers(trained).static, test.dataset.of_speakers(judged).static
    front_end = FrontEnd(FEATURES).fit(known)
    graphs = {name: transcript_of(train.states[name], topology) for name in known.ids}
    settings = GmmSettings.model_validate({"mixtures": (1, 2, 4, 8)})
    (*_, (_, hmm, _)) = train_gmm(front_end.transform(known), graphs, topology, settings)
    loop, table = phone_loop(topology), front_end.transform(unknown)
    utterances = []
    for number, name in enumerate(table.ids):
        scores, graph = hmm.recording_scores(table.utterance(number)), transcript_of(test.states[name], topology)
        found = align_utterance(scores, graph, topology, hmm.self_loops)
        free = free_path(scores, loop, topology, hmm.self_loops)
        if isinstance(found, Issue) or isinstance(free, Issue):
            continue
        trust = interval_trust(scores, found.path, graph, free, loop, topology, hmm.self_loops)
        given = _given(test.states[name])
        segments = zip(phone_segments(found.path, graph, topology), trust.phones, strict=True)
        spoken = [(one, value) for one, value in segments if one.label not in (SILENCE, SHORT_PAUSE)]
        utterances.append(
            [
                Phone(one.start, one.end, value, abs(one.start - start), abs(one.end - end))
                for (one, value), (start, end) in zip(spoken, given, strict=True)
            ]
        )
    return utterances


def _given(states: np.ndarray) -> list[tuple[int, int]]:
    """Return first frame and end of each given phone, without silence."""
    begins = np.flatnonzero(phone_begins(states))
    ends = np.append(begins[1:], len(states))
    return [
        (start, end)
        for start, end in zip(begins.tolist(), ends.tolist(), strict=True)
        if states[start] >= STATES_PER_PHONE
    ]


def _print(name: str, utterances: list[list[Phone]]) -> None:
    """Print a line of the table."""
    phones = [phone for utterance in utterances for phone in utterance]
    trusts = np.array([phone.trust for phone in phones])
    near = np.array([max(phone.start_error, phone.end_error) <= NEAR for phone in phones])
    borders = [border for utterance in utterances for border in _borders(utterance)]
    of_phones = roc_auc_score(near, trusts)
    of_borders = roc_auc_score([right for right, _ in borders], [trust for _, trust in borders])
    print(f"{name}: {100 * near.mean():.1f} % of {len(phones)} phones within 20 ms")
    print(
        f"  mean trust {100 * trusts.mean():.1f} %; area {of_phones:.3f} for phones, {of_borders:.3f} for boundaries",
        flush=True,
    )


def _borders(phones: list[Phone]) -> Iterator[tuple[bool, float]]:
    """Yield for each boundary whether it is within 20 ms, and its trust; next to a pause, that of the phone squared."""
    for before, after in pairwise([None, *phones, None]):
        if before is not None and after is not None and before.end == after.start:
            yield after.start_error <= NEAR, before.trust * after.trust
            continue
        if before is not None:
            yield before.end_error <= NEAR, before.trust**2
        if after is not None:
            yield after.start_error <= NEAR, after.trust**2


if __name__ == "__main__":
    main()
