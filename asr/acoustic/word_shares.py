"""How often the speakers of a training said each word, and how far apart they are in that."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

MOST_WORDS = 200
"""Of which shares are kept: a speaker says too little for more."""

_Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class WordShares(BaseModel):
    """Shares of the words among what a speaker says in utterances of a single word.

    The counts of a speaker's words are taken as Dirichlet-multinomial: multinomial by shares that differ from speaker
    to speaker. Of n utterances a word with the share p has the variance n p (1 - p) (1 + (n - 1) rho) (Mosimann 1962).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    shares: dict[str, _Share] = Field(min_length=2, max_length=MOST_WORDS)
    """By word; all speakers together."""
    spread: float = Field(ge=0, le=1, allow_inf_nan=False)
    """rho, the correlation of two words of one speaker: 0 where speakers differ no more than chance has it."""

    def of(self, words: Sequence[str]) -> np.ndarray:
        """Shares of these words alone, float (n_words,), summing to one; KeyError for one that nobody said."""
        found = np.array([self.shares[word] for word in words])
        return found / found.sum()


def word_shares(transcripts: Mapping[str, Sequence[str]], utterance_speaker: Mapping[str, str]) -> WordShares | None:
    """Shares and spread of the words in utterances of a single word, others being passed over.

    The spread is found by moments: Pearson's statistic of the speakers' counts against their common shares, over its
    degrees of freedom, is 1 + (n_0 - 1) rho, where n_0 is the number of utterances of a speaker, or what corresponds to
    it where they differ (Brier 1980, Analysis of contingency tables under cluster sampling).

    Returns
    -------
    WordShares or None
        None where there are fewer than two such words or two speakers of them, more than 200 words, or no speaker with
        two utterances, since nothing then tells how speakers differ.
    """
    counts: dict[str, Counter[str]] = {}
    for name, words in transcripts.items():
        if len(words) == 1:
            counts.setdefault(utterance_speaker[name], Counter())[words[0]] += 1
    every = sorted({word for of_speaker in counts.values() for word in of_speaker})
    if len(counts) < 2 or not 2 <= len(every) <= MOST_WORDS or max(map(Counter.total, counts.values())) < 2:
        return None
    table = np.array([[counts[speaker][word] for word in every] for speaker in sorted(counts)], dtype=np.float64)
    said, total = table.sum(axis=1), table.sum()
    shares = table.sum(axis=0) / total
    expected = np.outer(said, shares)
    by_chance = ((table - expected) ** 2 / expected).sum() / ((len(said) - 1) * (len(every) - 1))
    usual = (total - (said**2).sum() / total) / (len(said) - 1)
    spread = (by_chance - 1.0) / (usual - 1.0)
    return WordShares(shares=dict(zip(every, shares.tolist(), strict=True)), spread=float(np.clip(spread, 0.0, 1.0)))
