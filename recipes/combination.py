"""System combination by an equally weighted vote over confusion networks (Evermann and Woodland 2000)."""

from collections.abc import Callable, Sequence

from asr.acoustic.model_file import SearchSettings, SpeechModel
from asr.hmm.state_graph import StateGraph
from asr.lattices.combination import aligned, voted
from asr.lattices.confusion_network import Bin, spoken
from asr.lattices.lattice import Lattice
from asr.lattices.minimum_bayes_risk import mbr_decode
from asr.recognition.decoder import Recognition, recognize
from asr.recognition.lattice_outputs import default_lattice_beam
from asr.training.dataset import Dataset
from asr.util.errors import Issue
from discriminants.parallel.workers import Workers

Part = tuple[Callable[[], SpeechModel], SearchSettings, StateGraph]
"""A system: loader of its model, its search, and the grammar's graph for its states."""


def recognize_together(
    parts: Sequence[Part], dataset: Dataset, workers: Workers
) -> tuple[dict[str, tuple[str, ...]], dict[str, Issue], float]:
    """Return the winning words, the utterances without words and their faults, and the processor time.

    Systems that cannot recognize an utterance are left out of its vote.
    """
    networks: dict[str, list[list[Bin]]] = {}
    failed: dict[str, Issue] = {}
    seconds = 0.0
    for load, search, graph in parts:
        model = load()
        found = recognize(
            model, dataset.static, graph, search, lattice_beam=default_lattice_beam(search), workers=workers
        )
        seconds += found.cpu_seconds
        failed |= found.failed
        for name, network in _networks(found, model.front_end.config.shift_ms).items():
            networks.setdefault(name, []).append(network)
    words = {}
    for name, own in networks.items():
        places = voted(aligned(own), [1.0 / len(own)] * len(own))
        words[name] = tuple(place.words[0][0] for place in spoken(places))
    return words, {name: fault for name, fault in failed.items() if name not in words}, seconds


def _networks(found: Recognition, shift_ms: float) -> dict[str, list[Bin]]:
    """Return networks by utterance, times in ms; digital silence, without a lattice, has no bins."""
    return {
        name: [] if name not in found.lattices else _in_time(found.lattices[name], shift_ms) for name in found.words
    }


def _in_time(lattice: Lattice, shift_ms: float) -> list[Bin]:
    return [Bin(one.words, one.begin * shift_ms, one.end * shift_ms) for one in mbr_decode(lattice).places]
