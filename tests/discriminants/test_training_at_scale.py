"""Kernel logistic regression streaming over samples on disk: the same model wherever and however often begun."""

import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_blobs

from discriminants import SparseKernelLogisticClassifier, estimator_to_arrays, save_arrays
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.kernels import GaussianKernel
from discriminants.logistic import checkpoint as checkpoint_module
from discriminants.logistic.descent import descent_schedule
from discriminants.logistic.loss import LOSSES
from discriminants.logistic.memory import FitSize, MemoryPlan, within_memory
from discriminants.logistic.samples import stored, within_reach
from discriminants.logistic.whitening import whiten_by_factors
from discriminants.multiclass.labels import OneVsRestTargets, one_vs_rest_targets
from discriminants.parallel.cluster import ClusterWorkers
from discriminants.parallel.stored_array import StoredArray
from discriminants.parallel.threads import ThreadWorkers
from discriminants.parallel.workers import LocalWorkers, SerialWorkers
from tests.cluster_processes import ROOT, Cluster

OPTIONS: dict[str, Any] = {"n_centers": 40, "n_candidates": 80, "max_iter": 3, "random_state": 0}
Problem = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def problem() -> Problem:
    X, y = make_blobs(40_000, n_features=3, centers=6, cluster_std=3.0, random_state=0)
    return X.astype(np.float32), y


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernel values are formed block by block, as for many samples."""
    monkeypatch.setattr("discriminants.sparse.sparse_logistic._CACHED_KERNEL", 0)


def assert_same(one: SparseKernelLogisticClassifier, other: SparseKernelLogisticClassifier) -> None:
    for name in ("basis_centers_", "dual_coef_", "intercept_", "training_loss_curve_", "loss_curve_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"loss": "ovr"}, {"solver": "irls", "max_newton_steps": 2, "alpha": 1e-3}])
def test_the_model_is_the_same_to_the_last_bit_wherever_it_is_computed(
    problem: Problem, options: dict[str, Any], tmp_path: Path
) -> None:
    X, y = problem
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    learner = SparseKernelLogisticClassifier(**OPTIONS, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = learner.fit(X, y, X_val=X[:9000], y_val=y[:9000], workers=SerialWorkers())
        for workers, data in (
            (ThreadWorkers(3), X),
            (LocalWorkers(2), mapped),
            (SerialWorkers(), StoredArray(tmp_path / "X.npy")),
        ):
            there = SparseKernelLogisticClassifier(**OPTIONS, **options)
            assert_same(here, there.fit(data, y, X_val=X[:9000], y_val=y[:9000], workers=workers))


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_model(problem: Problem, cluster: Cluster) -> None:
    X, y = problem
    here = SparseKernelLogisticClassifier(**OPTIONS).fit(X, y, workers=SerialWorkers())
    workers = ClusterWorkers(cluster.address)
    there = SparseKernelLogisticClassifier(**OPTIONS)

    def kill(number: int, *rest: Any) -> None:
        if number == 1:
            cluster.kill_one()

    there.fit(X, y, workers=workers, progress=kill)
    workers.close()
    assert len(cluster.killed) == 1
    assert_same(here, there)


def test_a_file_is_used_where_it_lies_only_if_it_is_the_whole_array(tmp_path: Path) -> None:
    X = np.arange(60.0).reshape(20, 3)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = stored(np.asarray(mapped))
    assert found is not None and found.path == tmp_path / "X.npy"
    private = np.load(tmp_path / "X.npy", mmap_mode="c")
    for other in (mapped[:10], mapped[::-1], mapped[:, :2], np.asarray(mapped) + 0.0, private):
        assert stored(other) is None
        with within_reach(other, LocalWorkers(2)) as source:
            assert isinstance(source, StoredArray)
            np.testing.assert_array_equal(source[:], other)
        assert not source.path.exists()


def test_one_vs_rest_targets_without_the_matrix() -> None:
    for n_classes in (2, 5):
        codes = np.random.default_rng(0).integers(0, n_classes, 50)
        weight = np.random.default_rng(1).random(50)
        targets, whole = OneVsRestTargets(codes, n_classes), one_vs_rest_targets(codes, n_classes)
        np.testing.assert_array_equal(np.asarray(targets[slice(10, 30)]), whole[10:30])
        np.testing.assert_allclose(targets.weighted_sum(weight), weight @ whole)


def test_products_summed_by_workers_are_those_summed_at_once() -> None:
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(20_000, 3)).astype(np.float32), random.integers(0, 4, 20_000)
    weight, rows = random.uniform(0.5, 2.0, 15_000), np.sort(random.permutation(20_000)[:15_000])
    kernel, targets = GaussianKernel(1.0), OneVsRestTargets(codes[rows], 4)
    one = accumulate_gram(kernel, X[rows], np.asarray(targets), X[:300], sample_weight=weight)
    other = accumulate_gram(kernel, X, targets, X[:300], rows=rows, sample_weight=weight, workers=ThreadWorkers(2))
    for name in ("gram", "correlation", "means", "target_means", "target_energy"):
        scale = np.abs(getattr(one, name)).max()
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9 * scale)


class HaltError(Exception):
    """Raised in the middle of a fit."""


@pytest.mark.parametrize("options", [{}, {"solver": "irls", "alpha": 1e-4, "tol": 1e-5}])
@pytest.mark.parametrize("random_state", [0, None])
def test_a_fit_that_was_halted_goes_on_and_ends_with_the_same_model(
    options: dict[str, Any], random_state: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_module, "INTERVAL", 0.0)
    X, y = make_blobs(9000, n_features=3, centers=4, cluster_std=4.0, random_state=0)
    options = OPTIONS | options | {"random_state": random_state, "min_steps": 20}
    file = tmp_path / "fit.checkpoint"
    for halts_at in (1, 2, 3):
        learner = SparseKernelLogisticClassifier(**options)

        def halt(number: int, *rest: Any, at: int = halts_at) -> None:
            if number == at:
                raise HaltError

        with pytest.raises(HaltError):
            learner.fit(X, y, checkpoint=file, progress=halt)
        assert {path.name for path in tmp_path.iterdir()} == {"fit.checkpoint", "fit.checkpoint.whitening"}
    resumed = SparseKernelLogisticClassifier(**options).fit(X, y, checkpoint=file)
    assert not list(tmp_path.iterdir())
    assert resumed.n_iter_ == len(resumed.loss_curve_)
    if random_state is not None:
        whole = SparseKernelLogisticClassifier(**options).fit(X, y)
        assert_same(whole, resumed)


@pytest.mark.slow
def test_a_fit_that_was_killed_goes_on_and_ends_with_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from sklearn.datasets import make_blobs
from discriminants import SparseKernelLogisticClassifier, save_arrays, estimator_to_arrays
from discriminants.logistic import checkpoint
checkpoint.INTERVAL = 0.0
X, y = make_blobs(9000, n_features=3, centers=4, cluster_std=4.0, random_state=0)
def report(number, *rest):
    if number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
model = SparseKernelLogisticClassifier(40, n_candidates=80, min_steps=40, random_state=3)
model.fit(X, y, progress=report, checkpoint=Path(sys.argv[1]) / "fit.checkpoint")
save_arrays(Path(sys.argv[1]) / f"{sys.argv[2]}.safetensors", *estimator_to_arrays(model))
"""
    for kill_at, code in ((3, -signal.SIGKILL), (0, 0)):
        command = [sys.executable, "-c", script, str(tmp_path), str(kill_at)]
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == code
        assert (tmp_path / "fit.checkpoint").exists() == (code != 0)
    X, y = make_blobs(9000, n_features=3, centers=4, cluster_std=4.0, random_state=0)
    monkeypatch.undo()
    whole = SparseKernelLogisticClassifier(40, n_candidates=80, min_steps=40, random_state=3).fit(X, y)
    save_arrays(tmp_path / "whole.safetensors", *estimator_to_arrays(whole))
    assert (tmp_path / "0.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


@pytest.mark.slow
def test_a_checkpoint_of_other_data_or_parameters_or_a_damaged_one_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_module, "INTERVAL", 0.0)
    X, y = make_blobs(500, centers=3, random_state=0)
    file = tmp_path / "fit.checkpoint"

    def halt(*report: Any) -> None:
        raise HaltError

    def begin() -> None:
        with pytest.raises(HaltError):
            SparseKernelLogisticClassifier(5, random_state=0).fit(X, y, checkpoint=file, progress=halt)

    for n_centers, data in ((6, X), (5, X + 1e-9)):
        begin()
        clean = SparseKernelLogisticClassifier(n_centers, random_state=0).fit(data, y)
        with pytest.warns(UserWarning, match="other data or parameters"):
            found = SparseKernelLogisticClassifier(n_centers, random_state=0).fit(data, y, checkpoint=file)
        assert_same(clean, found)
        assert not file.exists()
    begin()
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.warns(UserWarning, match="checkpoint ignored"):
        SparseKernelLogisticClassifier(5, random_state=0).fit(X, y, checkpoint=file)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_more_centres_by_newton_and_cholesky_factors_reach_the_dense_minimum(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discriminants.logistic.moments._MANY_CENTERS", 10)
    X, y = make_blobs(300, centers=3, cluster_std=3.0, random_state=0)
    learner = SparseKernelLogisticClassifier(
        15, n_extra_centers=25, sigma=2.0, loss=loss, alpha=1e-3, solver="irls", tol=1e-9, random_state=0
    ).fit(X, y)
    centers = learner.basis_centers_
    assert centers.shape == (40, 2)
    assert np.unique(centers, axis=0).shape == (40, 2)
    first = SparseKernelLogisticClassifier(15, sigma=2.0, random_state=0).fit(X, y).basis_centers_
    np.testing.assert_array_equal(centers[:15], first)
    kernel = GaussianKernel(2.0)
    K, K_mm = kernel(X, centers), kernel(centers, centers)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(41, 3)
        residual = K @ W[1:] + W[0]
        value = LOSSES[loss](residual, y, np.ones(300)) / 300 + 0.5e-3 * np.trace(W[1:].T @ K_mm @ W[1:])
        slope = np.vstack([residual.sum(axis=0), K.T @ residual]) / 300
        slope[1:] += 1e-3 * K_mm @ W[1:]
        return float(value), slope.ravel()

    found = objective(np.vstack([learner.intercept_, learner.dual_coef_]).ravel())[0]
    best = minimize(objective, np.zeros(123), jac=True, method="L-BFGS-B", options={"maxiter": 20_000}).fun
    assert found <= best * (1 + 1e-6)


def test_factors_whiten_as_eigenvectors_do() -> None:
    random = np.random.default_rng(1)
    centers = random.normal(size=(12, 3))
    K_mm = GaussianKernel(2.0)(centers, centers)
    features = GaussianKernel(2.0)(random.normal(size=(500, 3)), centers)
    covariance = np.cov(features.T, bias=True)
    w = whiten_by_factors(K_mm, covariance, features.mean(axis=0), damping=1e-3)
    total = w.transform.T @ (covariance + 1e-3 * K_mm) @ w.transform
    np.testing.assert_allclose(total, np.eye(12), atol=1e-4)
    np.testing.assert_allclose(w.inverse @ w.transform, np.eye(12), atol=1e-6)
    np.testing.assert_allclose(w.ridge(np.eye(12)), w.transform.T @ K_mm @ w.transform, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(w.variance, np.diagonal(w.transform.T @ covariance @ w.transform), atol=1e-4)
    with pytest.raises(ValueError, match="positive semidefinite"):
        whiten_by_factors(-K_mm, covariance, features.mean(axis=0), damping=1e-3)


@pytest.mark.parametrize(("n_samples", "expected"), [(500, (1, 448)), (20_000, (10, 45)), (230_000, (15, 8))])
def test_few_samples_are_passed_over_more_often(n_samples: int, expected: tuple[int, int]) -> None:
    assert descent_schedule(n_samples, 16_384, 8, 112) == expected


@pytest.mark.slow
def test_a_memory_ceiling_is_held(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
import numpy as np
from sklearn.datasets import make_blobs
from discriminants import SparseKernelLogisticClassifier
from discriminants.parallel.threads import ThreadWorkers
X, y = make_blobs(40_000, n_features=4, centers=8, cluster_std=4.0, random_state=0)
X = X.astype(np.float32)
SparseKernelLogisticClassifier(20, n_candidates=40, max_iter=1).fit(X[:20_000], y[:20_000], workers=ThreadWorkers(2))
def resident(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))
Path("/proc/self/clear_refs").write_text("5")
before = resident("VmRSS")
SparseKernelLogisticClassifier(600, n_candidates=1500, max_iter=1, random_state=0, max_memory=int(sys.argv[1])).fit(
    X, y, workers=ThreadWorkers(4))
print(resident("VmHWM") - before)
"""
    ceiling = 130_000_000
    command = [sys.executable, "-c", script, str(ceiling)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert 0 < int(done.stdout) <= ceiling


def test_a_memory_ceiling_holds_tasks_back_and_says_what_would_fit() -> None:
    size = FitSize(1_000_000, 4000, 2000, 2000, 144, 4, cached=False)
    workers = ThreadWorkers(8)
    assert within_memory(None, size, workers) is workers
    assert within_memory(8 * 10**9, size, workers) is workers
    few = within_memory(1_500_000_000, size, workers)
    assert isinstance(few, MemoryPlan) and 1 <= few.n_workers < 8
    with pytest.raises(ValueError, match=r"max_memory = 500 MB .* n_candidates = \d+"):
        within_memory(500_000_000, size, workers)
    with pytest.raises(ValueError, match=r"Use \d+ centers"):
        within_memory(500_000_000, FitSize(1000, 0, 5000, 5000, 10, 4, cached=False), workers)
    X, y = make_blobs(3000, centers=2, random_state=0)
    with pytest.raises(ValueError, match="max_memory"):
        SparseKernelLogisticClassifier(100, max_memory=1_000_000).fit(X, y)


@pytest.mark.slow
def test_the_model_does_not_depend_on_the_ceiling() -> None:
    X, y = make_blobs(30_000, centers=3, cluster_std=3.0, random_state=0)
    free = SparseKernelLogisticClassifier(**OPTIONS).fit(X, y, workers=ThreadWorkers(4))
    held = SparseKernelLogisticClassifier(**OPTIONS, max_memory=17_000_000).fit(X, y, workers=ThreadWorkers(4))
    assert_same(free, held)
