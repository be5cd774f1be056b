"""Resource Management in the form of the recipe, for both layouts, and the checks before any work."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asr.corpus.data_directory import DataDirectory
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, score_sentence
from asr.lexicon import Lexicon
from asr.util.errors import GrammarError
from recipes.rm1.layout import TRAIN

_MIN_ALLOWED = 0.5  # of the training sentences: a smaller share indicates a grammar of other words


@dataclass(frozen=True)
class Rm1Corpus:
    """Utterances by split (`train` and the tests), words, grammar, and a suitable front end.

    `notes` are sentences about differences from the published corpus.
    """

    splits: Mapping[str, DataDirectory]
    lexicon: Lexicon
    grammar: Grammar
    grammar_file: Path
    features: FeatureConfig
    notes: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the test sets."""
        return tuple(name for name in self.splits if name != TRAIN)


def check_grammar(grammar: Grammar, path: Path, sentences: Sequence[tuple[str, ...]]) -> str:
    """Return a sentence on the share of training sentences that the word pairs allow; GrammarError if it is too small.

    A small share means a grammar of another task, or label numbers of other words.
    """
    allowed = sum(score_sentence(grammar, words) > -math.inf for words in sentences)
    if sentences and allowed < _MIN_ALLOWED * len(sentences):
        raise GrammarError(
            f"{path}: only {allowed} of the {len(sentences)} training sentences, the source of word pairs, are in "
            "the grammar. It is of another corpus, or its labels have other numbers. In that case, put Kaldi's "
            "words.txt in the same folder"
        )
    return f"{path.name}: {allowed} of the {len(sentences)} training sentences are in the grammar"
