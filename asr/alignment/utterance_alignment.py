"""Alignment of an utterance: words, phones, states and the measures of their fit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asr.alignment.interval_trust import IntervalTrust
from asr.alignment.transcript_scores import TranscriptScore
from asr.decode.path_segments import Segment


@dataclass(frozen=True)
class UtteranceAlignment:
    """Words and phones of an aligned utterance (times in frames), its states and scores.

    Attributes
    ----------
    words, phones : sequences of Segment
        In order of time.
    states : int32 (n_frames,)
        State of each frame; -1 for unknown words and passages without an alignment.
    fit : TranscriptScore or None
        Fit of the transcript and of rivals; None unless the transcripts are checked.
    trust : IntervalTrust
        Trust in the transcript, the words and the phones.
    word_fits : sequence of float
        Mean distance of each word's states from the best state of each frame, natural log per frame; at most 0.
    n_silent : int
        Number of frames that are aligned with silence and fit it better than any phone.
    """

    words: Sequence[Segment]
    phones: Sequence[Segment]
    states: np.ndarray
    fit: TranscriptScore | None
    trust: IntervalTrust
    word_fits: Sequence[float]
    n_silent: int

    @property
    def mean_word_fit(self) -> float:
        """Mean of `word_fits` over the frames of all words; 0 without words."""
        frames = [word.end - word.start for word in self.words]
        return float(np.average(self.word_fits, weights=frames)) if sum(frames) else 0.0
