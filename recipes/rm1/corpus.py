"""Resource Management as the recipe takes it, from whichever layout, and what both readers check before any work."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asr.corpus.data_directory import DataDirectory, Problem
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, score_sentence
from asr.lexicon import Lexicon
from asr.util.errors import CorpusError, Fault, GrammarError, attempt
from recipes.rm1.layout import TRAIN

_MIN_ALLOWED = 0.5  # of the training sentences: with fewer, the grammar is of other words
_SHOWN = 5


@dataclass(frozen=True)
class Rm1Corpus:
    """Utterances by split (`train` and the tests), words, grammar, and the front end that suits them.

    `notes` are sentences about what differs from the corpus as it was published.
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


def checked(corpus: DataDirectory, check: Callable[[Path], object], *, complete: bool) -> DataDirectory:
    """The corpus without utterances whose files `check` refuses, which join the problems.

    Where it has to be `complete`, as a test set must, CorpusError names what is missing or damaged.
    """
    faults = {utterance.id: attempt(check, utterance.source) for utterance in corpus.utterances}
    bad = [Problem(name, *fault) for name, fault in faults.items() if isinstance(fault, Fault)]
    problems = sorted([*corpus.problems, *bad])
    if complete and problems:
        shown = "; ".join(f"{problem.utterance_id}: {problem.reason}" for problem in problems[:_SHOWN])
        rest = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise CorpusError(
            f"{corpus.path}: {len(problems)} of the {len(corpus.utterances) + len(corpus.problems)} recordings of this "
            f"test cannot be used, and error rates are over all of it: {shown}{rest}"
        )
    kept = {name for name, fault in faults.items() if not isinstance(fault, Fault)}
    usable = tuple(utterance for utterance in corpus.utterances if utterance.id in kept)
    return DataDirectory(corpus.path, usable, corpus.gender, tuple(problems))


def check_grammar(grammar: Grammar, path: Path, sentences: Sequence[tuple[str, ...]]) -> str:
    """A sentence on how many training sentences the word pairs allow; GrammarError when they are too few.

    Then the grammar is of another task, or the numbers of its labels are of other words.
    """
    allowed = sum(score_sentence(grammar, words) > -math.inf for words in sentences)
    if sentences and allowed < _MIN_ALLOWED * len(sentences):
        raise GrammarError(
            f"{path}: allows {allowed} of the {len(sentences)} training sentences, from which word pairs come; it "
            "is of another corpus, or its labels are numbered otherwise (then put Kaldi's words.txt beside it)"
        )
    return f"{path.name} allows {allowed} of the {len(sentences)} training sentences"
