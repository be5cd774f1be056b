"""The corpus of spoken digits."""

from importlib.util import find_spec

import pytest

from asr.corpus.data_directory import read_data_directory
from asr.corpus.synthesis import make_digit_corpus
from asr.lexicon import read_lexicon
from asr.util.errors import CorpusError


def test_digit_corpus_is_readable_and_repeatable(tmp_path):
    if find_spec("espeakng_loader") is None:
        pytest.skip("needs the extra synth")
    sizes = {"n_train_speakers": 2, "n_test_speakers": 1, "n_utterances": 3}
    first, second = (make_digit_corpus(tmp_path / name, **sizes) for name in "ab")
    words = set(read_lexicon(first / "lexicon.txt").words)
    train, test = (read_data_directory(first / split) for split in ("train", "test"))
    assert (len(train.utterances), len(train.speakers), len(test.utterances)) == (6, 2, 3)
    assert not set(train.speakers) & set(test.speakers)
    for utterance in train.utterances + test.utterances:
        assert 1 <= len(utterance.words) <= 3
        assert set(utterance.words) <= words
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert len(files) == 6 + 3 + 1 + 2 * 4
    assert all((first / path).read_bytes() == (second / path).read_bytes() for path in files)
    with pytest.raises(CorpusError, match="exists"):
        make_digit_corpus(first)
