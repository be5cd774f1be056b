"""Alignment of a long recording with a wrong passage of the transcript and a passage of audio without transcript."""

import numpy as np
import pytest
import soundfile

import asr
from asr.alignment.ctm import read_ctm
from asr.alignment.passages import Anchor
from asr.commands import long_utterances
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.writing import write_data_directory
from asr.recognition.anchored_transcripts import supported
from tests import toy_corpus as toy
from tests.toy_corpus import make_toy_corpus

N_WORDS = 60
WRONG, UNTRANSCRIBED = slice(14, 20), slice(34, 40)  # utterances


def test_supported_drops_small_groups_of_anchors():
    near = [Anchor(word, 20 * word, 20 * word + 10, True) for word in range(5)]
    island = [Anchor(20 + word, 1000 + 20 * word, 1010 + 20 * word, True) for word in range(3)]
    assert supported([*near, *island], 0.01) == near


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_inserted_passages_have_their_status(toy_model, tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    lexicon = {f"W{n}": tuple(rng.choice(list(toy.PHONES), rng.integers(3, 7)).tolist()) for n in range(N_WORDS)}
    monkeypatch.setattr(toy, "LEXICON", lexicon)
    corpus = make_toy_corpus(
        tmp_path / "toy", 1, 1, seed, n_test_speakers=2, n_test_utterances=54, words_per_utterance=(4, 8)
    )
    given = read_data_directory(corpus / "test").utterances
    words, parts, starts = [], [], [0.0]
    for number, one in enumerate(given):
        samples, rate = soundfile.read(one.audio, dtype="float32")
        parts.append(samples)
        starts.append(starts[-1] + len(samples) / rate)
        if WRONG.start <= number < WRONG.stop:
            words += rng.choice(list(lexicon), len(one.words)).tolist()
        elif not UNTRANSCRIBED.start <= number < UNTRANSCRIBED.stop:
            words += one.words
    soundfile.write(tmp_path / "all.wav", np.concatenate(parts), rate)
    write_data_directory(tmp_path / "data", [Utterance("all", "all", tuple(words), tmp_path / "all.wav")])
    monkeypatch.setattr(long_utterances, "MAX_ALIGNED_SECONDS", 5.0)
    asr.align(toy_model, tmp_path / "data", tmp_path / "long", lexicon=corpus / "lexicon.txt", jobs=1)
    asr.align(toy_model, corpus / "test", tmp_path / "short", lexicon=corpus / "lexicon.txt", jobs=1)

    begin = {one.id: start for one, start in zip(given, starts, strict=False)}
    bad = [(starts[part.start], starts[part.stop]) for part in (WRONG, UNTRANSCRIBED)]
    table = [line.split("\t") for line in (tmp_path / "long" / "passages.tsv").read_text().splitlines()[1:]]

    def covered(span, status):
        return sum(
            max(0.0, min(float(row[2]), span[1]) - max(float(row[1]), span[0])) for row in table if row[3] == status
        )

    def inside(time):
        return any(start - 1.0 <= time < end + 1.0 for start, end in bad)

    expected = [(row.start + begin[row.utterance], row.label) for row in read_ctm(tmp_path / "short" / "words.ctm")]
    expected = [one for one in expected if not inside(one[0])]
    found = [(row.start, row.label) for row in read_ctm(tmp_path / "long" / "words.ctm")]
    near = [any(abs(time - start) <= 0.1 and label == word for start, label in found) for time, word in expected]
    assert covered(bad[0], "wrong") >= 0.6 * (bad[0][1] - bad[0][0])
    assert covered(bad[1], "untranscribed") >= 0.8 * (bad[1][1] - bad[1][0])
    assert np.mean(near) >= 0.95
