import json
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_info, threadpool_limits

from asr.util.errors import CorpusError
from discriminants import (
    BayesianLSSVMClassifier,
    KFDClassifier,
    LSSVMClassifier,
    NPDClassifier,
    NPDRegressor,
    OROLSClassifier,
    ShrinkingGridSearchCV,
)
from recipes.benchmarks import lssvm_uci
from recipes.benchmarks.datasets import multi_class_problem, regression_problem, two_class_problem
from recipes.benchmarks.lssvm_uci import TABLE as LSSVM_TABLE
from recipes.benchmarks.lssvm_uci import PartFolds
from recipes.benchmarks.model_choice import Search, choose, grid, smoothed
from recipes.benchmarks.nystroem_evidence import NystroemEvidence
from recipes.benchmarks.paired_test import paired_t_test
from recipes.benchmarks.parallel import in_parallel
from recipes.benchmarks.problem import Partition, Problem, run_trial
from recipes.benchmarks.sinc import sinc_problem
from recipes.benchmarks.study import Study, run_study, study_settings
from recipes.benchmarks.uci_kernels import Whole, left_out_accuracy
from recipes.benchmarks.uci_sets import adult, balance_scale, displays, tic_tac_toe, two_classes
from tests.recipes.benchmark_sets import rings, save_adult, save_multi_class, save_regression, save_two_class


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.arange(120)}, "Expected -1 and 1"),
        ({"y": np.ones(7)}, r"shape \(120, 3\) and y \(7,\)"),
        ({"x": np.full((120, 3), np.nan)}, "'x' has values that are not finite"),
        ({"train": np.array([[0, 120]])}, "row numbers of x below 120"),
        ({"train": np.array([[0, 1]]), "test": np.array([[1, 2]])}, "partition 0 has samples in both"),
    ],
)
def test_partitions_that_cannot_be_are_refused(tmp_path, changes, message):
    path = tmp_path / "ida" / "x.npz"
    save_two_class(path, n_partitions=1, **changes)
    with pytest.raises(CorpusError, match=message):
        two_class_problem(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_test": np.zeros((60, 5))}, "x_train has 3 features, x_test 5"),
        ({"y_test": np.full(60, 9)}, "missing in y_train"),
        ({"x_train": np.ones((90, 3))}, "all values of x_train are 1.0"),
    ],
)
def test_a_split_that_does_not_fit_is_refused(tmp_path, changes, message):
    save_multi_class(tmp_path / "x.npz", **changes)
    with pytest.raises(CorpusError, match=message):
        multi_class_problem(tmp_path / "x.npz")


def test_files_that_are_not_whole_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(CorpusError, match="not a complete"):
        multi_class_problem(path)
    np.savez(path, x=np.ones((3, 1)))
    with pytest.raises(CorpusError, match="array 'y' is missing"):
        regression_problem(path, 2, 1, 1)
    np.savez(path, x=np.array([{}]), y=np.ones(1))
    with pytest.raises(CorpusError, match="not a complete"):
        regression_problem(path, 2, 1, 1)
    np.savez(path, x=np.ones((3, 1)), y=np.ones(3))
    with pytest.raises(CorpusError, match=r"3 samples. Expected 9 \+ 1"):
        regression_problem(path, 9, 1, 1)


def test_pixels_are_mapped_by_the_training_range_and_classes_are_numbered(tmp_path):
    save_multi_class(tmp_path / "x.npz")
    problem = multi_class_problem(tmp_path / "x.npz")
    train, test = problem.partitions[0]
    assert problem.X[train].min() == -1
    assert problem.X[train].max() == 1
    with np.load(tmp_path / "x.npz") as raw:
        low, high = float(raw["x_train"].min()), float(raw["x_train"].max())
        np.testing.assert_allclose((problem.X[test] + 1) / 2 * (high - low) + low, raw["x_test"], atol=1e-12)
        np.testing.assert_array_equal(problem.y[test], raw["y_test"] - 1)


def test_continuous_features_are_standardized_and_indicators_are_not(tmp_path):
    save_regression(tmp_path / "x.npz")
    problem = regression_problem(tmp_path / "x.npz", 400, 100, 2)
    np.testing.assert_allclose(problem.X[:, :2].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(problem.X[:, :2].std(axis=0), 1)
    assert set(problem.X[:, 2]) == {0.0, 1.0}
    random = np.random.default_rng(0)
    for train, test in problem.partitions:
        order = random.permutation(520)
        np.testing.assert_array_equal(np.concatenate([train, test]), order[:500])


def test_sinc_has_noise_in_the_training_points_only():
    problem = sinc_problem(20)
    truth = np.sinc(problem.X[:, 0] / np.pi)
    train = np.concatenate([partition.train for partition in problem.partitions])
    test = np.concatenate([partition.test for partition in problem.partitions])
    assert (train.shape[0], test.shape[0]) == (1000, 20000)
    np.testing.assert_array_equal(problem.y[test], truth[test])
    assert np.std(problem.y[train] - truth[train]) == pytest.approx(0.1, rel=0.1)
    np.testing.assert_array_equal(sinc_problem(2).X, problem.X[:2100])  # a run does not depend on their number


@pytest.mark.slow
def test_evidence_of_all_centers_finds_the_width_of_the_bayesian_machine():
    codes, X = rings(np.random.default_rng(0), 120)
    scaled = StandardScaler().fit_transform(X)
    full = BayesianLSSVMClassifier().fit(scaled, codes)
    found = NystroemEvidence(100).fit(X, codes)
    assert found.best_params_["log sigma"] == pytest.approx(np.log(np.sqrt(2) * full.sigma_), abs=0.1)
    assert found.best_params_["log gamma"] == pytest.approx(-np.log(full.regularization_[0]), abs=0.3)
    iterative = found.best_estimator_[-1]
    exact = LSSVMClassifier(sigma=iterative.sigma, regularization=iterative.regularization, decide_by="output")
    assert np.mean(found.predict(X) == exact.fit(scaled, codes).predict(scaled)) > 0.98


def test_left_out_accuracy_is_that_of_leaving_out():
    codes, X = rings(np.random.default_rng(0), 60, 3)
    machine = LSSVMClassifier(sigma=1.0, regularization=1.0, coding="one-vs-one", decide_by="output")
    [(train, held_out)] = Whole(1000).split(X, codes)
    np.testing.assert_array_equal(train, np.arange(60))
    np.testing.assert_array_equal(held_out, train)
    found = left_out_accuracy(make_pipeline(clone(machine).fit(X, codes)), X, codes)
    others = [np.delete(np.arange(60), row) for row in range(60)]
    hits = [machine.fit(X[rows], codes[rows]).predict(X[[row]])[0] == codes[row] for row, rows in enumerate(others)]
    assert found == pytest.approx(np.mean(hits))


def held_out_loss(estimator, problem, partition, folds):
    total = 0.0
    rows = problem.partitions[partition].train
    for train, held_out in folds.split(rows, problem.y[rows]):
        estimator.fit(problem.X[rows[train]], problem.y[rows[train]])
        error = estimator.predict(problem.X[rows[held_out]]) - problem.y[rows[held_out]]
        total += np.count_nonzero(error) if problem.is_classification else error @ error
    return total


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two classes", "three classes", "regression"])
def test_the_choice_is_that_of_fitting_every_setting_and_size(kind):
    random = np.random.default_rng(1)
    codes, X = rings(random, 180, 3 if kind == "three classes" else 2)
    if kind == "regression":
        y, folds = np.hypot(X[:, 0], X[:, 1]), KFold(5, shuffle=True, random_state=0)
        forward, peer = NPDRegressor(random_state=0, criterion=None), SVR()
    else:
        y, folds = codes, StratifiedKFold(5, shuffle=True, random_state=0)
        forward, peer = NPDClassifier(random_state=0, criterion=None, decide_by="output"), SVC()
    partitions = tuple(Partition(p[:90], p[90:]) for p in (random.permutation(180) for _ in range(2)))
    problem = Problem(X, y, partitions)
    sizes = (1, 2, 5, 12)
    searches = [
        Search("npd", forward, grid(sigma=(0.3, 1.0, 4.0), epsilon=(0.0, 0.5)), sizes),
        Search("svm", peer, grid(gamma=(0.1, 3.0), C=(0.5, 5.0))),
    ]
    for group in ([0, 1], [1]):
        choices = choose(searches, problem, group, jobs=1, description="choosing")
        for search in searches:
            settings = [
                setting | ({} if search.sizes is None else {"n_centers": size})
                for setting in search.grid
                for size in search.sizes or (0,)
            ]
            losses = [
                sum(held_out_loss(search.estimator.set_params(**setting), problem, p, folds) for p in group)
                for setting in settings
            ]
            choice = choices[search.method]
            assert choice.loss == pytest.approx(min(losses) / (90 * len(group)), rel=1e-6)
            assert losses[settings.index(choice.parameters)] == pytest.approx(min(losses), rel=1e-6)


def test_choice_by_squared_outputs_takes_the_least_squares():
    codes, X = rings(np.random.default_rng(2), 120, 3)
    problem = Problem(X, codes, (Partition(np.arange(120), np.arange(0)),))
    settings = grid(sigma=(0.1, 0.3, 1.0, 4.0), regularization=(1e-3, 10.0))
    learner = KFDClassifier(penalty="kernel", posterior="gaussian", decide_by="output")
    squares, errors = [], []
    for setting in settings:
        model, outputs = clone(learner).set_params(**setting), np.empty((120, 3))
        for train, held_out in StratifiedKFold(5, shuffle=True, random_state=0).split(X, codes):
            outputs[held_out] = model.fit(X[train], codes[train]).decision_function(X[held_out])
        squares.append(((outputs - np.where(codes[:, None] == np.arange(3), 1, -1)) ** 2).sum())
        errors.append((outputs.argmax(axis=1) != codes).mean())
    search = Search("kfd", learner, settings, by="squared_outputs")
    choice = choose([search], problem, [0], jobs=1, description="choosing")["kfd"]
    best = int(np.argmin(squares))
    assert choice.parameters == settings[best]
    assert choice.loss == pytest.approx(errors[best])


def test_a_smoothed_loss_is_the_average_over_the_neighbours_in_the_grid():
    settings = grid(sigma=(1.0, 2.0, 4.0), C=(0.1, 1.0), name=("a",))
    losses = np.array([4.0, 0.0, 3.0, 5.0, 2.0, 2.0])
    expected = []
    for own in settings:
        total = weight = 0.0
        for other, loss in zip(settings, losses, strict=True):
            steps = [
                abs((1.0, 2.0, 4.0).index(own["sigma"]) - (1.0, 2.0, 4.0).index(other["sigma"])),
                abs((0.1, 1.0).index(own["C"]) - (0.1, 1.0).index(other["C"])),
            ]
            share = 0.0 if max(steps) > 1 else 0.5 ** sum(steps)
            total, weight = total + share * loss, weight + share
        expected.append(total / weight)
    np.testing.assert_allclose(smoothed(losses, settings), expected)


def test_smoothed_loss_passes_over_an_isolated_minimum():
    codes, X = rings(np.random.default_rng(2), 120, 3)
    problem = Problem(X, codes, (Partition(np.arange(120), np.arange(0)),))
    settings = grid(sigma=(0.1, 0.3, 1.0, 4.0), regularization=(1e-3, 0.1, 10.0))
    learner = KFDClassifier(penalty="kernel", posterior="gaussian", decide_by="output")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    errors = np.array([held_out_loss(clone(learner).set_params(**setting), problem, 0, folds) for setting in settings])
    choice = choose([Search("kfd", learner, settings, by="smoothed_loss")], problem, [0], jobs=1, description="")["kfd"]
    best = int(np.argmin(smoothed(errors, settings)))
    assert choice.parameters == settings[best]
    assert choice.loss == pytest.approx(errors[best] / 120)


def test_a_choice_by_squared_outputs_serves_two_classes_too():
    codes, X = rings(np.random.default_rng(3), 60, 2)
    problem = Problem(X, codes, (Partition(np.arange(60), np.arange(0)),))
    search = Search("kfd", KFDClassifier(penalty="kernel"), grid(sigma=(0.001, 0.5)), by="squared_outputs")
    assert choose([search], problem, [0], jobs=1, description="choosing")["kfd"].parameters == {"sigma": 0.5}


def test_a_choice_on_a_subset_keeps_the_classes_and_the_final_parameters():
    codes, X = rings(np.random.default_rng(0), 300, 3)
    problem = Problem(X, codes, (Partition(np.arange(240), np.arange(240, 300)),))
    search = Search(
        "orols", OROLSClassifier(30, n_candidates=20, random_state=0), grid(sigma=(1.0,)), n_samples=60,
        final={"n_candidates": 100},
    )  # fmt: skip
    choice = choose([search], problem, [0], jobs=1, description="choosing")["orols"]
    chosen = search.chosen(choice.parameters)
    assert (chosen.sigma, chosen.n_candidates) == (1.0, 100)
    trial = run_trial(chosen, X, codes, problem.partitions[0])
    assert trial.loss == np.mean(chosen.predict(X[240:]) != codes[240:])
    assert (trial.kernels, trial.n_train) == (chosen.basis_centers_.shape[0], 240)


def test_a_support_vector_counts_once_whatever_the_number_of_classes():
    codes, X = rings(np.random.default_rng(0), 300, 3)
    machine = SVC()
    trial = run_trial(machine, X, codes, Partition(np.arange(240), np.arange(240, 300)))
    assert trial.kernels == len(set(machine.support_)) < 240


def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_piece_of_work_has_one_thread(jobs):
    with threadpool_limits(2):
        found = in_parallel(threads, [()] * 3, jobs=jobs, description="counting")
    assert [set(numbers) for numbers in found] == [{1}] * 3


def test_the_paired_test_is_student_s():
    random = np.random.default_rng(0)
    first, second = random.normal(0, 1, 20), random.normal(0.8, 1, 20)
    difference = first - second
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(20))
    samples = np.random.default_rng(1).standard_t(19, 200_000)
    found = paired_t_test(first, second)
    assert found.difference == pytest.approx(difference.mean())
    assert found.p == pytest.approx(np.mean(np.abs(samples) >= abs(t)), abs=0.005)
    assert paired_t_test(first, first).verdict == "no different"
    assert paired_t_test(first, first - 1).verdict == "worse"
    assert paired_t_test(first, first + 1).verdict == "better"


def test_corrected_test_widens_the_variance():
    random = np.random.default_rng(0)
    first, second = random.normal(0, 1, 20), random.normal(0.8, 1, 20)
    difference = first - second
    corrected = difference.mean() / np.sqrt((1 / 20 + 0.25) * difference.var(ddof=1))
    samples = np.random.default_rng(1).standard_t(19, 200_000)
    assert paired_t_test(first, second, 0.25).p == pytest.approx(np.mean(np.abs(samples) >= abs(corrected)), abs=0.005)
    assert paired_t_test(first, second, 0.25).p > paired_t_test(first, second).p


def header(text):
    body = text.encode().ljust(118)
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 9)}"), "Expected at most"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 9)}") + bytes(100), "not have the 216 bytes"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 9)}"), "of shape"),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (3, 9)}"), "has object"),
        (header("(" * 100), "not a complete"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}") + b"\xff" * 8, "not finite"),
        (b"", "not a complete"),
    ],
)
def test_an_array_is_no_larger_than_its_file_bears_out(tmp_path, content, reason):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", content)
        archive.writestr("y.npy", header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}") + bytes(8))
    with pytest.raises(CorpusError, match=reason):
        regression_problem(tmp_path / "x.npz", 1, 1, 1)


def test_values_whose_squares_overflow_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.full((9, 1), 1e200), y=np.ones(9))
    with pytest.raises(CorpusError, match="not finite numbers"):
        regression_problem(tmp_path / "x.npz", 5, 2, 1)


def test_boards_balances_and_displays_are_the_published_sets(tmp_path):
    boards, won = tic_tac_toe(tmp_path)
    assert (boards.shape, won.sum()) == ((958, 9), 626)
    assert np.unique(boards, axis=0).shape == boards.shape
    balances, sides = balance_scale(tmp_path)
    assert balances.shape == (625, 4)
    np.testing.assert_array_equal(np.bincount(sides), [288, 49, 288])
    segments, digits = displays(tmp_path)
    assert segments.shape == (3000, 7)
    clean = {digit: np.round(segments[digits == digit].mean(axis=0)) for digit in range(10)}
    assert clean[8].sum() == 7 and clean[1].sum() == 2  # all segments, and two
    assert len({tuple(shape) for shape in clean.values()}) == 10
    assert 0.08 < np.mean([segments[digits == digit] != clean[digit] for digit in (8,)]) < 0.12


def test_categories_become_indicators(tmp_path):
    save_adult(tmp_path / "adu.npz")
    x, y = adult(tmp_path / "adu.npz")
    assert x.shape == (180, 3 + 3 + 3)
    np.testing.assert_array_equal(x[:, 3:6].sum(axis=1), 1)
    np.testing.assert_array_equal(x[:, 6:].sum(axis=1), 1)
    assert set(y) == {0, 1}
    np.savez(tmp_path / "one.npz", x=np.ones((4, 2)), y=np.ones(4))
    with pytest.raises(CorpusError, match="has only one class"):
        two_classes(tmp_path / "one.npz")


def test_large_set_is_drawn_once_and_solved_by_iteration(tmp_path, monkeypatch):
    save_adult(tmp_path / "adu.npz")
    monkeypatch.setitem(lssvm_uci.SIZES, "adu", (120, 60))
    direct = LSSVM_TABLE.study(tmp_path / "adu.npz", "adu", False)
    monkeypatch.setattr(lssvm_uci, "ITERATED", 100)
    iterated = LSSVM_TABLE.study(tmp_path / "adu.npz", "adu", False)
    assert len(direct.problem.partitions) == 10 and len(iterated.problem.partitions) == 1
    train, test = iterated.problem.partitions[0]
    np.testing.assert_array_equal(train, direct.problem.partitions[0].train)
    outputs = [
        clone(study.searches[0].estimator.estimator)
        .set_params(lssvm__regularization=0.1)
        .fit(study.problem.X[train], study.problem.y[train])
        .decision_function(study.problem.X[test])
        for study in (direct, iterated)
    ]
    np.testing.assert_allclose(outputs[1], outputs[0], atol=1e-2 * np.abs(outputs[0]).max())


def test_folds_of_a_part_keep_to_it_and_hold_each_sample_out_once():
    y = np.arange(300) % 3
    for most, size in ((90, 90), (1000, 300)):
        folds = list(PartFolds(5, most).split(None, y))
        assert len(folds) == PartFolds(5, most).get_n_splits() == 5
        held_out = np.concatenate([rows for _, rows in folds])
        assert held_out.shape == np.unique(held_out).shape == (size,)
        np.testing.assert_array_equal(np.bincount(y[held_out]), size // 3)
        assert all(np.intersect1d(train, rows).size == 0 for train, rows in folds)


def test_a_search_chooses_on_every_training_part_by_itself():
    codes, x = rings(np.random.default_rng(0), 120)
    partitions = tuple(Partition(rows[:60], rows[60:]) for rows in (np.arange(120), np.arange(120)[::-1]))
    problem = Problem(x, codes, partitions)
    own = ShrinkingGridSearchCV(
        Pipeline([("scale", StandardScaler()), ("svm", SVC())]), {"svm__C": [1.0, 10.0]}, n_refinements=1, cv=3
    )
    study = Study(problem, (Search("svm", own),))
    outcome = run_study(LSSVM_TABLE, "rings", study, jobs=1)["svm"]
    alone = [clone(own).fit(x[train], codes[train]) for train, _ in partitions]
    assert [dict(trial.choice.parameters) for trial in outcome.trials] == [
        {"C": search.best_params_["svm__C"]} for search in alone
    ]
    expected = [100 * search.score(x[test], codes[test]) for search, (_, test) in zip(alone, partitions, strict=True)]
    np.testing.assert_allclose(outcome.values, expected)
    assert outcome.choice.loss == pytest.approx(1 - np.mean([search.best_score_ for search in alone]))
    kept = study_settings(LSSVM_TABLE, study, {"svm": outcome})["methods"]["svm"]
    assert kept["grid"] == {"C": [1.0, 10.0]} and kept["fixed"]["kernel"] == "rbf"
    assert len(kept["chosen_by_partition"]) == 2
    json.dumps(kept, allow_nan=False)
