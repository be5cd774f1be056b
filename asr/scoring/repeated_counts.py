"""Word errors of the same utterances counted again and again, as searches or weights are tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from asr.scoring.wer import align_words, count_errors


@dataclass
class RepeatedCounts:
    """Counts errors against the same references; what was recognized before is not aligned again.

    Attributes
    ----------
    references : mapping of utterance to words
    known : dict
        Errors, and insertions less deletions, of every utterance and hypothesis so far.
    """

    references: Mapping[str, Sequence[str]]
    known: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = field(default_factory=dict)

    def errors(self, hypotheses: Mapping[str, tuple[str, ...]]) -> np.ndarray:
        """Errors, and insertions less deletions, int64 (2, n_utterances), in the order of the references."""
        counts = np.zeros((2, len(self.references)), np.int64)
        for number, (name, words) in enumerate(self.references.items()):
            key = name, hypotheses[name]
            if key not in self.known:
                own = count_errors(align_words(words, hypotheses[name]))
                self.known[key] = own.errors, own.insertions - own.deletions
            counts[:, number] = self.known[key]
        return counts
