"""Resource Management as CMU published it (`rm1_cepstra.tar.gz`): Sphinx cepstra, lists, dictionary; no audio.

The word pairs are a separate file: `RM_G.fst` of the Kaldi project, or `wp_gram.txt` of the discs. Kaldi's recipe of
that time (`egs/rm/s4`) numbers the words of `RM_G.fst` in the order of the dictionary.
"""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from asr.corpus.case_insensitive_dir import FoldedTree
from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.sphinx_corpus import read_sphinx_corpus
from asr.corpus.sphinx_features import read_sphinx_features
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, read_grammar
from asr.grammar.openfst_automaton import openfst_grammar
from asr.grammar.openfst_magic import is_openfst
from asr.lexicon import Lexicon, read_lexicon
from asr.util.errors import CorpusError, GrammarError
from asr.util.text_lines import read_text_lines
from recipes.corpus import checked
from recipes.rm1.corpus import Rm1Corpus, check_grammar
from recipes.rm1.layout import TEST_SETS, TRAIN, require

LISTS = {split: (f"rm1/etc/rm1_{split}.fileids", f"rm1/etc/rm1_{split}.transcription") for split in (TRAIN, "test")}
DICTIONARY = "rm1/etc/rm1.dic"
FEATURES_FOLDER = "rm1/feat"
GRAMMARS = ("RM_G.fst", "wp_gram.txt", "rm1/etc/RM_G.fst", "rm1/etc/wp_gram.txt")
# Front end of the archived cepstra (CMU Sphinx), needed for vocal-tract warps.
FEATURES = FeatureConfig(
    n_filters=40, low_hz=130.0, high_hz=6800.0, lifter=0, energy="c0", energy_first=True, normalize="corpus"
)


def read_cepstra(tree: FoldedTree) -> Rm1Corpus:
    """Read the corpus from CMU's cepstra; the test is one split `test`, or one per DARPA set that it names.

    Raises
    ------
    CorpusError
        Before any work, listing all required files and folders and all test feature files that are missing or damaged.
        Such training files are skipped and listed.
    LexiconError, GrammarError
        With file and line.
    """
    files = [name for names in LISTS.values() for name in names]
    train_ids, train_words, test_ids, test_words, dictionary, folder, grammar_file = require(
        tree, [*((name,) for name in files), (DICTIONARY,), (FEATURES_FOLDER,), GRAMMARS]
    )
    train = _in_capitals(read_sphinx_corpus(train_ids, train_words, folder, speaker_folder=-1))
    test = _in_capitals(read_sphinx_corpus(test_ids, test_words, folder, speaker_folder=-1))
    train = checked(train, read_sphinx_features, complete=False)
    test = checked(test, read_sphinx_features, complete=True)
    lexicon = read_lexicon(dictionary, format="cmu")
    grammar = read_word_pairs(grammar_file, dictionary, lexicon)
    sentences = [utterance.words or () for utterance in train.utterances]
    notes = (check_grammar(grammar, grammar_file, sentences),)
    return Rm1Corpus({TRAIN: train, **by_test_set(test)}, lexicon, grammar, grammar_file, FEATURES, notes)


def read_word_pairs(path: Path, dictionary: Path, lexicon: Lexicon) -> Grammar:
    """Read the word pairs over the words of the lexicon, from a transducer or a list of pairs.

    If a transducer has no word names, words are numbered in the order of the dictionary.
    """
    if is_openfst(path):
        return openfst_grammar(path, vocabulary=lexicon.words, symbols=numbered_words(dictionary))
    return read_grammar(path, vocabulary=lexicon.words)


def numbered_words(dictionary: Path) -> dict[int, str]:
    """Number the words by line, without counting lines that have a variant's bracket (Kaldi's `egs/rm/s4`)."""
    lines = [line.split() for line in read_text_lines(dictionary, GrammarError) if "(" not in line]
    return {number: fields[0] for number, fields in enumerate(lines, 1) if fields}


def by_test_set(test: DataDirectory) -> dict[str, DataDirectory]:
    """Split a test by DARPA's sets (`feb89`, `4_feb89`) if all utterances are in such folders; else one set `test`."""
    sets: dict[str, list[Utterance]] = defaultdict(list)
    for utterance in test.utterances:
        folder = utterance.id.split("-", 1)[0].casefold()
        sets[folder.split("_", 1)[-1]].append(utterance)
    if not set(sets) <= set(TEST_SETS):
        return {"test": test}
    return {name: test.subset(utterance.id for utterance in sets[name]) for name in TEST_SETS if name in sets}


def _in_capitals(corpus: DataDirectory) -> DataDirectory:
    """Convert words to capitals as in the dictionary: some training transcripts are in small letters."""
    if not corpus.utterances and not corpus.problems:
        raise CorpusError(f"{corpus.path} has no utterances")
    utterances = tuple(
        replace(utterance, words=tuple(word.upper() for word in utterance.words or ()))
        for utterance in corpus.utterances
    )
    return replace(corpus, utterances=utterances)
