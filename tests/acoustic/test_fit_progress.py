"""What is told while a classifier is fitted, and which frames it gets."""

import logging
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from asr.acoustic.classifiers import make_classifier
from asr.acoustic.fit_progress import draw_frames, log_fit_progress, max_frames_for
from asr.util.counted_text import duration
from asr.util.errors import ConfigError
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier


def lines_of(caplog, classifier, work) -> list[str]:
    """What is logged while `work(count)` goes on, every hundredth of a second."""
    caplog.clear()
    with (
        caplog.at_level(logging.DEBUG, logger="asr.acoustic.fit_progress"),
        log_fit_progress(classifier, 61506, patience=0.01) as count,
    ):
        work(count)
    return [record.getMessage() for record in caplog.records]


def test_a_fit_in_one_call_gives_signs_of_life_and_says_how_long_it_took(caplog):
    lines = lines_of(caplog, SVC(), lambda count: time.sleep(0.3))
    assert len(lines) > 2
    assert set(lines[:-1]) == {"fitting SVC on 61,506 frames: running for 0 s"}
    assert lines[-1] == "fitting SVC on 61,506 frames: finished in 0 s"


def test_passes_are_told_by_learners_that_call_and_read_off_scikit_learns(caplog):
    def work(count):
        count(3, 10)

    assert lines_of(caplog, SVC(), work)[-1].endswith("finished in 0 s, 3 of 10 passes")
    few = lines_of(caplog, SparseKernelLogisticClassifier(max_iter=4), work)[-1]
    assert few.endswith("3 of 10 passes (few frames: more than max_iter = 4)")
    perceptron = MLPClassifier((3,), max_iter=5, tol=0.0, warm_start=True, random_state=0)
    frames, states = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    for _ in range(2):  # a warm start counts from its own start
        with pytest.warns(UserWarning, match="Maximum iterations"):
            line = lines_of(caplog, perceptron, lambda count: perceptron.fit(frames, states))[-1]
        assert "5 of at most 5 passes, loss 0." in line


def test_nothing_is_told_any_more_after_a_fit_that_failed(caplog):
    with pytest.raises(ValueError, match="as it may"):
        lines_of(caplog, SVC(), lambda count: (_ for _ in ()).throw(ValueError("as it may")))
    caplog.clear()
    time.sleep(0.05)
    assert not caplog.records


def test_durations_are_said_in_two_units():
    assert [duration(seconds) for seconds in (0.2, 59.4, 90, 3600, 7500)] == [
        "0 s", "59 s", "1 min 30 s", "1 h 0 min", "2 h 5 min",
    ]  # fmt: skip


def test_quadratic_methods_are_limited_wherever_they_stand():
    assert max_frames_for(SVC()) == 10_000
    assert max_frames_for(KNeighborsClassifier()) == 20_000
    assert max_frames_for(OneVsRestClassifier(SVC())) == 10_000
    assert max_frames_for(make_pipeline(StandardScaler(), SVC())) == 10_000
    assert max_frames_for(make_classifier("kfd", {})) == 5000
    assert max_frames_for(OneVsRestClassifier(make_classifier("ksod", {}))) == 2000
    assert max_frames_for(make_classifier("bayesian-lssvm", {})) == 2000
    assert max_frames_for(make_classifier("sparse-greedy-kfd", {})) == 0
    assert max_frames_for(make_classifier("fixed-size-lssvm", {})) == 0
    assert max_frames_for(LinearSVC()) == max_frames_for(MLPClassifier()) == 0


def test_the_perceptron_has_defaults_that_end_under_both_of_its_names():
    for name in ("mlp", "sklearn.neural_network.MLPClassifier"):
        made = make_classifier(name, {"max_iter": 7})
        assert (made.max_iter, made.tol, made.n_iter_no_change) == (7, 2e-3, 3)
        assert make_classifier(name, {"solver": "lbfgs"}).max_iter == MLPClassifier().max_iter


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(8, 500), st.integers(0, 2**32 - 1))
def test_a_draw_keeps_at_most_so_many_frames_and_some_of_every_state(counts, most, seed):
    states = np.random.default_rng(seed).permutation(np.repeat(np.arange(-1, len(counts)), [5, *counts]))
    states = states.astype(np.int32)
    drawn = draw_frames(states, most, seed)
    np.testing.assert_array_equal(drawn, draw_frames(states, most, seed))
    assert drawn.dtype == np.int32
    assert ((drawn == states) | (drawn == -1)).all()
    assert (drawn >= 0).sum() <= most
    kept = np.bincount(drawn[drawn >= 0], minlength=len(counts))
    assert (kept >= 1).all()
    if sum(counts) > most >= 4 * len(counts):
        share = most / sum(counts)
        # Each state keeps two frames, so that states with a smaller share take at most two each from the others.
        assert (kept >= np.minimum(counts, np.floor(np.array(counts) * share)) - 2 * len(counts)).all()


def test_fewer_frames_than_states_are_refused():
    with pytest.raises(ConfigError, match="max_frames is 3, but 4 states"):
        draw_frames(np.arange(20, dtype=np.int32) % 4, 3, 0)
