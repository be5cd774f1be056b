"""Accuracy of the flat starts of training: frames in the right phone, for decreasing amounts of speech.

    python -m recipes.rm1.flat_starts --corpus-dir DIR

DIR is the sample of Resource Management (`recipes.rm1.sample`): cepstra of 75 sentences by 40 speakers with phones that
Sphinx aligned. Transcripts are the phones between its silences, each such run as one word, so they contain no phone
boundaries. Mixtures of 8 Gaussians are grown from each start, on all sentences and on one random part per seed, without
and with a restart. The output is the % of training frames in the right phone, mean and minimum over the seeds, followed
by the same as a JSON object.
"""

import argparse
import json
import os
from itertools import groupby
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from asr.acoustic.gmm_training import GmmSettings, train_gmm  # noqa: E402
from asr.alignment.batch_alignment import align_table  # noqa: E402
from asr.alignment.transcript_graph import transcript_graph  # noqa: E402
from asr.features.frontend import FrontEnd  # noqa: E402
from asr.hmm.state_graph import StateGraph  # noqa: E402
from asr.hmm.topology import Topology  # noqa: E402
from asr.lexicon import Lexicon  # noqa: E402
from recipes.rm1.cepstra import FEATURES  # noqa: E402
from recipes.rm1.sample_data import STATES_PER_PHONE, phone_sequence, read_sample  # noqa: E402

STARTS = ("equal", "pauses", "changes", "auto")
RESTARTS = (0, 1)
SHARES = (1.0, 0.6, 0.4, 0.25)


def main() -> None:
    """Train, align and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus-dir", type=Path, required=True, help="the sample's folder")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="of the parts")
    found = parser.parse_args()
    lexicon, splits = read_sample(found.corpus_dir)
    labelled, topology = splits["train"], Topology(lexicon.phones, STATES_PER_PHONE)
    whole = FrontEnd(FEATURES).fit(labelled.dataset.static).transform(labelled.dataset.static)
    graphs = {name: transcript_of(labelled.states[name], topology) for name in whole.ids}
    ways = {
        start + (", restarted" if flat_start_restarts else ""): {
            "start": start,
            "flat_start_restarts": flat_start_restarts,
        }
        for flat_start_restarts in RESTARTS
        for start in STARTS
    }
    right: dict[str, dict[float, list[float]]] = {way: {share: [] for share in SHARES} for way in ways}
    for share in SHARES:
        for seed in found.seeds if share < 1.0 else [0]:
            drawn = np.random.default_rng(seed).permutation(whole.ids)[: int(share * len(whole))]
            table = whole.subset(sorted(drawn.tolist()))
            phones = np.concatenate([labelled.states[name] for name in table.ids]) // STATES_PER_PHONE
            for way, chosen in ways.items():
                settings = GmmSettings.model_validate({"mixtures": (1, 2, 4, 8), **chosen})
                (*_, (_, hmm, _)) = train_gmm(table, graphs, topology, settings)
                aligned = align_table(hmm.log_likelihood, table, graphs, topology, hmm.self_loops)
                right[way][share].append(100.0 * float(np.mean(aligned.states // STATES_PER_PHONE == phones)))
    printed = Table("start", *(f"{int(share * len(whole))} sentences" for share in SHARES))
    for way, of_way in right.items():
        cells = (
            f"{np.mean(rates):.1f}" + (f" ({min(rates):.1f})" if len(rates) > 1 else "") for rates in of_way.values()
        )
        printed.add_row(way, *cells)
    Console().print(printed)
    print(json.dumps(right))


def transcript_of(states: np.ndarray, topology: Topology) -> StateGraph:
    """Build the transcript graph of an utterance: its phones between two silences are one word."""
    runs = groupby(phone_sequence(states).tolist(), key=bool)
    words = [tuple(topology.phone_names[phone] for phone in run) for spoken, run in runs if spoken]
    lexicon = Lexicon({str(number): (phones,) for number, phones in enumerate(words)})
    return transcript_graph(list(lexicon.words), lexicon, topology)


if __name__ == "__main__":
    main()
