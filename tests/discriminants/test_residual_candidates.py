"""Candidates drawn where a pilot model has large residuals, and the Gram state when it gives candidates up."""

import numpy as np
import pytest

from discriminants import NPDClassifier, NPDRegressor, OROLSClassifier, OROLSRegressor
from discriminants.center_selection.forward import gram_state, learner
from discriminants.center_selection.forward.forward_selection import forward_selection
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_schmidt_state import GramSchmidtState
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.orthogonal_system import OrthogonalSystem
from discriminants.center_selection.forward.rules import RULES
from discriminants.kernels import GaussianKernel


def two_scales(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A function that is flat but for a twentieth of its range."""
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, size=n_samples)
    return x[:, None], np.where(np.abs(x) < 0.05, np.sin(200.0 * x), 0.0)


def test_candidates_by_residual_go_where_the_target_is_hard():
    X, y = two_scales(2000, 0)
    X_test, y_test = two_scales(2000, 1)
    error = {}
    for candidates in ("random", "residual"):
        model = NPDRegressor(60, n_candidates=60, candidates=candidates, sigma=0.01, criterion=None, random_state=0)
        model.fit(X, y)
        error[candidates] = ((model.predict(X_test) - y_test) ** 2).mean()
        inside = (np.abs(model.basis_centers_[:, 0]) < 0.06).mean()
        assert (inside > 0.4) == (candidates == "residual")
    assert error["residual"] < 0.5 * error["random"]


@pytest.mark.parametrize("dictionary", ["shared", "private"])
@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
def test_candidates_by_residual_serve_every_dictionary_and_a_precomputed_kernel(dictionary, kernel):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((200, 2)), random.integers(3, size=200)
    X[y == 1] += 2.0
    X[y == 2] -= 2.0
    data = GaussianKernel(1.0)(X, X) if kernel == "precomputed" else X
    model, again = (
        OROLSClassifier(
            20,
            kernel=kernel,
            sigma="scale" if kernel == "precomputed" else 1.0,
            n_candidates=40,
            candidates="residual",
            dictionary=dictionary,
            random_state=0,
        ).fit(data, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(model.center_indices_, again.center_indices_)
    assert np.unique(model.center_indices_).shape == model.center_indices_.shape
    assert model.score(data, y) > 0.7


def test_the_pilot_is_a_quarter_of_the_candidates_and_repeated_rows_count_once(monkeypatch):
    X, y = two_scales(300, 0)
    X, y = X.repeat(2, axis=0), y.repeat(2)
    drawn = []
    selected = learner.ForwardSelectionLearner._selected

    def spy(self, X, targets, rows, *others):
        drawn.append(rows)
        return selected(self, X, targets, rows, *others)

    monkeypatch.setattr(learner.ForwardSelectionLearner, "_selected", spy)
    settings = {"candidates": "residual", "sigma": 0.05, "criterion": None, "random_state": 0}
    OROLSRegressor(30, n_candidates=80, **settings).fit(X, y)
    pilot, rows = drawn
    assert 15 <= pilot.shape[0] <= 20
    assert set(X[pilot, 0]) <= set(X[rows, 0])
    assert np.unique(X[rows], axis=0).shape[0] == rows.shape[0] <= 80


def test_a_perfect_pilot_leaves_nothing_to_draw():
    X = np.arange(12.0).repeat(10)[:, None]
    y = np.zeros(120)
    model = NPDRegressor(5, n_candidates=8, candidates="residual", sigma=0.5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), 0.0)


def test_as_many_candidates_as_samples_are_all_of_them():
    X, y = two_scales(60, 0)
    models = [
        OROLSRegressor(10, n_candidates=60, candidates=candidates, sigma=0.1).fit(X, y)
        for candidates in ("random", "residual")
    ]
    np.testing.assert_array_equal(models[0].center_indices_, models[1].center_indices_)


def test_another_way_to_draw_candidates_is_refused():
    X, y = two_scales(60, 0)
    with pytest.raises(ValueError, match="candidates"):
        NPDClassifier(10, candidates="hard").fit(X, y > 0)


@pytest.mark.parametrize("rule", ["error_reduction", "matching_pursuit", "best_of_59"])
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_candidates_given_up_do_not_change_the_order(rule, lam):
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((500, 5)), random.standard_normal((500, 3))
    points, kernel, n_centers = np.arange(230), GaussianKernel(1.0), 225
    orders, systems = [], []
    for state in (
        GramState(accumulate_gram(kernel, X, Y, X[points]), n_centers),
        GramSchmidtState(KernelMatrix(kernel, X, points), Y, n_centers),
    ):
        state.lam = lam
        orders.append(forward_selection(state, RULES[rule](np.random.RandomState(0)), n_centers))
        systems.append(state.system)
    assert orders[0] == orders[1]
    np.testing.assert_allclose(systems[0].R, systems[1].R, atol=1e-8)
    np.testing.assert_allclose(systems[0].z, systems[1].z, atol=1e-8)
    assert not GramState(accumulate_gram(kernel, X, Y, X[points]), 3).error_reduction(np.array([4])) <= 0


@pytest.mark.parametrize("kept", [[0], [6], [0, 1, 2, 3, 4, 5, 6], [1, 2, 5], [0, 3, 6]])
def test_a_triangle_shrinks_in_place(kept):
    whole = np.asfortranarray(np.random.default_rng(0).standard_normal((7, 7)))
    expected = np.triu(whole[np.ix_(kept, kept)])
    part = gram_state.shrink(whole, np.array(kept))
    np.testing.assert_array_equal(np.triu(part), expected)
    assert part.flags.f_contiguous and np.shares_memory(part, whole)
    last = gram_state.shrink(part, np.array([part.shape[0] - 1]))
    np.testing.assert_array_equal(last, expected[-1:, -1:])


@pytest.mark.parametrize("method", ["reestimate_lambda", "maximize_evidence", "generalised_cross_validation"])
def test_sums_kept_beside_the_factors_are_those_of_the_factors(method):
    random = np.random.default_rng(0)
    system = OrthogonalSystem(6, random.standard_normal(3), np.full(3, 50.0), 40)
    for size in range(5):
        column = np.append(random.standard_normal(size + 1), 0.5 + random.random())
        system.push(column, random.standard_normal(3))
    part = system.leading(3)
    for one, lam in ((system, 0.7), (part, 0.7), (system, 0.0)):
        energies = np.diagonal(one.R) ** 2
        shrinkage = energies / (lam + energies)
        free = 40 - shrinkage.sum()
        rss = one.residual_sum_of_squares(lam).sum()
        squares = (one.z**2).sum(axis=1)
        expected = {
            "reestimate_lambda": (energies / (lam + energies) ** 2).sum()
            * rss
            / (free * ((energies / (lam + energies) ** 3) @ squares)),
            "maximize_evidence": shrinkage.sum() * rss / (free * ((energies / (lam + energies) ** 2) @ squares)),
            "generalised_cross_validation": 40 * rss / free**2,
        }[method]
        assert getattr(one, method)(lam) == pytest.approx(expected, rel=1e-12)
