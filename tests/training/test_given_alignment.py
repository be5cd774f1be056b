"""Training on given phone boundaries."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.alignment.ctm import read_ctm
from asr.hmm.topology import SILENCE, Topology
from asr.lexicon import read_lexicon
from asr.lexicon.phone_units import phone_lexicon
from asr.training.given_alignment import divide, divide_evenly, phone_runs, read_alignment
from asr.util.errors import CorpusError

LEXICON = phone_lexicon([["k", "ae", "t"]])
TOPOLOGY = Topology(LEXICON.phones, 3)


@given(st.integers(3, 9), st.integers(0, 1000))
def test_divide_is_the_best_of_all_divisions(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, 3))
    found = divide(scores)
    each = [np.searchsorted(borders, np.arange(length), side="right") for borders in combinations(range(1, length), 2)]
    best = max(scores[np.arange(length), positions].sum() for positions in each)
    assert scores[np.arange(length), found].sum() == pytest.approx(best)
    assert found[0] == 0 and found[-1] == 2 and set(np.diff(found)) <= {0, 1}


def test_short_phones_are_divided_evenly():
    assert divide(np.zeros((2, 3))).tolist() == divide_evenly(2, 3).tolist() == [0, 1]
    assert divide_evenly(6, 3).tolist() == [0, 0, 1, 1, 2, 2]


def test_frames_belong_to_the_phone_at_their_center():
    intervals = [(0.1, 0.2, "k"), (0.25, 0.4, "ae")]
    runs = phone_runs(intervals, 42, 0.01, 0.025, TOPOLOGY)
    names = [(TOPOLOGY.phone_names[phone], first, end) for phone, first, end in runs]
    assert names == [(SILENCE, 0, 9), ("k", 9, 19), (SILENCE, 19, 24), ("ae", 24, 39), (SILENCE, 39, 42)]
    assert phone_runs(intervals, 41, 0.01, 0.025, TOPOLOGY)[-1][1:] == (24, 41)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.3), st.sampled_from(["k", "ae", "t", SILENCE])), max_size=8),
    st.integers(1, 120),
)
def test_runs_cover_every_frame_once(rows, n_frames):
    intervals = sorted((start, start + length, phone) for start, length, phone in rows)
    runs = phone_runs(intervals, n_frames, 0.01, 0.025, TOPOLOGY)
    assert [first for _, first, _ in runs] == [0, *(end for _, _, end in runs[:-1])]
    assert runs[-1][2] == n_frames


def test_read_alignment_names_unknown_phones(tmp_path):
    path = tmp_path / "phones.ctm"
    path.write_text("one 1 0.0 0.5 h#\none 1 0.5 0.5 k\n")
    assert read_alignment(path, LEXICON).phones == {"one": [(0.0, 0.5, SILENCE), (0.5, 1.0, "k")]}
    path.write_text("one 1 0.0 0.5 zz\n")
    with pytest.raises(CorpusError, match=r"phones\.ctm.*zz"):
        read_alignment(path, LEXICON)


def phones_of(corpus: Path, out: Path) -> Path:
    """Write the toy corpus with its phones as words."""
    lexicon = read_lexicon(corpus / "lexicon.txt")
    out.mkdir()
    for path in (corpus / "train").iterdir():
        text = path.read_text()
        if path.name == "text":
            lines = [line.split() for line in text.splitlines()]
            text = "".join(f"{name} {' '.join(p for w in words for p in lexicon[w][0])}\n" for name, *words in lines)
        (out / path.name).write_text(text)
    return out


@pytest.mark.slow
def test_phones_train_on_the_boundaries_of_an_aligner(toy_corpus, toy_run, tmp_path, asr):
    data = phones_of(toy_corpus, tmp_path / "data")
    model = toy_run / "gmm.safetensors"
    code, _, err = asr(
        "align", "--model", model, "--data", toy_corpus / "train", "--root", toy_corpus, "--out", tmp_path / "ali"
    )
    assert code == 0, err
    given = tmp_path / "ali" / "phones.ctm"
    (tmp_path / "given.toml").write_text(
        f'alignment = "{given}"\n[features]\nsample_rate = 8000\n[gmm]\nmixtures = [1]\niterations = [1]\n'
    )
    code, _, err = asr(
        "train", "--data", data, "--unit", "phone", "--root", toy_corpus, "--until", "gmm", "--config",
        tmp_path / "given.toml", "--work-dir", tmp_path / "run", "-j", "1",
    )  # fmt: skip
    assert code == 0, err
    assert "fast-speech" not in err
    again = tmp_path / "again"
    trained = tmp_path / "run" / "gmm.safetensors"
    code, _, err = asr("align", "--model", trained, "--data", data, "--root", toy_corpus, "--out", again)
    assert code == 0, err
    of_words, of_phones = (
        [(row.utterance, row.start) for row in read_ctm(path) if row.label not in ("SIL", "SP")]
        for path in (given, again / "phones.ctm")
    )
    assert len(of_words) == len(of_phones)
    apart = [abs(one[1] - other[1]) for one, other in zip(of_words, of_phones, strict=True)]
    assert np.median(apart) <= 0.02
