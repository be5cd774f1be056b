"""The kernel second-order discriminant and its pruning (Abdallah, Richard and Lengelle 2004)."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from discriminants.fisher.second_order import SecondOrderPath
from discriminants.fisher.thresholds import least_errors
from discriminants.kernels import make_kernel
from discriminants.linear_systems.centred_scatter import PENALTIES
from discriminants.linear_systems.kernel_values import kernel_matrix
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier, winners
from discriminants.multiclass.thresholded import stratified_folds
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, SHARE, estimator, parameter


def _guaranteed_risk(errors: np.ndarray, sizes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return errors plus E(n, V, 0.05) of (32), V = sizes + 1; `errors` has shape (n_rhos, n_sizes)."""
    capacity = (sizes + 1) / n_samples
    return errors + np.sqrt(capacity * (1.0 + np.log(2.0 / capacity)) - np.log(_RISK / 4.0) / n_samples)


def _description_length(errors: np.ndarray, sizes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the description length per sample, in nats: the labels given the model, and its weights."""
    return entr(errors) + entr(1.0 - errors) + 0.5 * (sizes + 1) * np.log(n_samples) / n_samples


_DRAWS = 25  # of the bootstrap; the probability that a sample is in all is 1e-5
_RISK = 0.05  # probability that the error is above the guaranteed risk
_PENALTIES_OF_SIZE: Mapping[Any, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "guaranteed_risk": _guaranteed_risk,
    "description_length": _description_length,
}
_RESAMPLED = {"resubstitution", "jackknife", "bootstrap"}


@estimator
class KSODClassifier(OneVsRestClassifier):
    """Fisher's discriminant with a free weight of the two class variances, chosen on held-out samples.

    For any criterion of the means and variances of two projected classes (Fisher's, the signal-to-noise ratio, the mean
    square error), the direction is w = (rho S_0 + (1 - rho) S_1)^-1 (m_1 - m_0) for some rho (Abdallah et al. 2004, 8).
    The classifier tries values of rho from 0 to 1, each with the threshold of least errors on held-out samples, and
    keeps the best (their section III-C). rho = P(C_0) is Fisher's criterion. Class 1 is the second of two classes, or
    the one against the rest. All values of rho are computed from one decomposition (`SecondOrderPath`).

    `n_components="held_out"` gives KSOD-OBD. It uses the basis in which the covariances of both classes are diagonal,
    and prunes the components that contribute least to the difference of the means. The number of components with the
    fewest held-out errors is kept (their section IV). A prediction still takes all kernel values; only the number of
    free weights is small.

    Parameters
    ----------
    regularization : float
        eta, added to the covariances, which are means over a class; 0 only with `truncation`.
    truncation : float
        Fraction of the largest eigenvalue of the summed covariances: directions with smaller ones are left out
        (truncated singular value decomposition). 0 keeps all.
    penalty : {"identity", "kernel"}
        Matrix of the penalty: alpha'alpha, as in the paper, or alpha'K alpha, the norm in the space of the kernel.
    rho : {"held_out", "fisher"} or float
        Weight of the covariance of the class below, 0 to 1: chosen, P(C_0), or given.
    n_rhos : int
        Number of values of rho to choose from, evenly spaced; the paper's step of 0.05 makes 21.
    n_components : {"held_out", "guaranteed_risk", "description_length"}, int or None
        Number of components of each output: chosen, given (up to the number available), or all. "held_out" has the
        fewest errors on the samples of `validation`. The other two take the errors of `validation="resubstitution"`
        and add a penalty. "guaranteed_risk" is the bound (31) that holds with probability 0.95, with a VC dimension of
        one more than the components. "description_length" is the minimum description length of the labels: N H(e) +
        k / 2 log N, with e the error rate, H the entropy, and k one more than the components (Rissanen 1986).
    validation : float, int, "resubstitution", "jackknife" or "bootstrap"
        A float below 1 is the fraction of the samples that is held out, stratified; the others are used for training,
        as in the paper. With all other values, all samples are used for training in the end, with the rho, the number
        of components and the threshold that were best. An int is the number of folds of a cross-validation. The
        "jackknife" holds out each sample in turn, and takes as many decompositions as samples. The "bootstrap" trains
        on 25 draws with replacement and tests each on the samples not drawn. "resubstitution" counts the errors of the
        training samples, which are too few; it is for the two penalties.
    posterior
        Fitted to the outputs of all samples, or with folds to held-out outputs. For two classes both are equally
        probable at the threshold, except with "gaussian".
    random_state : int, RandomState or None
        Draws the held-out samples; folds are always the same.

    Attributes
    ----------
    rho_ : ndarray of shape (n_outputs,)
    n_components_ : ndarray of int of shape (n_outputs,)
    held_out_errors_ : ndarray of shape (n_outputs, n_rhos)
        Fraction of held-out samples on the wrong side of each output's threshold at each rho, with the best number of
        components.
    dual_coef_ : ndarray of shape (m, n_outputs)
        Outputs are scaled so that the class means of the training samples differ by two.

    References
    ----------
    F. Abdallah, C. Richard, R. Lengelle, An improved training algorithm for nonlinear kernel discriminants, IEEE
    Transactions on Signal Processing 52, 2004.

    See Also
    --------
    KFDClassifier : rho = P(C_0), with closed-form leave-one-out.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    regularization: float = parameter(NOT_NEGATIVE, default=1e-3)
    truncation: float = parameter(Interval(Real, 0, 1, closed="left"), default=0.0)
    penalty: str = parameter(set(PENALTIES), default="identity")
    rho: Any = parameter({"held_out", "fisher"}, Interval(Real, 0, 1, closed="both"), default="held_out")
    n_rhos: int = parameter(Interval(Integral, 2, None, closed="left"), default=21)
    n_components: Any = parameter({"held_out", *_PENALTIES_OF_SIZE}, COUNT, None, default=None)
    validation: Any = parameter(SHARE, Interval(Integral, 2, None, closed="left"), _RESAMPLED, default=0.2)
    random_state: Any = parameter("random_state", default=None)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        if self.n_components in _PENALTIES_OF_SIZE and self.validation != "resubstitution":
            raise ValueError(
                f"n_components = {self.n_components!r} adds a penalty to the training errors, got validation = "
                f"{self.validation!r}. Expected validation = 'resubstitution'"
            )
        kernel, points = make_kernel(self.kernel, self.sigma).resolved(X).over(X)
        K = kernel_matrix(kernel, X, X[points])
        splits, learnt = self._splits(winners(targets))
        columns = np.flatnonzero(np.isin(points, learnt))
        chosen = [self._output(K, points, targets[:, s] > 0, splits, learnt) for s in range(targets.shape[1])]
        weights = np.stack([output.weights for output in chosen], axis=1)
        bias = np.array([output.bias for output in chosen])
        self._keep_expansion(kernel.at(columns), X[points[columns]], weights, bias)
        self.rho_ = np.array([output.rho for output in chosen])
        self.n_components_ = np.array([output.n_components for output in chosen])
        self.held_out_errors_ = np.stack([output.errors for output in chosen])
        self._left_out = np.stack([output.held_out for output in chosen], axis=1) if len(splits) > 1 else None

    def _calibrate(self, X: np.ndarray, codes: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> None:
        outputs = self._outputs(X) if self._left_out is None else self._left_out
        del self._left_out
        self._fit_posterior(outputs, codes)

    def _sets_thresholds(self) -> bool:
        return True

    def _splits(self, codes: np.ndarray) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
        """Return pairs (training rows, held-out rows), and the rows used to train the final model."""
        rows = np.arange(codes.shape[0])
        if self.validation == "resubstitution":
            return [(rows, rows)], rows
        counts = np.bincount(codes)
        if counts[counts > 0].min() < 2:
            raise ValueError(
                f"validation = {self.validation!r} needs at least two samples of every class, got "
                f"{(counts == 1).sum()} of {(counts > 0).sum()} classes with one. "
                "Expected more samples or fewer classes, or validation = 'resubstitution'"
            )
        random = check_random_state(self.random_state)
        if self.validation == "bootstrap":
            members = [np.flatnonzero(codes == c) for c in np.flatnonzero(counts)]
            draws = [np.concatenate([random.choice(own, own.shape[0]) for own in members]) for _ in range(_DRAWS)]
            return [(np.sort(drawn), np.setdiff1d(rows, drawn)) for drawn in draws], rows
        if self.validation == "jackknife":
            return [(np.delete(rows, row), rows[row : row + 1]) for row in rows], rows
        if isinstance(self.validation, Integral):
            fold = stratified_folds(codes, int(self.validation))
            numbers = np.unique(fold)
            return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in numbers], rows
        held_out = np.zeros(codes.shape[0], dtype=bool)
        order = random.permutation(codes.shape[0])
        for c in np.flatnonzero(counts):
            of_class = order[codes[order] == c]
            held_out[of_class[: min(max(1, round(self.validation * counts[c])), counts[c] - 1)]] = True
        train = np.flatnonzero(~held_out)
        return [(train, np.flatnonzero(held_out))], train

    def _output(
        self,
        K: np.ndarray,
        points: np.ndarray,
        positive: np.ndarray,
        splits: list[tuple[np.ndarray, np.ndarray]],
        learnt: np.ndarray,
    ) -> "_Output":
        """Choose rho, the number of components and the threshold of one output."""

        def path_of(rows: np.ndarray) -> tuple[SecondOrderPath, np.ndarray]:
            square = self.penalty == "kernel" and points.shape[0] == K.shape[0]  # also with rows that are repeated
            columns = rows if square else np.flatnonzero(np.isin(points, rows))
            part = K[np.ix_(rows, columns)]
            return SecondOrderPath(part, positive[rows], self.regularization, self.penalty, self.truncation), columns

        paths, coordinates = [], []
        for train, held_out in splits:
            path, columns = path_of(train)
            paths.append(path)
            coordinates.append(K[np.ix_(held_out, columns)] @ path.components)
        rows = np.concatenate([held_out for _, held_out in splits])
        rhos, sizes = self._choices(positive, min(path.differences.shape[0] for path in paths))
        table, thresholds = np.empty((len(rhos), len(sizes))), np.empty((len(rhos), len(sizes)))
        for number, rho in enumerate(rhos):
            outputs = _at_sizes(paths, coordinates, rho, sizes)
            table[number], thresholds[number] = least_errors(outputs, positive[rows])
        errors = table / rows.shape[0]
        if self.n_components in _PENALTIES_OF_SIZE:
            table = _PENALTIES_OF_SIZE[self.n_components](errors, np.array(sizes), rows.shape[0])
        # Ties: the fewest components, then the rho nearest to Fisher's.
        fisher = float((~positive).mean())
        best = table == table.min()
        size = int(np.argmax(best.any(axis=0)))
        place = int(np.argmin(np.where(best[:, size], np.abs(np.array(rhos) - fisher), np.inf)))
        final = paths[0] if len(splits) == 1 else path_of(learnt)[0]
        solution = final.solve(rhos[place], sizes[size])
        tested = _at_sizes(paths, coordinates, rhos[place], sizes)[:, size] - thresholds[place, size]
        counts = np.bincount(rows, minlength=positive.shape[0])
        scale = 2.0 / solution.separation if solution.separation > 0 else 1.0
        return _Output(
            scale * solution.alpha,
            -scale * solution.midpoint - float(thresholds[place, size]),
            rhos[place],
            sizes[size] or final.differences.shape[0],
            errors[np.arange(len(rhos)), table.argmin(axis=1)],
            np.bincount(rows, tested, positive.shape[0]) / np.maximum(counts, 1),
        )

    def _choices(self, positive: np.ndarray, most: int) -> tuple[list[float], list[int | None]]:
        """Return values of rho, and numbers of components, ascending; None is all."""
        if isinstance(self.rho, str):
            fisher = self.rho == "fisher"
            rhos = [float((~positive).mean())] if fisher else np.linspace(0.0, 1.0, int(self.n_rhos)).tolist()
        else:
            rhos = [float(self.rho)]
        if self.n_components is None:
            return rhos, [None]
        if isinstance(self.n_components, str):
            return rhos, [*range(1, most + 1)]
        return rhos, [min(int(self.n_components), most)]


class _Output(NamedTuple):
    weights: np.ndarray
    bias: float
    rho: float
    n_components: int
    errors: np.ndarray
    held_out: np.ndarray


def _at_sizes(
    paths: list[SecondOrderPath], coordinates: list[np.ndarray], rho: float, sizes: list[int | None]
) -> np.ndarray:
    """Return held-out outputs at each number of components, shape (n_held_out, n_sizes)."""
    columns = [-1 if size is None else size - 1 for size in sizes]
    return np.vstack([path.outputs(Z, rho)[:, columns] for path, Z in zip(paths, coordinates, strict=True)])
