"""TIMIT's recordings and hand labels, in the published split (Lee and Hon 1989; Halberstadt 1998).

Training has 462 speakers with eight sentences each; the sentences SA, which all speakers read, are left out. The core
test has 24 speakers. 50 other speakers of the folder TEST are for development.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from asr.corpus.audio import read_header
from asr.corpus.case_insensitive_dir import FoldedTree
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.identifiers import fault_in_name
from asr.scoring.fold import read_fold
from asr.training.given_alignment import Interval
from asr.util.errors import CorpusError, Issue, attempt, printable
from asr.util.text_lines import read_text_lines
from recipes.corpus import checked, corpus_of

RATE = 16000
TRAIN, DEV, TEST = "train", "dev", "test"
PHONE_MAP = Path(__file__).with_name("phones.61-48-39.map")
"""The 61 labels, the 48 classes of training and the 39 of scoring (Lee and Hon 1989, tables I and II)."""
SILENCE = "sil"
CORE_TEST = frozenset(
    "mdab0 mwbt0 felc0 mtas1 mwew0 fpas0 mjmp0 mlnt0 fpkt0 mlll0 mtls0 fjlm0 mbpm0 mklt0 fnlp0 mcmj0 mjdh0 fmgd0 mgrt0 "
    "mnjm0 fdhc0 mjln0 mpam0 fmld0".split()
)
"""Two men and one woman of each dialect region."""
DEVELOPMENT = frozenset(
    "faks0 fdac1 fjem0 mgwt0 mjar0 mmdb1 mmdm2 mpdf0 fcmh0 fkms0 mbdg0 mbwm0 mcsh0 fadg0 fdms0 fedw0 mgjf0 mglb0 mrtk0 "
    "mtaa0 mtdt0 mthc0 mwjg0 fnmr0 frew0 fsem0 mbns0 mmjr0 mdls0 mdlf0 mdvc0 mers0 fmah0 fdrw0 mrcs0 mrjm4 fcal1 mmwh0 "
    "fjsj0 majc0 mjsw0 mreb0 fgjd0 fjmg0 mroa0 mteb0 mjfc0 mrjr0 fmml0 mrws1".split()
)
"""Halberstadt's development speakers, as in Kaldi's `egs/timit/s5/conf/dev_spk.list`."""
EXPECTED = {TRAIN: (462, 3696), DEV: (50, 400), TEST: (24, 192)}
"""Number of speakers and sentences of each split."""
_ROOTS = ("", "timit/", "data/", "timit/timit/", "timit/data/")
_AUDIO = (".wav.wav", ".wav", ".sph", ".flac")  # the first is RIFF next to SPHERE in some mirrors


@dataclass(frozen=True)
class Timit:
    """Utterances by split with the 48 classes as words, hand labels by utterance, and differences from the corpus."""

    splits: Mapping[str, DataDirectory]
    labels: Mapping[str, list[Interval]]
    notes: tuple[str, ...]


def read_corpus(root: Path) -> Timit:
    """Read the corpus below `root`, in either letter case.

    Raises CorpusError if a folder is missing, a split has no usable recording, or a recording or label file of the
    development or test speakers is damaged. Such training recordings are left out and listed.
    """
    tree = FoldedTree(root)
    found: dict[str, list[Utterance | Issue]] = {TRAIN: [], DEV: [], TEST: []}
    labels: dict[str, list[Interval]] = {}
    for part in (TRAIN, TEST):
        folder = next(filter(None, (tree.folder(f"{place}{part}") for place in _ROOTS)), None)
        if folder is None:
            raise CorpusError(
                f"{root}: folder '{part.upper()}' not found. Expected TRAIN and TEST of TIMIT (LDC93S1)",
                code="missing-file",
            )
        for region in tree.names(folder):
            for name in tree.names(folder / region):
                speaker = name.casefold()
                split = part if part == TRAIN else TEST if speaker in CORE_TEST else DEV
                if split != DEV or speaker in DEVELOPMENT:
                    found[split] += _sentences(tree, folder / region / name, speaker, labels)
    check = partial(read_header, rate=RATE)
    splits = {
        split: checked(corpus_of(root / split, own), check, complete=split != TRAIN) for split, own in found.items()
    }
    empty = [split for split, corpus in splits.items() if not corpus.utterances]
    if empty:
        raise CorpusError(f"{root}: no recordings of the split '{empty[0]}' were found. Expected the whole corpus")
    return Timit(splits, labels, tuple(_differences(splits)))


def _sentences(
    tree: FoldedTree, folder: Path, speaker: str, labels: dict[str, list[Interval]]
) -> Iterator[Utterance | Issue]:
    """Yield a speaker's sentences without SA1 and SA2, and add their hand labels."""
    files = {name.casefold(): folder / name for name in tree.names(folder)}
    for file, path in files.items():
        if not file.endswith(".phn") or file.startswith("sa"):
            continue
        sentence = file.removesuffix(".phn")
        name = f"{speaker}_{sentence}"
        fault = fault_in_name(name)
        audio = next((files[sentence + suffix] for suffix in _AUDIO if sentence + suffix in files), None)
        phones = attempt(read_phones, path)
        if fault is not None:
            yield Issue("bad-name", f"the name of {path} {fault}", utterances=(name,))
        elif isinstance(phones, Issue):
            yield phones.for_utterance(name)
        elif audio is None:
            yield Issue("no-audio", f"{path} has no recording of the same name", utterances=(name,))
        else:
            labels[name] = phones
            yield Utterance(name, speaker, tuple(phone for _, _, phone in phones), audio)


def read_phones(path: Path) -> list[Interval]:
    """Read the hand labels of a sentence (`.PHN`): start, end in seconds, and one of 48 classes.

    A glottal stop (q) is not a phone; its time belongs to the next phone, or at the end to the last one. Raises
    CorpusError, with file and line, for lines other than `START END LABEL` with increasing sample numbers.
    """
    classes = _training_classes()
    found: list[Interval] = []
    begin: int | None = None
    last = end = 0
    for number, line in enumerate(read_text_lines(path, CorpusError), 1):
        fields = line.split()
        if not fields:
            continue
        numbers = [int(field) for field in fields[:2] if field.isascii() and field.isdigit() and len(field) < 10]
        if len(fields) != 3 or len(numbers) != 2 or fields[2] not in classes or not last <= numbers[0] <= numbers[1]:
            raise CorpusError(
                f"{path}:{number}: '{printable(line, 80)}'. Expected START END LABEL with increasing sample numbers "
                "and a label of TIMIT"
            )
        last, end = numbers
        begin = last if begin is None else begin
        if classes[fields[2]]:
            found.append((begin / RATE, end / RATE, classes[fields[2]]))
            begin = None
    if not found:
        raise CorpusError(f"{path}: no phones")
    if begin is not None:
        found[-1] = (found[-1][0], end / RATE, found[-1][2])
    return found


@cache
def _training_classes() -> dict[str, str]:
    return read_fold(f"{PHONE_MAP}:2")


def _differences(splits: Mapping[str, DataDirectory]) -> Iterator[str]:
    """Yield differences from the published split."""
    for split, corpus in splits.items():
        counts = (len(corpus.speakers), len(corpus.utterances))
        if counts != EXPECTED[split]:
            yield (
                f"{split}: {counts[0]} speakers with {counts[1]} sentences. Expected {EXPECTED[split][0]} with "
                f"{EXPECTED[split][1]}, so the results cannot be compared with published ones"
            )
