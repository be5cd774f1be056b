"""One kernel machine for every pair of classes, over centres that the pairs share (Andelic 2007, section 4.2.1)."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from discriminants.center_selection.forward.class_pools import class_pool
from discriminants.center_selection.forward.gram import GramSystem
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.learner import ForwardSelectionLearner
from discriminants.center_selection.forward.norm_penalty import with_norm_penalty
from discriminants.center_selection.forward.rules import make_rule
from discriminants.kernels import Kernel, make_kernel
from discriminants.kernels.named import NAMED
from discriminants.multiclass.class_draw import draw_by_class
from discriminants.multiclass.class_scatter import ClassScatter, PairMoments, class_scatter, joined
from discriminants.multiclass.gaussian_coupling import floored
from discriminants.multiclass.labels import class_codes
from discriminants.multiclass.pair_expansion import PairExpansion
from discriminants.multiclass.pair_logistic import logistic_pair
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse.npd import NPDClassifier
from discriminants.sparse.orols import OROLSClassifier
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, parameter
from discriminants.util.expansion import FLOATS

_MIN_HELD_OUT = 5  # samples of half a class
_PRIOR_SAMPLES = 2.0  # whose squared error is that of no weights at all, beside those of a pair with small classes
_SAMPLES_A_CENTRE = 5
_MIN_SHARE = 0.1  # of a column's energy in the other half, below which it is lifted; 0.03 let posteriors go wrong
_RIDGE = 1e-9  # relative, on the diagonal of a half's normal equations, which may have fewer samples than columns
# Of an output that is itself the log odds: with such densities in the two classes, Bayes' rule returns it.
_LOG_ODDS_MEANS, _LOG_ODDS_VARIANCES = (-1.0, 1.0), (2.0, 2.0)
_LEARNERS: dict[str, type[ForwardSelectionLearner]] = {"npd": NPDClassifier, "orols": OROLSClassifier}


@estimator
class OneVsOneKernelClassifier(PairExpansion):
    """NPD or OROLS for every pair of classes, with pair outputs turned into posteriors by pairwise coupling.

    Each pair is learnt on the samples of its two classes alone, with targets -1 and +1. Its centres come from the pools
    of the two classes, a few centres each that are chosen before, so that the whole machine has n_classes *
    candidates_per_class centres at most, however many pairs there are. The output of a pair is normally distributed in
    either class (4.6, 4.7); Bayes' rule with the classes' shares of the training samples makes it a posterior, and
    coupling makes posteriors of the classes of those of the pairs (4.8).

    The densities are those of outputs on samples that the weights were not learnt from: the weights of either half of
    the samples, on the other half, with the centres of the whole. On the training samples themselves outputs of
    classes with few samples are too well apart, and posteriors too sure. Where half a class has fewer than 5 samples,
    the means are those on the training samples, and both classes have one variance: the squared error of a new sample
    by the p weights of n samples, (1 + p / n) / (n - p) times the sum of squared residuals (Akaike 1969), with two
    samples more that no weight serves, so that posteriors stay moderate where weights are as many as samples.

    The source scales every weight vector to length one; the densities, which scale with it, make that superfluous.

    Least squares draws the outputs of all samples of a class to one value, those that are hard to take for the other
    class as well as those that are easy. With `loss` "logistic" the centres are chosen as before, but the weights are
    those of logistic regression on them, and the output is the log odds of the second class where both are equally
    frequent: it grows with how unlikely the first one is, which is what a search through many frames adds up.

    Parameters
    ----------
    learner : {"npd", "orols"}
        How a pair is learnt: least squares (`NPDClassifier`), or with a ridge that generalised cross-validation sets
        (`OROLSClassifier`).
    n_centers : int, "auto" or None
        Most centres of a pair; None takes all that the selection takes. "auto" with the squared loss takes one for
        every five samples of the pair at most, two at least: by as many centres as samples either half of these is
        fitted exactly, and its outputs on the other half are noise.
    candidates_per_class : int
        Centres in the pool of a class, chosen by forward selection against the rest.
    kernel : str or Kernel
        A kernel whose centres are points, by name or as an object.
    sigma : float or "scale"
        Width of a kernel given by name, one for all pairs.
    residual_threshold : float, optional
        Of NPD: stop once no residual at a centre of the two pools is larger in absolute value (4.4.1).
    norm_penalty : float
        mu of a penalty mu w'Kw on the weights of every pair (`NPDClassifier`).
    rule : {"error_reduction", "largest_residual", "matching_pursuit", "best_of_59"}
        How the next centre of a pair is chosen.
    loss : {"squared", "logistic"}
        Of the weights, once the centres are chosen.
    logistic_penalty : float
        Half of it times w'Kw is added to the sum of the logistic losses, K the kernel values of a pair's centres.
    random_state : int, RandomState or None
        Draws samples and candidates.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (n_centers, n_features)
        The pools, class after class.
    means_, variances_ : ndarray of shape (2, n_pairs)
        Of the output of each pair in its first class and in its second, mostly held out. With the logistic loss -1,
        +1 and 2, by which Bayes' rule gives the output back.
    n_centers_ : ndarray of int of shape (n_pairs,)
        Centres of each pair.

    See Also
    --------
    PairwiseClassifier : the same over any classifier, in a loop over the pairs.

    References
    ----------
    E. Andelic, Sparse Nonlinear Discriminants, dissertation, Magdeburg 2007. D. Price, S. Knerr, L. Personnaz, G.
    Dreyfus, Pairwise neural network classifiers with probabilistic outputs, NIPS 7, 1995. H. Akaike, Fitting
    autoregressive models for prediction, Annals of the Institute of Statistical Mathematics 21, 1969.
    """

    learner: str = parameter(set(_LEARNERS), default="npd", kw_only=False)
    n_centers: int | str | None = parameter(COUNT, {"auto"}, None, default="auto")
    candidates_per_class: int = parameter(COUNT, default=14)
    kernel: Any = parameter(set(NAMED) - {"precomputed"}, Kernel, default="gaussian")
    sigma: Any = parameter({"scale"}, POSITIVE, default="scale")
    residual_threshold: float | None = parameter(NOT_NEGATIVE, None, default=None)
    norm_penalty: float = parameter(NOT_NEGATIVE, default=0.0)
    rule: str = parameter(
        {"error_reduction", "largest_residual", "matching_pursuit", "best_of_59"}, default="error_reduction"
    )
    loss: str = parameter({"squared", "logistic"}, default="squared")
    logistic_penalty: float = parameter(POSITIVE, default=5e-4)
    max_samples_per_class: int | None = parameter(COUNT, None, default=1000)
    random_state: Any = parameter("random_state", default=None)

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        progress: Callable[[int, int], None] | None = None,
        workers: Workers | None = None,
    ) -> Self:
        """Choose the pools, then train all pairs.

        Parameters
        ----------
        progress : callable, optional
            Called with the steps done and their number, three a class.
        workers : Workers, optional
            Where to compute, one class a task; what is learnt does not depend on it.

        Raises
        ------
        ValueError
            For fewer than two classes, or a kernel with several columns a point or a width of its own for each.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS, order="C")
        self.classes_, codes = class_codes(y)
        n_classes = self.classes_.shape[0]
        workers = SerialWorkers() if workers is None else workers
        random = check_random_state(self.random_state)
        counts = np.bincount(codes)
        self.class_log_prior_ = np.log(counts / counts.sum())
        members = draw_by_class(codes, self.max_samples_per_class, random)
        kernel = make_kernel(self.kernel, self.sigma).resolved(X[np.sort(np.concatenate(members))])
        if not kernel.centers_are_points or kernel.over(X[:1])[1].size != 1:
            raise ValueError(f"pairs share their centres, so the kernel must have one column a point, got {kernel}")
        done = 0

        def tell() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, 3 * n_classes)

        shared = [workers.share(value) for value in (X, kernel, members)]
        size, seed = int(self.candidates_per_class), int(random.randint(np.iinfo(np.int32).max))
        pools = []
        for rows in workers.map(class_pool, range(n_classes), *shared, size, seed):
            pools.append(rows)
            tell()
        self.pool_sizes_ = np.array([rows.shape[0] for rows in pools])
        starts = np.cumsum(self.pool_sizes_) - self.pool_sizes_
        self.kernel_, self.basis_centers_ = kernel, X[np.concatenate(pools)]
        for step in class_scatter(kernel, X, members, self.basis_centers_, self.pool_sizes_, workers):
            if step is None:
                tell()
            else:
                scatter = step
        self.dual_coef_ = np.zeros((self.basis_centers_.shape[0], n_classes))
        numbers = []
        machine = workers.share((self._pair_learner(), kernel, self.basis_centers_, self.n_centers, seed))
        logistic = self.logistic_penalty if self.loss == "logistic" else None
        samples = shared[0], shared[2], logistic
        for i, learnt in enumerate(workers.map(_pairs_of, range(n_classes), workers.share(scatter), machine, *samples)):
            for j, (weights, *rest) in enumerate(learnt, start=i + 1):
                n_own = self.pool_sizes_[i]
                self.dual_coef_[starts[i] : starts[i] + n_own, j] = weights[:n_own]
                self.dual_coef_[starts[j] : starts[j] + self.pool_sizes_[j], i] = weights[n_own:]
                numbers.append(rest)
            tell()
        of_pairs = np.array(numbers)
        self.intercept_, self.n_centers_ = of_pairs[:, 0], of_pairs[:, 1].astype(np.intp)
        self.means_ = np.ascontiguousarray(of_pairs[:, 2:4].T)
        self.variances_ = floored(of_pairs[:, 4:6].T, self.means_)
        return self

    def _pair_learner(self) -> ForwardSelectionLearner:
        parameters: dict[str, Any] = {"rule": self.rule, "norm_penalty": self.norm_penalty}
        if self.learner == "npd":
            parameters["residual_threshold"] = self.residual_threshold
        return _LEARNERS[self.learner](**parameters)


def _pairs_of(
    i: int,
    scatter: ClassScatter,
    machine: tuple[Any, ...],
    X: np.ndarray,
    members: list[np.ndarray],
    logistic_penalty: float | None,
) -> list[tuple[Any, ...]]:
    """The machines of the pairs (i, j) with j > i: weights of both pools, bias, number of centres, means, variances."""
    learner, kernel, centers, n_centers, seed = machine
    learnt, pools = [], scatter.pools()
    for j in range(i + 1, len(pools)):
        columns = np.concatenate([pools[i], pools[j]])
        halves = scatter.halves(i, j, pools[i], pools[j])
        whole = joined(*halves)
        K = None
        if learner.needs_kernel_matrix:
            K = kernel(centers[columns], centers[columns]).astype(np.float64)
        system = _penalised(whole.system(scatter.rounding), K, learner.norm_penalty)
        targets = np.where(columns < pools[j][0], -1.0, 1.0)[:, None]
        most = columns.shape[0]
        if n_centers == "auto":
            n_samples = members[i].shape[0] + members[j].shape[0]
            most = most if logistic_penalty is not None else min(most, max(2, n_samples // _SAMPLES_A_CENTRE))
        elif n_centers is not None:
            most = min(most, n_centers)
        state = GramState(system, most, points=None if K is None else (K, targets))
        learner.select(state, make_rule(learner.rule, np.random.RandomState(seed)), most)
        weights = np.zeros(columns.shape[0])
        if logistic_penalty is not None:
            chosen, of_pair = state.order, (X[members[i]], X[members[j]])
            weights[chosen], bias = _log_odds(kernel, of_pair, centers[columns[chosen]], logistic_penalty)
            learnt.append((weights, bias, len(chosen), *_LOG_ODDS_MEANS, *_LOG_ODDS_VARIANCES))
            continue
        solution = state.system.weights(state.lam)[:, 0]
        bias, weights[state.order] = solution[0], solution[1:]
        means, variances = whole.outputs(weights, bias)
        if min(half.counts.min() for half in halves) >= _MIN_HELD_OUT:
            systems = [
                _penalised(
                    half.system(scatter.rounding), K, learner.norm_penalty * half.counts.sum() / system.n_samples
                )
                for half in halves
            ]
            means, variances = _held_out_outputs(halves, systems, state.order, state.lam / system.n_samples)
        else:
            variances = _expected_squares(whole.counts, means, variances, len(state.order) + 1)
        learnt.append((weights, bias, len(state.order), *means, *variances))
    return learnt


def _log_odds(
    kernel: Kernel, of_pair: tuple[np.ndarray, np.ndarray], centers: np.ndarray, penalty: float
) -> tuple[np.ndarray, float]:
    """Weights and bias of the log odds of the second class against the first, were both equally frequent."""
    counts = [samples.shape[0] for samples in of_pair]
    K, K_centers = (kernel(x, centers).astype(np.float64) for x in (np.concatenate(of_pair), centers))
    weights, bias = logistic_pair(K, np.repeat([-1.0, 1.0], counts), penalty * K_centers)
    return weights, bias - float(np.log(counts[1] / counts[0]))


def _penalised(system: GramSystem, K: np.ndarray | None, penalty: float) -> GramSystem:
    return with_norm_penalty(system, K, penalty) if K is not None and penalty else system


def _expected_squares(counts: np.ndarray, means: np.ndarray, variances: np.ndarray, n_weights: int) -> np.ndarray:
    """Of a new sample about its target, the same for both classes, (2,), by moments of the training outputs, (2,)."""
    n_samples = counts.sum()
    residual = float(counts @ (variances + (means - [-1.0, 1.0]) ** 2))
    freedom = max(n_samples - n_weights, 0.0) + _PRIOR_SAMPLES
    return np.full(2, (residual + _PRIOR_SAMPLES) / freedom * (1.0 + n_weights / n_samples))


def _held_out_outputs(
    halves: list[PairMoments], systems: list[GramSystem], order: list[int], lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the output in either class, (2,) each, when each half's weights come of the other half:
    the same centres, and the same penalty `lam` a sample on the orthogonal weights.

    The half without a far-off sample that is a centre hardly sees that centre's column. Its weight would be huge, and
    the output at the sample itself with it, so that such a column gets a ridge.
    """
    means, variances = [], []
    energies_of = [np.diagonal(system.gram)[order] for system in systems]
    for system, other, own, others in zip(systems, reversed(halves), energies_of, reversed(energies_of), strict=True):
        gram = system.gram[np.ix_(order, order)]
        gram[np.diag_indices_from(gram)] += _RIDGE * own + np.maximum(_MIN_SHARE * others - own, 0.0)
        factor = cholesky(gram, lower=True, check_finite=False)
        energies = np.diagonal(factor) ** 2
        z = solve_triangular(factor, system.correlation[order, 0], lower=True, check_finite=False)
        shrunk = z * energies / (lam * system.n_samples + energies)
        weights = np.zeros(system.gram.shape[0])
        weights[order] = solve_triangular(factor, shrunk, lower=True, trans="T", check_finite=False)
        bias = float(system.target_means[0] / (1.0 + lam) - system.means @ weights)
        mean, variance = other.outputs(weights, bias)
        means.append(mean)
        variances.append(variance)
    share = np.stack([half.counts for half in reversed(halves)])
    share /= share.sum(axis=0)
    mean = (share * means).sum(axis=0)
    return mean, (share * (variances + (means - mean) ** 2)).sum(axis=0)
