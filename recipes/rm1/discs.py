"""Resource Management on the discs of the LDC (LDC93S3A): SPHERE audio, lists, prompts, lexicon."""

import re
from collections import Counter
from functools import partial
from pathlib import Path

from asr.corpus.case_insensitive_dir import FoldedTree
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.identifiers import fault_in_name
from asr.features.config import FeatureConfig
from asr.grammar import read_word_pair, word_pair
from asr.util.errors import Issue
from recipes.corpus import checked, corpus_of
from recipes.rm1.corpus import Rm1Corpus, check_grammar
from recipes.rm1.disc_texts import read_ndx, read_prompts, read_sexes
from recipes.rm1.layout import TEST_SETS, TRAIN, refuse_missing, require
from recipes.rm1.sphere import check_sphere
from recipes.rm1.sri_lexicon import read_sri_lexicon

TRAIN_FOLDER = "rm1_audio1/rm1/ind_trn"
MORE_TRAINING = "rm1_audio2/2_4_2/rm1/ind/dev_aug"
TEST_ROOT = "rm1_audio2/2_4_2"
PROMPTS = "rm1_audio1/rm1/doc/al_sents.snr"
WORD_PAIRS = "rm1_audio1/rm1/doc/wp_gram.txt"
LEXICON = "rm1_audio2/2_4_2/score/src/rdev/pcdsril.txt"
SPEAKERS = "rm1_audio2/2_5_1/rm1/doc/al_spkrs.txt"
FEATURES = FeatureConfig(normalize="corpus")
EXPECTED = {72: 2880, 109: 3990}
"""Number of training sentences by number of training speakers."""
_CALIBRATION = re.compile(r"s[ab]\d+", re.IGNORECASE)  # dialect and calibration sentences, the same for all speakers

Prompts = dict[str, tuple[str, ...]]


def test_list(name: str) -> str:
    """Return the path of the list of a test set, such as `.../4_feb89/4_indtst.ndx`."""
    number = TEST_SETS[name]
    return f"{TEST_ROOT}/rm1/doc/tests/{number}_{name}/{number}_indtst.ndx"


def read_discs(tree: FoldedTree, train_speakers: int = 72) -> Rm1Corpus:
    """Read the corpus from the discs.

    Parameters
    ----------
    train_speakers : {72, 109}
        109 adds the speakers of `dev_aug`.

    Raises
    ------
    CorpusError
        Before any work, listing all required files and folders and all test recordings that are missing or damaged.
        Such training recordings are skipped and listed.
    LexiconError, GrammarError
        With file and line.
    """
    folders = [TRAIN_FOLDER] if train_speakers == 72 else [TRAIN_FOLDER, MORE_TRAINING]
    lists = {name: tree.find(test_list(name)) for name in TEST_SETS}
    absent = [name for name, path in lists.items() if path is None]
    needed = [(name,) for name in (*folders, PROMPTS, WORD_PAIRS, LEXICON)]
    if len(absent) == len(lists):
        needed += [(test_list(name),) for name in absent]
    prompts_file, pairs_file, lexicon_file = require(tree, needed)[len(folders) :]
    sexes_file = tree.find(SPEAKERS)
    sexes = {} if sexes_file is None else read_sexes(sexes_file)
    prompts = read_prompts(prompts_file)
    check = partial(check_sphere, rate=FEATURES.sample_rate)
    splits = {TRAIN: checked(_training(tree, folders, prompts, sexes), check, complete=False)}
    tests = {name: _test(tree, path, prompts, sexes) for name, path in lists.items() if path is not None}
    refuse_missing(tree.root, [place for _, missing in tests.values() for place in missing])
    splits |= {name: checked(corpus, check, complete=True) for name, (corpus, _) in tests.items()}
    lexicon = read_sri_lexicon(lexicon_file)
    grammar = word_pair(read_word_pair(pairs_file), lexicon.words)
    notes = [check_grammar(grammar, pairs_file, [utterance.words or () for utterance in splits[TRAIN].utterances])]
    notes += [f"test set {name} not found: {tree.root / test_list(name)} does not exist" for name in absent]
    if sexes_file is None:
        notes.append(f"{tree.root / SPEAKERS}, with the sex of the speakers, does not exist")
    notes += _differences(splits[TRAIN], train_speakers)
    return Rm1Corpus(splits, lexicon, grammar, pairs_file, FEATURES, tuple(notes))


def _training(tree: FoldedTree, folders: list[str], prompts: Prompts, sexes: dict[str, str]) -> DataDirectory:
    found = []
    for root in filter(None, map(tree.find, folders)):
        for speaker in tree.names(root):
            for file in tree.names(root / speaker):
                path = root / speaker / file
                if path.suffix.lower() == ".sph" and not _CALIBRATION.fullmatch(path.stem):
                    found.append(_utterance(path, prompts))
    return _directory(tree.root / folders[0], found, sexes)


def _test(tree: FoldedTree, listed: Path, prompts: Prompts, sexes: dict[str, str]) -> tuple[DataDirectory, list[str]]:
    """Return a test set, and the places of missing recordings."""
    places = {tree.root / TEST_ROOT / name: tree.find(f"{TEST_ROOT}/{name}") for name in read_ndx(listed)}
    found = [_utterance(path, prompts) for path in places.values() if path is not None]
    return _directory(listed, found, sexes), [str(place) for place, path in places.items() if path is None]


def _utterance(path: Path, prompts: Prompts) -> Utterance | Issue:
    speaker, sentence = path.parent.name.casefold(), path.stem.casefold()
    name = f"{speaker}-{sentence}"
    fault = fault_in_name(name)
    if fault is not None:
        return Issue("bad-name", f"the name of {path} {fault}", utterances=(name,))
    if sentence not in prompts:
        return Issue("no-transcript", f"no line of {PROMPTS} has the id ({sentence.upper()})", utterances=(name,))
    return Utterance(name, speaker, prompts[sentence], audio=path)


def _directory(path: Path, found: list[Utterance | Issue], sexes: dict[str, str]) -> DataDirectory:
    """Return the sorted utterances, each once; sexes are listed by the first part of a speaker's folder, `adg0` for
    `adg0_4`.
    """
    speakers = {entry.speaker for entry in found if isinstance(entry, Utterance)}
    known = {speaker: sexes.get(speaker, sexes.get(speaker.partition("_")[0], "")) for speaker in sorted(speakers)}
    gender = {speaker: sex for speaker, sex in known.items() if sex}
    return corpus_of(path, found, gender)


def _differences(train: DataDirectory, train_speakers: int) -> list[str]:
    """Describe differences of the training set from the published one."""
    counts = Counter(utterance.speaker for utterance in train.utterances)
    if len(counts) == train_speakers and len(train.utterances) == EXPECTED[train_speakers]:
        return []
    return [
        (
            f"{len(counts)} training speakers with {len(train.utterances)} sentences. Expected {train_speakers} "
            f"with {EXPECTED[train_speakers]}, as in the published corpus"
        )
    ]
