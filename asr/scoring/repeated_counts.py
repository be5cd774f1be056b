"""Repeated counting of word errors for the same references, with a cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from asr.scoring.wer import align_words, count_errors


@dataclass
class RepeatedCounts:
    """Error counts against fixed references; results for earlier hypotheses are cached."""

    references: Mapping[str, Sequence[str]]
    known: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = field(default_factory=dict)
    """errors, and insertions minus deletions, by utterance and hypothesis"""

    def errors(self, hypotheses: Mapping[str, tuple[str, ...]]) -> np.ndarray:
        """Return errors, and insertions minus deletions, int64 (2, n_utterances), in the order of the references."""
        counts = np.zeros((2, len(self.references)), np.int64)
        for number, (name, words) in enumerate(self.references.items()):
            key = name, hypotheses[name]
            if key not in self.known:
                own = count_errors(align_words(words, hypotheses[name]))
                self.known[key] = own.errors, own.insertions - own.deletions
            counts[:, number] = self.known[key]
        return counts
