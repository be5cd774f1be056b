"""100 utterances of Resource Management as cepstra with given states, without audio and words.

The folder has `phones.txt` (one phone a line, `SIL` among them) and, for `train` and `test`, `mfc.scp` (utterance,
path of its Sphinx cepstra in the folder), `utt2spk`, and `states.txt` (utterance, a state for every frame: state
`s % 3` of phone `s // 3`).
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from asr.corpus.case_insensitive_dir import FoldedTree
from asr.corpus.identifiers import fault_in_name
from asr.corpus.list_file import Entry, read_list
from asr.corpus.sphinx_features import SPHINX_COEFFICIENTS, read_sphinx_features
from asr.features.frame_table import FrameTable
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import Lexicon
from asr.training.dataset import Dataset
from asr.util.errors import CorpusError
from asr.util.text_lines import read_text_lines
from recipes.rm1.layout import require

SPLITS = ("train", "test")
STATES_PER_PHONE = 3
_FILES = ("mfc.scp", "utt2spk", "states.txt")


@dataclass(frozen=True)
class Labelled:
    """Cepstra with the phones without silence as words, and the state of every frame by utterance.

    The states, int32 (n_frames,), are numbered as in the project's topology: silence comes first.
    """

    dataset: Dataset
    states: Mapping[str, np.ndarray]

    def states_of(self, dataset: Dataset) -> np.ndarray:
        """Concatenate the states of part of the utterances in the order of its table, int32 (n_frames,)."""
        return np.concatenate([self.states[name] for name in dataset.static.ids])

    def digest(self) -> str:
        """Checksum of utterances, speakers, frames and states."""
        table = self.dataset.static
        digest = hashlib.sha256(repr((table.ids, table.speakers, table.offsets.tolist())).encode())
        digest.update(table.frames.tobytes())
        digest.update(self.states_of(self.dataset).tobytes())
        return digest.hexdigest()


def read_sample(folder: Path | str) -> tuple[Lexicon, dict[str, Labelled]]:
    """Read a lexicon with the phones as words, and the splits by name.

    An utterance may have one label more than frames (two of the real ones do); the last is then dropped.

    Raises
    ------
    CorpusError
        For missing files, listing all of them, and for malformed files, with file and line: duplicate phones, no
        silence, invalid names, utterances missing from one of the three lists, labels that are not states of the phones
        or do not match the frames, and speakers in both splits.
    """
    tree = FoldedTree(folder)
    wanted = [("phones.txt",), *((f"{split}/{name}",) for split in SPLITS for name in _FILES)]
    phones_file, *paths = require(tree, wanted)
    phones = _read_phones(phones_file)
    lexicon = Lexicon({phone: ((phone,),) for phone in phones if phone != SILENCE}, source=str(phones_file))
    topology = Topology(lexicon.phones, STATES_PER_PHONE)
    house = np.array([state for phone in phones for state in topology.units(phone)], np.int32)
    read = {
        split: _read_split(tree, phones, house, *paths[start : start + len(_FILES)])
        for split, start in zip(SPLITS, range(0, len(paths), len(_FILES)), strict=True)
    }
    both = set.intersection(*(set(labelled.dataset.speakers) for labelled in read.values()))
    if both:
        raise CorpusError(
            f"{tree.root}: speaker '{min(both)}' is in {' and '.join(SPLITS)}. Expected different speakers"
        )
    return lexicon, read


def _read_phones(path: Path) -> list[str]:
    phones = [line.strip() for line in read_text_lines(path, CorpusError)]
    for number, phone in enumerate(phones, 1):
        if fault_in_name(phone) or phone in phones[: number - 1]:
            raise CorpusError(
                f"{path}:{number}: '{phone}' is not a valid phone name. Expected different names, one per line"
            )
    if SILENCE not in phones or len(phones) < 2:
        raise CorpusError(f"{path}: {len(phones)} phones. Expected {SILENCE} and at least one other phone")
    return phones


def _read_split(
    tree: FoldedTree, phones: list[str], house: np.ndarray, list_file: Path, speakers_file: Path, states_file: Path
) -> Labelled:
    files, speakers, labels = read_list(list_file), read_list(speakers_file), read_list(states_file)
    if not files:
        raise CorpusError(f"{list_file} has no utterances")
    for path, entries in ((speakers_file, speakers), (states_file, labels)):
        odd = sorted(files.keys() ^ entries.keys())
        if odd:
            lacking = path if odd[0] in files else list_file
            raise CorpusError(
                f"{lacking}: utterance '{odd[0]}' is missing. Expected the same utterances in {list_file.name} "
                f"and {path.name}"
            )
    for path, number, name in _names(list_file, files, speakers_file, speakers):
        fault = fault_in_name(name)
        if fault is not None:
            raise CorpusError(f"{path}:{number}: '{name}' is not a valid name of an utterance or speaker: it {fault}")
    sources = require(tree, [(entry.value,) for entry in files.values()])  # looked up in directory listings only
    frames, states, spoken = [], {}, {}
    for name, source in zip(files, sources, strict=True):
        frames.append(read_sphinx_features(source, SPHINX_COEFFICIENTS))
        given = _labels(states_file, labels[name], len(house))
        if len(given) - len(frames[-1]) not in (0, 1):
            raise CorpusError(
                f"{states_file}:{labels[name].line}: '{name}' has {len(given)} labels for the {len(frames[-1])} "
                f"frames of {source}. Expected the same number, or one more, which is dropped"
            )
        given = given[: len(frames[-1])]
        spoken[name] = tuple(phones[number] for number in phone_sequence(given) if phones[number] != SILENCE)
        states[name] = house[given]
    table = FrameTable.from_utterances(files, [speakers[name].value for name in files], frames)
    return Labelled(Dataset(table, spoken), states)


def _names(
    list_file: Path, files: Mapping[str, Entry], speakers_file: Path, speakers: Mapping[str, Entry]
) -> Iterator[tuple[Path, int, str]]:
    """Yield file, line and name of every utterance and speaker."""
    yield from ((list_file, entry.line, name) for name, entry in files.items())
    yield from ((speakers_file, entry.line, entry.value) for entry in speakers.values())


def _labels(path: Path, entry: Entry, n_states: int) -> np.ndarray:
    fields = entry.value.split()
    known = {str(state): state for state in range(n_states)}
    wrong = next((field for field in fields if field not in known), None)
    if wrong is not None:
        raise CorpusError(f"{path}:{entry.line}: '{wrong}' is not a state. Expected numbers from 0 to {n_states - 1}")
    return np.array([known[field] for field in fields], np.int64)


def phone_sequence(states: np.ndarray) -> np.ndarray:
    """Return the phone numbers, int64 (n,), of a state sequence, int64 (n_frames,).

    A new phone starts if the phone changes or its state decreases.
    """
    return (states // STATES_PER_PHONE)[phone_begins(states)]


def phone_begins(states: np.ndarray) -> np.ndarray:
    """Return whether a phone starts at each frame, bool (n_frames,)."""
    begins = np.ones(len(states), bool)
    begins[1:] = (np.diff(states // STATES_PER_PHONE) != 0) | (np.diff(states) < 0)
    return begins
