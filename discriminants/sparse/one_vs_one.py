"""One kernel machine for every pair of classes, on centers shared by the pairs (Andelic 2007, section 4.2.1)."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.utils import check_random_state

from discriminants.center_selection.forward.forward_selection import forward_selection
from discriminants.center_selection.forward.gram import GramSystem, accumulate_gram
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.learner import ForwardSelectionLearner
from discriminants.center_selection.forward.norm_penalty import with_norm_penalty
from discriminants.center_selection.forward.rules import error_reduction, make_rule
from discriminants.kernels import Kernel, make_kernel
from discriminants.kernels.named import NAMED
from discriminants.multiclass.class_scatter import ClassScatter, PairMoments, class_scatter, joined
from discriminants.multiclass.gaussian_coupling import floored
from discriminants.multiclass.labels import class_codes, draw_by_class
from discriminants.multiclass.pair_expansion import PairExpansion
from discriminants.multiclass.pair_logistic import logistic_pair
from discriminants.parallel.workers import SerialWorkers, Workers
from discriminants.sparse.npd import NPDClassifier
from discriminants.sparse.orols import OROLSClassifier
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, parameter
from discriminants.util.inputs import checked_samples
from discriminants.util.sampling import distinct_rows
from discriminants.util.weights import weights_of

_CANDIDATES = 300  # of a class
_OTHERS = 2000  # samples of other classes


def class_pool(
    number: int, X: np.ndarray, kernel: Kernel, members: list[np.ndarray], n_centers: int, seed: int
) -> np.ndarray:
    """Return rows of X that separate class `number` from the others, in the order of forward selection.

    `members` has the rows of X of each class. 300 candidates of the class are drawn at random. They are compared with
    2000 samples of the other classes, balanced over these. There are at most `n_centers` rows and at least one; fewer
    if fewer candidates are distinct and independent. `seed` and `number` determine the random numbers.
    """
    random = np.random.default_rng([seed, number])
    own = members[number]
    others = np.concatenate(members[:number] + members[number + 1 :])
    if others.shape[0] > _OTHERS:
        others = np.sort(random.choice(others, _OTHERS, replace=False))
    candidates = np.sort(random.choice(own, min(_CANDIDATES, own.shape[0]), replace=False))
    candidates = candidates[distinct_rows(X[candidates])[0]]
    targets = np.concatenate([np.ones(own.shape[0]), -np.ones(others.shape[0])])[:, None]
    gram = accumulate_gram(kernel, X, targets, X[candidates], rows=np.concatenate([own, others]))
    state = GramState(gram, n_centers)
    order = forward_selection(state, error_reduction, n_centers)
    return candidates[order] if order else candidates[:1]


_MIN_HELD_OUT = 5  # samples in half a class
_PRIOR_SAMPLES = 2.0  # added to the samples of a pair with small classes, with the squared error of zero weights
_SAMPLES_A_CENTRE = 5
_PENALTY = 0.1  # for pairs of classes with held-out outputs
_MIN_SHARE = 0.1  # of a column's energy in the other half; below it a ridge is added; 0.03 gave wrong posteriors
_RIDGE = 1e-9  # relative, on the diagonal of a half's normal equations, because it may have fewer samples than columns
# For an output that is the log odds: with these densities in the two classes, Bayes' rule returns the output.
_LOG_ODDS_MEANS, _LOG_ODDS_VARIANCES = (-1.0, 1.0), (2.0, 2.0)
_LEARNERS: dict[str, type[ForwardSelectionLearner]] = {"npd": NPDClassifier, "orols": OROLSClassifier}


@estimator
class OneVsOneKernelClassifier(PairExpansion):
    """NPD or OROLS for every pair of classes, with pair outputs turned into posteriors by pairwise coupling.

    Each pair is trained on the samples of its two classes, with targets -1 and +1. Its centers come from the pools of
    the two classes; each pool has a few centers, chosen beforehand. The whole machine therefore has at most n_classes *
    candidates_per_class centers, for any number of pairs. The output of a pair is modeled as normal in either class
    (4.6, 4.7). Bayes' rule with the classes' shares of the training samples turns it into a posterior, and coupling
    turns pair posteriors into class posteriors (4.8).

    The densities are estimated from held-out outputs: the weights of either half of the samples are applied to the
    other half, with the centers of the whole. On training samples the outputs of classes with few samples are separated
    too well, and posteriors are overconfident. If half a class has fewer than 5 samples, the means are those on the
    training samples, and both classes have one variance. It is the squared error of a new sample by the p weights of n
    samples, (1 + p / n) / (n - p) times the sum of squared residuals (Akaike 1969). Two samples that no weight fits are
    added, so that posteriors stay moderate if there are about as many weights as samples.

    The source scales every weight vector to length one. The densities scale with it, so no scaling is needed.

    Least squares draws the outputs of all samples of a class to one value, for easy and difficult samples equally. With
    `loss` "logistic" the same centers are chosen, but the weights are those of logistic regression on them. The output
    is the log odds of the second class if both classes are equally frequent. It grows as the first class becomes less
    likely, and decoding adds up such scores over frames.

    Parameters
    ----------
    learner : {"npd", "orols"}
        Training of a pair: least squares (`NPDClassifier`), or a ridge set by generalized cross-validation
        (`OROLSClassifier`).
    n_centers : int, "auto" or None
        Maximum number of centers of a pair; None takes all selected ones. "auto" is None with a penalty or the logistic
        loss. Otherwise it takes at most one for every five samples of the pair, and at least two. With as many centers
        as samples each half is fitted exactly, and its outputs on the other half are noise.
    candidates_per_class : int
        Number of centers in the pool of a class, chosen by forward selection against the rest.
    kernel : str or Kernel
        A kernel whose centers are points, by name or as an object.
    sigma : float or "scale"
        Width of a kernel given by name, shared by all pairs.
    residual_threshold : float, optional
        For NPD: stop if no residual at a center of the two pools is larger in absolute value (4.4.1).
    norm_penalty : float or "auto"
        mu of a penalty mu w'Kw on the weights of every pair (`NPDClassifier`). "auto" with the squared loss is 0.1, as
        in `KRLSClassifier`, if every class has ten samples, else 0. It suits kernels with k(x, x) = 1, and gave smaller
        log losses than 0 on five of six small sets (docs/lab-notes/pairwise-classifiers.md).
    rule : {"error_reduction", "largest_residual", "matching_pursuit", "best_of_59"}
        Rule for the next center of a pair.
    loss : {"squared", "logistic"}
        Loss for the weights, after the centers are chosen.
    logistic_penalty : float
        Half of it times w'Kw is added to the sum of the logistic losses; K has the kernel values of a pair's centers.
    random_state : int, RandomState or None
        Draws samples and candidates.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (n_centers, n_features)
        The pools, class by class.
    means_, variances_ : ndarray of shape (2, n_pairs)
        Mean and variance of the output of each pair in its first class and in its second, mostly held out. With the
        logistic loss they are -1, +1 and 2, for which Bayes' rule returns the output.
    n_centers_ : ndarray of int of shape (n_pairs,)
        Number of centers of each pair.

    See Also
    --------
    PairwiseClassifier : the same with any classifier, in a loop over the pairs.

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
    norm_penalty: float | str = parameter(NOT_NEGATIVE, {"auto"}, default="auto")
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
        sample_weight: None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
        workers: Workers | None = None,
    ) -> Self:
        """Choose the pools, then train all pairs.

        Parameters
        ----------
        progress : callable, optional
            Called with the steps done and the total number of steps, three per class.
        workers : Workers, optional
            Workers for the computation, with one class per task; they do not affect the result.

        Raises
        ------
        ValueError
            For fewer than two classes, weights of samples (not supported), or a kernel with several columns per point
            or a separate width for each point.
        """
        self._validate_params()
        X, y = checked_samples(self, X, y)
        weights_of(self, X, y, sample_weight)
        self.classes_, codes = class_codes(y)
        n_classes = self.classes_.shape[0]
        workers = SerialWorkers() if workers is None else workers
        random = check_random_state(self.random_state)
        counts = np.bincount(codes)
        self.class_log_prior_ = np.log(counts / counts.sum())
        members = draw_by_class(codes, self.max_samples_per_class, random)
        kernel = make_kernel(self.kernel, self.sigma).resolved(X[np.sort(np.concatenate(members))])
        if not kernel.centers_are_points or kernel.over(X[:1])[1].size != 1:
            raise ValueError(f"kernel must have one column per point, because pairs share their centers, got {kernel}")
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
        machine = workers.share(
            (self._pair_learner(int(counts.min())), kernel, self.basis_centers_, self.n_centers, seed)
        )
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

    def _pair_learner(self, smallest: int) -> ForwardSelectionLearner:
        penalty = self.norm_penalty
        if isinstance(penalty, str):
            penalty = _PENALTY if self.loss == "squared" and smallest >= 2 * _MIN_HELD_OUT else 0.0
        parameters: dict[str, Any] = {"rule": self.rule, "norm_penalty": penalty}
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
    """Return the pairs (i, j) with j > i: weights of both pools, bias, number of centers, means, variances."""
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
            if logistic_penalty is None and not learner.norm_penalty:
                most = min(most, max(2, n_samples // _SAMPLES_A_CENTRE))
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
    """Return weights and bias of the log odds of the second class against the first, for equal priors."""
    counts = [samples.shape[0] for samples in of_pair]
    K, K_centers = (kernel(x, centers).astype(np.float64) for x in (np.concatenate(of_pair), centers))
    weights, bias = logistic_pair(K, np.repeat([-1.0, 1.0], counts), penalty * K_centers)
    return weights, bias - float(np.log(counts[1] / counts[0]))


def _penalised(system: GramSystem, K: np.ndarray | None, penalty: float) -> GramSystem:
    return with_norm_penalty(system, K, penalty) if K is not None and penalty else system


def _expected_squares(counts: np.ndarray, means: np.ndarray, variances: np.ndarray, n_weights: int) -> np.ndarray:
    """Return the expected squared error (2,) of a new sample, equal for both classes, from training moments (2,)."""
    n_samples = counts.sum()
    residual = float(counts @ (variances + (means - [-1.0, 1.0]) ** 2))
    freedom = max(n_samples - n_weights, 0.0) + _PRIOR_SAMPLES
    return np.full(2, (residual + _PRIOR_SAMPLES) / freedom * (1.0 + n_weights / n_samples))


def _held_out_outputs(
    halves: list[PairMoments], systems: list[GramSystem], order: list[int], lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances (2,) of the output in either class, with weights trained on the other half.

    The centers and the penalty `lam` per sample on the orthogonal weights are those of the whole. If an outlier is a
    center, its column is almost zero in the half without it. The weight, and the output at the outlier, would be huge,
    so such a column gets a ridge.
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
