"""Lattices and confusion networks: what `asr combine` and programs read next to words and their times."""

from pathlib import Path

import numpy as np

from asr.alignment.confusion_file import read_confusions, write_confusions
from asr.lattices.combination import aligned, voted
from asr.lattices.confusion_network import Bin, spoken_segments
from asr.lattices.kaldi_text import read_kaldi_lattices, write_kaldi_lattices
from asr.lattices.lattice import Lattice
from asr.lattices.minimum_bayes_risk import mbr_decode
from asr.lattices.slf import read_slf_lattice
from tests.fuzz.mutators.text_mutators import TEXT
from tests.fuzz.outcome import Unsound, check_mark
from tests.fuzz.reader import reader

CONFUSIONS = (
    b"utterance\tstart\tend\twords\nutt1\t0.000\t0.250\tONE:0.9000 <eps>:0.1000\n"
    b"utt1\t0.250\t0.550\tTWO:0.6000 A:B:0.3000 <eps>:0.0999\nutt2\t0.1\t2.\tNO:1\n"
)
LATTICE = (
    b"VERSION=1.0\nUTTERANCE=utt1\nlmscale=8 wdpenalty=-2 acscale=1.00\nstart=0 end=4\nN=5 L=6\nI=0 t=0.0000\n"
    b"I=1 t=0.1275\nI=2 t=0.2500\nI=3 t=0.5500\nI=4 t=0.5500\nJ=0 S=0 E=1 W=!NULL a=0 l=0\n"
    b"J=1 S=0 E=2 W=ONE a=-10.5 l=-0.5\nJ=2 S=1 E=2 W=TWO a=-11.25 l=-0.25\nJ=3 S=2 E=3 W=NO a=-20 l=-1\n"
    b"J=4 S=2 E=4 W=!NULL a=0 l=-30\nJ=5 S=3 E=4 W=!NULL a=-1 l=-0.125\n"
)
KALDI = (
    b"utt1 \n0\t1\t<eps>\t0,0,1_1\n0\t2\tONE\t0.5,10.5,1_1_1\n1\t2\tTWO\t0.25,11.25,1\n2\t3\tNO\t1,20,1_1\n"
    b"2\t30,0,\n3\t0.125,1,1\n\nutt2 \n0\t1\tYES\t-0.5,1e1,1\n1\t0,0,\n\n"
)


def check_combination(network: list[Bin]) -> None:
    """A network beside itself says its own words, with probabilities."""
    said = [segment.label for segment in spoken_segments(network)]
    found = spoken_segments(voted(aligned([network, network]), [1.0, 1.0]))
    if [segment.label for segment in found] != said:
        raise Unsound(f"beside itself it says {found[:3]}, and not {said[:3]}")
    if not all(0 <= (segment.confidence or 0.0) <= 1 for segment in found):
        raise Unsound("a confidence is no probability")


@reader("confusion-networks", {"confusions.tsv": CONFUSIONS}, TEXT)
def _confusions(path: Path) -> None:
    networks = check_mark((path,), lambda: read_confusions(path))
    for network in networks.values():
        # In the order of a vote: the winner first.
        check_combination(voted(aligned([network]), [1.0]))
    again = path.with_name("again.tsv")
    write_confusions(again, networks)
    if {name for name, places in networks.items() if places} - read_confusions(again).keys():
        raise Unsound("networks are not read back as they were written")


@reader("word-lattice", {"utt1.lat": LATTICE}, TEXT)
def _word_lattice(path: Path) -> None:
    check_mark((path,), lambda: read_slf_lattice(path).words)
    check_lattice(read_slf_lattice(path, rate=1000.0))


@reader("kaldi-lattices", {"lattices.txt": KALDI}, TEXT)
def _kaldi_lattices(path: Path) -> None:
    check_mark((path,), lambda: [(name, lattice.words) for name, lattice in read_kaldi_lattices(path)])
    lattices = dict(read_kaldi_lattices(path, lm_scale=8.0, insertion_penalty=-2.0))
    for lattice in lattices.values():
        check_lattice(lattice)
    again = path.with_name("again.txt")
    write_kaldi_lattices(again, lattices)
    if {name: lattice.words for name, lattice in read_kaldi_lattices(again)} != {
        name: lattice.words for name, lattice in lattices.items()
    }:
        raise Unsound("lattices are not read back as they were written")


def check_lattice(lattice: Lattice) -> None:
    """The confusion network of a lattice holds probabilities."""
    places = mbr_decode(lattice.pruned(np.inf)).places
    for place in places:
        if not all(0 <= share <= 1 + 1e-6 for _, share in place.words):
            raise Unsound(f"a place has {place.words[:3]}")
    check_combination(list(places))
