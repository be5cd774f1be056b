"""What the regressors owe beyond what they share with the classifiers."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from discriminants import KRLSRegressor, NPDRegressor, OLSRegressor, OROLSRegressor

X = np.random.default_rng(0).uniform(-2, 2, size=(120, 2))
X_TEST = np.random.default_rng(1).uniform(-2, 2, size=(50, 2))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1], X[:, 1] ** 2 - 1])
Y = Y + 0.05 * np.random.default_rng(2).normal(size=Y.shape)
SELECTING: list[Any] = [
    NPDRegressor(25, sigma=1.0),
    NPDRegressor(25, sigma=1.0, n_candidates=None, rule="largest_residual"),
    OROLSRegressor(25, sigma=1.0),
    OROLSRegressor(25, sigma=1.0, reestimation="evidence"),
    OLSRegressor(25, sigma=1.0),
]
STREAMING: list[Any] = [KRLSRegressor(0.01, sigma=1.0), KRLSRegressor(0.01, sigma=1.0, form="two_pass")]
REGRESSORS = [*SELECTING, *STREAMING]


def name_of(learner: Any) -> str:
    return type(learner).__name__


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_have_the_shape_of_the_targets_and_the_type_of_the_samples(learner: Any, dtype: type) -> None:
    for y, shape in ((Y[:, 0], (50,)), (Y[:, :1], (50, 1)), (Y, (50, 3))):
        outputs = clone(learner).fit(X.astype(dtype), y).predict(X_TEST.astype(dtype))
        assert outputs.shape == shape
        assert outputs.dtype == dtype
    column, vector = clone(learner).fit(X, Y[:, :1]), clone(learner).fit(X, Y[:, 0])
    np.testing.assert_array_equal(column.predict(X_TEST)[:, 0], vector.predict(X_TEST))


@pytest.mark.parametrize("learner", REGRESSORS, ids=name_of)
def test_several_targets_share_a_dictionary(learner: Any) -> None:
    together = clone(learner).fit(X, Y)
    assert together.dual_coef_.shape == (together.basis_centers_.shape[0], 3)
    np.testing.assert_array_equal(X[together.center_indices_], together.basis_centers_)
    assert together.score(X, Y) > 0.9


@pytest.mark.parametrize("learner", STREAMING, ids=name_of)
def test_the_targets_play_no_part_in_a_streams_dictionary(learner: Any) -> None:
    together = clone(learner).fit(X, Y)
    for s in range(3):
        alone = clone(learner).fit(X, Y[:, s])
        np.testing.assert_array_equal(alone.center_indices_, together.center_indices_)
        np.testing.assert_allclose(alone.predict(X_TEST), together.predict(X_TEST)[:, s], atol=1e-9)


@pytest.mark.parametrize("learner", [SELECTING[0], SELECTING[1], SELECTING[4], *STREAMING], ids=name_of)
@pytest.mark.parametrize("offset", [-10.0, 1e6])
def test_outputs_whose_bias_is_free_move_with_the_targets(learner: Any, offset: float) -> None:
    expected = clone(learner).fit(X, Y)
    found = clone(learner).fit(X, Y + offset)
    np.testing.assert_array_equal(found.center_indices_, expected.center_indices_)
    np.testing.assert_allclose(found.predict(X_TEST) - offset, expected.predict(X_TEST), atol=1e-6)


@pytest.mark.parametrize("learner", SELECTING, ids=name_of)
def test_the_training_error_never_rises_with_another_centre_of_plain_least_squares(learner: Any) -> None:
    errors = [
        ((clone(learner).set_params(n_centers=m).fit(X, Y).predict(X) - Y) ** 2).sum() for m in (1, 2, 5, 10, 20, 40)
    ]
    if isinstance(learner, NPDRegressor | OLSRegressor):
        assert (np.diff(errors) <= 1e-9).all()
    assert errors[-1] < 0.1 * errors[0]


def test_a_ridge_that_sets_itself_beats_plain_least_squares_and_support_vectors_on_the_noisy_sinc() -> None:
    grid = np.linspace(-10, 10, 400)[:, None]
    truth = np.sinc(grid[:, 0] / np.pi)
    errors = {"orols": 0.0, "npd": 0.0, "svr": 0.0}
    for run in range(15):
        random = np.random.default_rng(run)
        samples = random.uniform(-10, 10, size=(100, 1))
        y = np.sinc(samples[:, 0] / np.pi) + 0.1 * random.normal(size=100)
        learners: dict[str, Any] = {
            "orols": OROLSRegressor(60, sigma=1.5),
            "npd": NPDRegressor(60, sigma=1.5, criterion=None),
            "svr": SVR(C=1.0, gamma=1 / (2 * 1.5**2), epsilon=0.1),
        }
        for name, learner in learners.items():
            errors[name] += ((learner.fit(samples, y).predict(grid) - truth) ** 2).mean()
    assert errors["orols"] < min(errors["npd"], errors["svr"])


@pytest.mark.slow
@pytest.mark.parametrize("learner", [NPDRegressor(), OROLSRegressor(), OLSRegressor(), KRLSRegressor()], ids=name_of)
def test_the_defaults_keep_off_the_noise(learner: Any) -> None:
    draws = [
        load_diabetes(return_X_y=True),
        make_friedman1(200, noise=1.0, random_state=0),
        make_friedman2(200, noise=125.0, random_state=0),
        make_friedman3(200, noise=0.1, random_state=0),
    ]
    folds = KFold(5, shuffle=True, random_state=0)
    for samples, y in draws:
        found, peer = (
            cross_val_score(make_pipeline(StandardScaler(), model), samples, (y - y.mean()) / y.std(), cv=folds).mean()
            for model in (clone(learner), SVR())
        )
        assert found > peer - 0.05


def test_the_number_of_centres_is_found_where_a_dense_fit_fails_at_the_edges() -> None:
    grid = np.linspace(-10, 10, 400)[:, None]
    truth = np.sinc(grid[:, 0] / np.pi)
    errors = np.empty((5, 2))
    for seed in range(5):
        random = np.random.default_rng(seed)
        samples = random.uniform(-10, 10, size=(100, 1))
        y = np.sinc(samples[:, 0] / np.pi) + 0.1 * random.normal(size=100)
        for column, criterion in enumerate((None, "cv")):
            npd = NPDRegressor(60, sigma=1.5, criterion=criterion, random_state=0).fit(samples, y)
            # With any number of kept centers it is the least-squares fit: not worse on its own samples than the curve.
            assert ((npd.predict(samples) - y) ** 2).mean() < 0.012
            errors[seed, column] = ((npd.predict(grid) - truth) ** 2).mean()
    all_kept, found = errors.T
    assert all_kept.mean() > 2 * found.mean()
    assert found.max() < 0.01


def test_a_stream_takes_several_targets_and_refuses_what_fit_refuses() -> None:
    learner = KRLSRegressor(0.01, sigma=1.0)
    for rows in np.array_split(np.arange(120), 5):
        learner.partial_fit(X[rows], Y[rows])
    np.testing.assert_allclose(learner.predict(X_TEST), clone(learner).fit(X, Y).predict(X_TEST), atol=1e-9)
    for wrong, message in (
        (Y.astype(str), "numbers"),
        (np.where(Y > 1, None, Y), "NaN"),
        (1e200 * Y, "Scale y"),
        (Y[:, 0], "shape"),
        (Y[:, :2], "shape"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.partial_fit(X, wrong)
    with pytest.raises(ValueError, match="3 features"):
        learner.partial_fit(np.hstack([X, X[:, :1]]), Y)
    np.testing.assert_allclose(learner.predict(X_TEST), clone(learner).fit(X, Y).predict(X_TEST), atol=1e-9)
