"""Dividing utterances where the sound changes: the cheapest division, by trying all of them, and what it finds."""

import itertools

import numpy as np
import pytest

from asr.acoustic.flat_start import with_evidence
from asr.alignment import acoustic_segmentation
from asr.alignment.acoustic_segmentation import changes_alignment, divided_runs, pause_costs, phone_costs
from asr.alignment.batch_alignment import flat_alignment
from asr.alignment.transcript_graph import transcript_graph
from asr.features.frame_table import FrameTable
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.util.errors import AlignmentError
from discriminants.parallel.workers import LocalWorkers, SerialWorkers

LEXICON = Lexicon({"AB": (("a", "b"),), "C": (("c",),)})
TOPOLOGY = Topology(("a", "b", "c"), states_per_phone=2)
PAUSE = TOPOLOGY.silence_states


def cost_of(frames: np.ndarray, evidence: np.ndarray, pause: list[bool], lengths: tuple[int, ...]) -> float:
    """By the definition: each part by itself."""
    average = max(2, (evidence > 0).sum() / 3)
    paused = frames[evidence < 0]
    total, start = 0.0, 0
    for is_pause, length in zip(pause, lengths, strict=True):
        own, guide = frames[start : start + length], evidence[start : start + length]
        if is_pause and length:
            if not len(paused):
                return np.inf
            total += 0.5 * ((own - paused.mean(axis=0)) ** 2).sum() + 2.0 * np.maximum(guide, 0).sum()
        elif length:
            total += 0.5 * ((own - own.mean(axis=0)) ** 2).sum() + 2.0 * np.maximum(-guide, 0).sum()
            total += 10.0 * np.log(length / average) ** 2
        start += length
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_division_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    n_frames = int(rng.integers(6, 15))
    frames = rng.normal(size=(n_frames, 2)) * 2.0
    evidence = (rng.normal(size=n_frames) * 2.0 + seed % 3).astype(np.float32)
    graph = transcript_graph(["AB", "C"], LEXICON, TOPOLOGY)
    pause = [True, False, False, True, False, True]
    ways = [
        lengths
        for lengths in itertools.product(*([0] * each + [*range(2, n_frames + 1)] for each in pause))
        if sum(lengths) == n_frames
    ]
    found = divided_runs(frames, evidence, graph, TOPOLOGY)
    assert found is not None
    units, lengths = found
    phone = [-1 if unit in PAUSE else int(unit) // 2 for unit in units[::2]]
    parts = dict.fromkeys(range(6), 0)
    place = 0
    for each, length in zip(phone, lengths.reshape(-1, 2).sum(axis=1).tolist(), strict=True):
        while pause[place] != (each < 0):
            place += 1
        parts[place] = length
        place += 1
    best = min(cost_of(frames, evidence, pause, way) for way in ways)
    assert cost_of(frames, evidence, pause, tuple(parts.values())) == pytest.approx(best)


def test_costs_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    frames, evidence = rng.normal(size=(9, 3)), rng.normal(size=9).astype(np.float32)
    phones, pauses = phone_costs(frames, evidence, 5, 2.5), pause_costs(frames, evidence)
    own = frames[3:7]
    expected = (
        0.5 * ((own - own.mean(0)) ** 2).sum() + 10 * np.log(4 / 2.5) ** 2 - 2 * np.minimum(evidence[3:7], 0).sum()
    )
    assert phones[7, 4] == pytest.approx(expected)
    assert np.isinf(phones[2, 3])
    apart = own - frames[evidence < 0].mean(0)
    expected = 0.5 * (apart**2).sum() + 2 * np.maximum(evidence[3:7], 0).sum()
    assert pauses[7] - pauses[3] == pytest.approx(expected)


class Sounds:
    """Utterances of AB, C and AB with pauses at the ends; every phone has a mean of its own."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        means = dict(zip("abc", rng.normal(size=(3, 5)) * 2.0, strict=True))
        self.graphs, matrices, self.truth = {}, [], []
        for number in range(20):
            parts, states = [rng.normal(size=(40, 5)) * 0.3 - 6.0], [np.zeros(40, int)]
            for phone in "abcab":
                length = int(rng.integers(5, 25))
                parts.append(means[phone] + rng.normal(size=(length, 5)) * 0.5)
                states.append(np.full(length, 1 + "abc".index(phone)))
            parts.append(rng.normal(size=(40, 5)) * 0.3 - 6.0)
            states.append(np.zeros(40, int))
            self.graphs[f"u{number:02d}"] = transcript_graph(["AB", "C", "AB"], LEXICON, TOPOLOGY)
            matrices.append(np.concatenate(parts))
            self.truth.append(np.concatenate(states))
        self.table = FrameTable.from_utterances(sorted(self.graphs), ["s"] * 20, matrices)


def test_sounds_are_found_where_they_are_and_even_parts_are_not():
    sounds = Sounds()
    truth = np.concatenate(sounds.truth)
    found = changes_alignment(with_evidence(sounds.table, sounds.graphs), sounds.graphs, TOPOLOGY)
    even = flat_alignment(sounds.table, sounds.graphs, TOPOLOGY)
    assert (found.states // 2 == truth).mean() > 0.95
    assert (even.states // 2 == truth).mean() < 0.7
    assert found.stays.sum() + found.visits.sum() == len(truth)


def test_the_division_does_not_depend_on_the_workers():
    sounds = Sounds()
    guided = with_evidence(sounds.table, sounds.graphs)
    one, two = (
        changes_alignment(guided, sounds.graphs, TOPOLOGY, workers=workers)
        for workers in (SerialWorkers(), LocalWorkers(2))
    )
    np.testing.assert_array_equal(one.states, two.states)


def test_what_is_too_large_is_divided_evenly(monkeypatch):
    sounds = Sounds()
    monkeypatch.setattr(acoustic_segmentation, "_LARGEST", 0)
    found = changes_alignment(with_evidence(sounds.table, sounds.graphs), sounds.graphs, TOPOLOGY)
    np.testing.assert_array_equal(found.states, flat_alignment(sounds.table, sounds.graphs, TOPOLOGY).states)


def test_what_is_too_short_fails_by_itself_and_a_corpus_of_it_is_refused():
    sounds = Sounds()
    graphs = {**sounds.graphs, "zz": sounds.graphs["u00"]}
    matrices = [*(sounds.table.utterance(name) for name in sounds.table.ids), np.zeros((9, 5))]
    table = FrameTable.from_utterances([*sounds.table.ids, "zz"], ["s"] * 21, matrices)
    found = changes_alignment(with_evidence(table, graphs), graphs, TOPOLOGY)
    assert list(found.failed) == ["zz"]
    assert (found.states[:-9] >= 0).all()
    assert (found.states[-9:] == -1).all()
    alone = table.subset(["zz"])
    with pytest.raises(AlignmentError, match="none of the 1 utterances"):
        changes_alignment(with_evidence(alone, graphs), graphs, TOPOLOGY)


def test_an_utterance_without_words_is_a_pause():
    graph = transcript_graph([], LEXICON, TOPOLOGY)
    table = FrameTable.from_utterances(["u"], ["s"], [np.zeros((8, 5))])
    found = changes_alignment(with_evidence(table, {"u": graph}), {"u": graph}, TOPOLOGY)
    assert set(found.states.tolist()) == set(PAUSE)
