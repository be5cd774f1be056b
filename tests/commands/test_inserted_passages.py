"""Alignment of a long recording with a wrong passage of the transcript and a passage of audio without transcript."""

import numpy as np
import pytest

import asr
from asr.alignment.ctm import read_ctm
from asr.alignment.passages import Anchor
from asr.commands import long_utterances
from asr.corpus.data_directory import read_data_directory
from asr.recognition.anchored_transcripts import supported
from benchmarks.long_recordings import join, measure
from tests import toy_corpus as toy
from tests.toy_corpus import make_toy_corpus

N_WORDS = 60


def test_supported_drops_small_groups_of_anchors():
    near = [Anchor(word, 20 * word, 20 * word + 10, True) for word in range(5)]
    group = [Anchor(20 + word, 1000 + 20 * word, 1010 + 20 * word, True) for word in range(3)]
    assert supported([*near, *group], 0.01) == near


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_inserted_passages_have_their_status(toy_model, tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    lexicon = {f"W{n}": tuple(rng.choice(list(toy.PHONES), rng.integers(3, 7)).tolist()) for n in range(N_WORDS)}
    monkeypatch.setattr(toy, "LEXICON", lexicon)
    corpus = make_toy_corpus(
        tmp_path / "toy", 1, 1, seed, n_test_speakers=2, n_test_utterances=54, words_per_utterance=(4, 8)
    )
    monkeypatch.setattr(long_utterances, "MAX_ALIGNED_SECONDS", 5.0)
    utterances = read_data_directory(corpus / "test").utterances
    joined = join(utterances, tmp_path / "data", seed)
    asr.align(toy_model, tmp_path / "data", tmp_path / "long", lexicon=corpus / "lexicon.txt", jobs=1)
    asr.align(toy_model, corpus / "test", tmp_path / "short", lexicon=corpus / "lexicon.txt", jobs=1)
    found = measure(joined, utterances, read_ctm(tmp_path / "short" / "words.ctm"), tmp_path / "long")
    assert found.wrong >= 0.6
    assert found.untranscribed >= 0.8
    assert found.near >= 0.95
