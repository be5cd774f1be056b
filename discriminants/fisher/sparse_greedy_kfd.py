"""The kernel Fisher discriminant on greedily chosen centers (Mika 2002, section 3.5.2)."""

from dataclasses import replace

import numpy as np

from discriminants.center_selection.forward.forward_selection import SelectionState
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.learner import ForwardSelectionLearner, StateMaker
from discriminants.center_selection.forward.norm_penalty import with_norm_penalty
from discriminants.center_selection.forward.normal_equations_state import NormalEquationsState
from discriminants.center_selection.forward.path import SelectionPath
from discriminants.kernels import Kernel
from discriminants.linear_systems.centred_scatter import PENALTIES
from discriminants.linear_systems.penalty_choice import penalty_given_or_chosen
from discriminants.multiclass.thresholded import ThresholdedClassifier
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, field, parameter


@estimator
class SparseGreedyKFDClassifier(ForwardSelectionLearner, ThresholdedClassifier):
    """Fisher's discriminant in few kernel columns, each the best of 59 candidates for the regularized objective.

    Least squares onto +-1 with the penalty mu alpha'P alpha over the chosen columns is the discriminant restricted to
    their span (Mika 2002, 3.57 to 3.61). Each step adds the center that lowers the objective most among 59 random
    candidates. With probability 0.95 it is among the best 5 % of all (lemma 3.2). Selection ends when the objective has
    fallen by less than the fraction `tol` on average over the last `patience` steps, or at `n_centers`.

    Time is O(59 N m^2), and memory 8 N m bytes for m centers. With `n_candidates`, the products of all columns of that
    number of random candidates are formed first, in O(N P^2) time and about 24 P^2 bytes. A step then takes almost no
    time, which is efficient if every class has its own dictionary. Leave-one-out omits the label of a sample, not its
    column.

    Parameters
    ----------
    n_centers : int
        Maximum number of centers, for each class if dictionaries are private.
    regularization : "auto" or float
        mu > 0; the scatter is unnormalized, so the same mu has less effect with more samples. "auto" chooses as in
        `KFDClassifier`, with every sample of the subset used for the choice as a center.
    tol : float
        Minimum mean decrease of the objective over the last `patience` steps, as a fraction of it; 0 never stops.
    patience : int
        Number of steps for `tol`.
    dictionary : {"shared", "private"}
        One list of centers for all classes, chosen by the sum of their decreases, or one for each class, as in the
        source.
    rule : {"best_of_59", "error_reduction"}
        "error_reduction" tests every candidate in every step.
    n_candidates : int or None
        With None, every distinct sample is a candidate, and the chosen columns are kept.
    calibrate_on : {"auto", "training", "leave_one_out", "held_out"}

    Attributes
    ----------
    objective_ : ndarray of shape (n_centers + 1,)
        Regularized squared error of all outputs with the first 0, 1, ... centers of a shared dictionary, or of the last
        dictionary if they are private.
    regularization_ : float
        Value used.
    center_indices_ : ndarray of int of shape (m,)
        Rows of the training samples.

    References
    ----------
    A. Smola, B. Schoelkopf, Sparse greedy matrix approximation for machine learning, ICML 2000.

    See Also
    --------
    OROLSClassifier : sets its ridge by itself.
    NPDClassifier : the same selection without a penalty on the weights, or with one on the norm.
    """

    epsilon: float = field(default=0.0, init=False)
    norm_penalty: float = field(default=0.0, init=False)
    criterion: str | None = field(default=None, init=False)
    cv: int = field(default=5, init=False)
    candidates: str = field(default="random", init=False)
    regularization: float | str = parameter(POSITIVE, {"auto"}, default="auto")
    penalty: str = parameter(set(PENALTIES), default="identity")
    tol: float = parameter(NOT_NEGATIVE, default=1e-3)
    patience: int = parameter(COUNT, default=5)
    rule: str = parameter({"best_of_59", "error_reduction"}, default="best_of_59")
    n_candidates: int | None = None
    calibrate_on: str = parameter({"auto", "training", "leave_one_out", "held_out"}, default="auto")

    def _begin(self, state: SelectionState) -> None:
        self._objectives = [float(state.system.unexplained.sum())]

    def _after_column(self, state: SelectionState) -> bool:
        values = self._objectives
        values.append(float(state.system.unexplained.sum()))
        if not self.tol or len(values) <= self.patience:
            return False
        fall = (values[-1 - self.patience] - values[-1]) / self.patience
        return bool(fall < self.tol * values[-1])

    def selection_paths(
        self,
        X: np.ndarray,
        targets: np.ndarray,
        *,
        kernel: Kernel,
        random: np.random.RandomState,
        weight: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Kernel, list[SelectionPath]]:
        """Return the selection paths of the base class, with the given or chosen penalty.

        Parameters
        ----------
        X, targets, kernel, random, weight
            As in the base class.
        """
        self.regularization_ = penalty_given_or_chosen(
            self.regularization, kernel, X, targets, self.penalty, own_column=True
        )
        return super().selection_paths(X, targets, kernel=kernel, random=random)

    def _candidate_rows(self, X: np.ndarray, kernel: Kernel, random: np.random.RandomState) -> np.ndarray:
        return self._distinct(super()._candidate_rows(X, kernel, random), X, kernel)

    def _state_maker(
        self, kernel: Kernel, X: np.ndarray, targets: np.ndarray, points: np.ndarray, weight: np.ndarray | None = None
    ) -> StateMaker:
        matrix = KernelMatrix(kernel, X, points)
        mu, penalty = self.regularization_, self.penalty
        if self.n_candidates is None:
            return lambda which, n_centers: NormalEquationsState(matrix, targets[:, which], n_centers, mu, penalty)
        gram = accumulate_gram(kernel, X, targets, X[points])
        constant = gram.gram.diagonal() <= gram.n_samples * (gram.rounding * gram.means) ** 2
        if penalty == "kernel":
            gram = with_norm_penalty(gram, matrix.at_candidates(), mu)
        else:
            gram = replace(gram, gram=gram.gram + mu * np.eye(points.shape[0]))
        gram.gram[constant, constant] = 0.0  # equivalent to the bias
        return lambda which, n_centers: GramState(gram, n_centers, targets=which)

    def _keep(
        self, X: np.ndarray, points: np.ndarray, kernel: Kernel, paths: list[SelectionPath], sizes: list[int]
    ) -> None:
        super()._keep(X, points, kernel, paths, sizes)
        self.objective_ = np.array(self._objectives)
        del self._objectives
        self._paths = paths if self._leaves_one_out() else None

    def _calibration_outputs(self, X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        paths = self._paths
        del self._paths
        if paths is None:
            return super()._calibration_outputs(X, targets)
        outputs, column = np.empty(targets.shape), 0
        for path in paths:
            system = path.system(path.n_centers)
            Q = path.coordinates(X)
            fitted = system.z[0] / np.sqrt(system.n_samples) + Q @ system.z[1:]
            own = slice(column, column + fitted.shape[1])
            leverage = 1.0 / system.n_samples + np.einsum("ij,ij->i", Q, Q)
            outputs[:, own] = targets[:, own] - (targets[:, own] - fitted) / (1.0 - leverage)[:, None]
            column = own.stop
        return outputs
