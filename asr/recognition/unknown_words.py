"""Alignment of words without a pronunciation: a phone `spn` that any speech fits.

If the training transcripts have such words, `spn` is trained on them like any phone (as in Kaldi and Montreal Forced
Aligner). No word of the model's lexicon has it.

In other models, the score of `spn` in a frame is the log of the mean likelihood of all speech states, the background
model of speaker verification (Reynolds, Quatieri and Dunn 2000). So it needs no training. A known word whose states fit
better than the average of all speech keeps its frames. The mean excludes silence, so pauses remain pauses.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from asr.acoustic.phone_hmm import AcousticModel, PhoneHmm
from asr.hmm.state_tying import StateTying
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon
from asr.util.counted_text import count, some
from asr.util.errors import printable
from asr.util.files import atomic_write

log = logging.getLogger(__name__)

UNKNOWN_WORDS = "unknown-words.tsv"
UNKNOWN_PHONE = "spn"
"""Label of an unknown word among the phones, as in Kaldi and Montreal Forced Aligner."""
STAY = 0.9
"""Probability of each self-transition of `spn`; with 3 states, a word lasts 0.3 s on average."""


@dataclass(frozen=True)
class WithUnknownSpeech:
    """State scores of an acoustic model, and in the last columns the states of `spn`."""

    acoustic_model: AcousticModel
    n_silence: int
    n_added: int

    def log_likelihood(self, frames: np.ndarray) -> np.ndarray:
        """Return scores, float32 (n_frames, n_states + n_added)."""
        scores = self.acoustic_model.log_likelihood(frames)
        speech = scores[:, self.n_silence :]
        best = speech.max(axis=1, keepdims=True)
        mean = best + np.log(np.exp(speech - best).mean(axis=1, keepdims=True))
        return np.hstack([scores, np.repeat(mean.astype(np.float32), self.n_added, axis=1)])


def unknown_phone(phones: Collection[str]) -> str:
    """Return the name of the phone of unknown words: `spn`, unless it is one of the `phones` of the lexicon."""
    name = UNKNOWN_PHONE
    while name in phones:
        name += "_"
    return name


def with_unknown_phone(hmm: PhoneHmm) -> PhoneHmm:
    """Return the phone HMMs with a phone for unknown words after the others, whose states come last."""
    topology = hmm.topology
    n_added = topology.states_per_phone
    tying = None if topology.tying is None else _with_leaves(topology.tying, n_added)
    return replace(
        hmm,
        topology=Topology((*topology.phones, unknown_phone(topology.phones)), n_added, tying),
        acoustic_model=WithUnknownSpeech(hmm.acoustic_model, len(topology.silence_states), n_added),
        self_loops=np.concatenate([hmm.self_loops[:-1], np.full(n_added, STAY), hmm.self_loops[-1:]]),
    )


def _with_leaves(tying: StateTying, n_added: int) -> StateTying:
    """Return the trees with a phone more, whose states do not depend on its neighbors; it answers no to questions."""
    n_nodes = len(tying.node_question)
    new = np.arange(n_added, dtype=np.int32)
    states = tying.n_states + new
    return replace(
        tying,
        question_phones=np.hstack([tying.question_phones, np.zeros((len(tying.question_phones), 1), np.bool_)]),
        root=np.vstack([tying.root, n_nodes + new]),
        node_question=np.concatenate([tying.node_question, np.full(n_added, -1, np.int32)]),
        node_yes=np.concatenate([tying.node_yes, states]),
        node_no=np.concatenate([tying.node_no, states]),
    )


def with_unknown_words(lexicon: Lexicon, words: Iterable[str], phone: str) -> Lexicon:
    """Return the lexicon with the single phone of unknown words as the pronunciation of these words."""
    return replace(lexicon, pronunciations={**lexicon.pronunciations, **dict.fromkeys(words, ((phone,),))})


def unknown_words(transcripts: Iterable[Sequence[str]], lexicon: Lexicon) -> Counter[str]:
    """Count the unknown words of the transcripts that have a known word too; the others cannot be aligned."""
    return lexicon.out_of_vocabulary(words for words in transcripts if any(word in lexicon for word in words))


def known_states(states: np.ndarray, hmm: PhoneHmm) -> np.ndarray:
    """Return the states with -1 for those of unknown words, if the phone HMMs have any."""
    acoustic = hmm.acoustic_model
    n_added = acoustic.n_added if isinstance(acoustic, WithUnknownSpeech) else 0
    return np.where(states < hmm.topology.n_states - n_added, states, np.int32(-1)) if n_added else states


def write_unknown_words(directory: Path, counts: Mapping[str, int], phone: str, hint: str = "") -> None:
    """Write `UNKNOWN_WORDS`, and log the most frequent words with the hint, if there are any.

    The file has a header, and word and number of occurrences, separated by a tab; the most frequent first.
    """
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    path = directory / UNKNOWN_WORDS
    with atomic_write(path) as temporary:
        lines = ["word\tcount\n", *(f"{printable(word)}\t{number}\n" for word, number in rows)]
        temporary.write_text("".join(lines), encoding="utf-8")
    if rows:
        shown = some((f"{word} ({number})" for word, number in rows), 5)
        words = count(len(rows), "word")
        line = f"{words} without pronunciation aligned as '{phone}': {shown}; all: {path}{hint and '; '}{hint}"
        log.warning("%s", printable(line))
