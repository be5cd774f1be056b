"""The text files of Resource Management's discs, and the headers of their recordings."""

from pathlib import Path

import numpy as np

from asr.corpus.identifiers import fault_in_name
from asr.corpus.sphinx_features import write_sphinx_features
from recipes.rm1.disc_texts import read_ndx, read_prompts, read_sexes
from recipes.rm1.sample_data import SPLITS, read_sample
from recipes.rm1.sphere import check_sphere, sphere_bytes
from recipes.rm1.sri_lexicon import read_sri_lexicon
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.text_mutators import TEXT
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader

RATE = 16000


@reader("rm1-ndx", {"4_indtst.ndx": b"; tests\nrm1/ind/abc0_1/sr001.sph\nrm1\\ind\\bcd5_2\\SR002 ; one\n"}, TEXT)
def _ndx(path: Path) -> None:
    for name in read_ndx(path):
        if name.is_absolute() or ".." in name.parts or fault_in_name(name.stem) or fault_in_name(name.parts[-2]):
            raise Unsound(f"a recording that leads elsewhere: {str(name)[:100]!r}")


@reader("rm1-prompts", {"al_sents.snr": b"; prompts\nSHOW THE SHIPS (SR001)\nIT'S HERE (SR002)\n"}, TEXT)
def _prompts(path: Path) -> None:
    for name, words in read_prompts(path).items():
        if not name or not words or any(word.split() != [word] for word in words):
            raise Unsound(f"a prompt that is no sentence: {name[:100]!r}")


@reader("rm1-speakers", {"al_spkrs.txt": b"; speakers\nABC0 M 1\nBCD5 F 2\n"}, TEXT)
def _speakers(path: Path) -> None:
    if not set(read_sexes(path).values()) <= {"m", "f"}:
        raise Unsound("a sex that is none")


@reader("rm1-sri-lexicon", {"pcdsril.txt": b";; words\nabout  ax b aw+1 tcl t\nships  sh ih+1 pcl s\n"}, TEXT)
def _lexicon(path: Path) -> None:
    lexicon = read_sri_lexicon(path)
    lexicon.digest()
    if {"tcl", "dcl", "kcl", "pcl", "bcl", "gcl"}.intersection(lexicon.phones):
        raise Unsound("a closure that was not folded")


reader("rm1-sphere", {"sr001.sph": sphere_bytes(np.arange(900, dtype=np.int16), RATE)}, (spoil_bytes,))(
    lambda path: check_sphere(path, RATE)
)


def _labelled(folder: Path) -> Seeds:
    """Two utterances, each a split, of two phones."""
    seeds = {"phones.txt": b"AA\nSIL\n"}
    for number, split in enumerate(SPLITS):
        write_sphinx_features(folder / "one.mfc", np.random.default_rng(number).normal(size=(6, 13)).astype(np.float32))
        seeds |= {
            f"cepstra/{split}.mfc": (folder / "one.mfc").read_bytes(),
            f"{split}/mfc.scp": f"{split}1 cepstra/{split}.mfc\n".encode(),
            f"{split}/utt2spk": f"{split}1 {split}-speaker\n".encode(),
            f"{split}/states.txt": f"{split}1 3 4 5 0 1 2 2\n".encode(),
        }
    return seeds


@reader("rm1-sample", _labelled, TEXT, tree=True)
def _sample(folder: Path) -> None:
    lexicon, data = read_sample(folder)
    for labelled in data.values():
        states = labelled.states_of(labelled.dataset)
        if len(states) != labelled.dataset.static.n_frames or states.max() >= 3 * (len(lexicon) + 1):
            raise Unsound("states that do not fit frames or phones")
        labelled.digest()
        if any(fault_in_name(speaker) for speaker in labelled.dataset.speakers):
            raise Unsound("a speaker who cannot be named")
