"""Base of NPD, OROLS and OLS: from samples and targets to a few weighted centers."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from discriminants.center_selection.forward.column_state import ColumnState
from discriminants.center_selection.forward.forward_selection import Rule, SelectionState, forward_selection
from discriminants.center_selection.forward.gram import accumulate_gram
from discriminants.center_selection.forward.gram_state import GramState
from discriminants.center_selection.forward.kernel_matrix import KernelMatrix
from discriminants.center_selection.forward.model_size import CRITERIA, sizes_up_to
from discriminants.center_selection.forward.norm_penalty import with_norm_penalty
from discriminants.center_selection.forward.path import SelectionPath
from discriminants.center_selection.forward.rules import RULES, make_rule
from discriminants.kernels import Kernel, make_kernel
from discriminants.kernels.kernel import SMALLEST
from discriminants.kernels.named import NAMED
from discriminants.multiclass.one_vs_rest import winners
from discriminants.util.estimator import COUNT, NOT_NEGATIVE, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.sampling import are_few, distinct_rows

StateMaker = Callable[[slice, int], SelectionState]

_PILOT = 4  # one in 4 candidates is drawn at random if the others are drawn by residual


@estimator
class ForwardSelectionLearner(KernelExpansion):
    """Base class that chooses centers, decides how many to keep, and stores the expansion.

    A subclass defines the update after each column. With `n_candidates=None` every sample is a candidate and the chosen
    columns are stored: the form of the source, O(N m) memory. Otherwise candidates are drawn at random and selection
    works on their Gram matrix: O(P^2) memory for any N.

    Parameters
    ----------
    n_centers : int
        Maximum number of centers of a dictionary; fewer if fewer distinct candidates are linearly independent.
    epsilon : float
        Added to the diagonal of the full Gram matrix, that is, to the entry of a center and its own sample (Andelic
        2007, below 3.54).
    norm_penalty : float
        mu of a penalty mu w'K_mm w, the squared norm of the expansion in the space of the kernel (2.50), on the summed
        squared error. It affects the choice of centers and their weights; the bias is unpenalized. With all samples as
        centers this is `KFDClassifier(penalty="kernel", regularization=mu)`, the least-squares support vector machine
        (Suykens et al. 2002). Needs a symmetric positive semidefinite kernel and `n_candidates`; the only supported
        criterion is "cv".
    criterion : {"gcv", "bic", "mdl", "cv", "auto"}, optional
        Criterion for the number of centers, up to `n_centers`: generalized cross-validation, an information criterion,
        or `cv`-fold cross-validation, which takes `cv` further selections. None keeps all. "auto" is "cv" if there are
        fewer than ten samples per center for `n_centers`, else None.
    cv : int
        Number of folds.
    dictionary : {"shared", "private"}
        One list of centers for all outputs, or one for each output.
    rule : {"error_reduction", "largest_residual", "matching_pursuit", "best_of_59"} or callable
        Rule for the next center; the source takes the largest residual. A callable gets the selection state and returns
        the number of an available candidate.
    n_candidates : int, optional
        Number of candidates drawn at random; their Gram matrix takes O(n_candidates^2) memory for any number of
        samples. None takes all samples and keeps explicit columns, O(N m) memory, and is slow for rules other than the
        largest residual.
    candidates : {"random", "residual"}
        Draw of the candidates if there are fewer than samples: all at random, or a quarter at random and the others
        where a model of that quarter has large residuals, as the source's rule would choose. The second needs fewer
        candidates and centers, unless most large residuals are noise.
    random_state : int, RandomState or None
        Draws the candidates, and the samples of `rule="best_of_59"`.

    Attributes
    ----------
    center_indices_ : ndarray of shape (m,)
        Rows of the centers in X, in the order of selection for a shared dictionary, by candidate for private ones.
    n_centers_ : ndarray of shape (n_dictionaries,)
        Number of centers of each dictionary.
    """

    _sparse_inputs: ClassVar[bool] = True

    n_centers: int = parameter(COUNT, default=200, kw_only=False)
    kernel: Any = parameter(set(NAMED), Kernel, callable, default="gaussian")
    sigma: Any = parameter({"scale"}, POSITIVE, np.ndarray, default="scale")
    epsilon: float = parameter(NOT_NEGATIVE, default=0.0)
    norm_penalty: float = parameter(NOT_NEGATIVE, default=0.0)
    criterion: str | None = parameter({*CRITERIA, "cv", "auto"}, None, default="auto")
    cv: int = parameter(Interval(Integral, 2, None, closed="left"), default=5)
    dictionary: str = parameter({"shared", "private"}, default="shared")
    rule: Any = parameter(set(RULES), callable, default="error_reduction")
    n_candidates: int | None = parameter(COUNT, None, default=3000)
    candidates: str = parameter({"random", "residual"}, default="random")
    random_state: Any = parameter("random_state", default=None)

    def _begin(self, state: SelectionState) -> None:
        """Hook called before the first column of every dictionary."""

    def _after_column(self, state: SelectionState) -> bool:
        """Hook called after every accepted column; True ends the selection."""
        return False

    def select(self, state: SelectionState, rule: Rule, n_centers: int) -> list[float]:
        """Choose centers until `n_centers` are chosen or the learner stops; return the penalty after every column.

        Parameters
        ----------
        state : SelectionState
            Selection to continue.
        rule : Rule
            Choice of the next center.
        n_centers : int
            Number of centers to reach.
        """
        lams: list[float] = []
        self._begin(state)

        def update(state: SelectionState) -> bool:
            stop = self._after_column(state)
            lams.append(state.lam)
            return stop

        forward_selection(state, rule, n_centers, update)
        return lams

    @property
    def needs_kernel_matrix(self) -> bool:
        """Whether the Gram form needs the kernel values among the candidates."""
        return bool(self.norm_penalty) or self._needs_residual()

    def _needs_residual(self) -> bool:
        """Whether the Gram form must update the residual at the candidates, which a callable rule may use."""
        return self.rule == "largest_residual" or callable(self.rule)

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs at least two samples, got 1 sample")
        if self.norm_penalty and self.n_candidates is None:
            raise ValueError(
                f"norm_penalty = {self.norm_penalty} with n_candidates = None. Expected a number of candidates"
            )
        if weight is not None and self.n_candidates is None:
            raise ValueError("sample_weight and class_weight need n_candidates. Expected a number of candidates")
        if self.norm_penalty and self.criterion in CRITERIA:
            raise ValueError(f"criterion = {self.criterion!r} does not support norm_penalty. Use criterion = 'cv'")
        random = check_random_state(self.random_state)
        kernel = make_kernel(self.kernel, self.sigma).resolved(X, weight)
        points, candidate_kernel, paths = self.selection_paths(X, targets, kernel=kernel, random=random, weight=weight)
        if not any(path.n_centers for path in paths):
            raise ValueError(
                f"no center could be chosen: every column of {kernel} is constant over the samples. "
                "Expected rows of X that differ. Use a smaller width"
            )
        if self.criterion == "cv" or (self.criterion == "auto" and self._decides_by_folds(targets)):
            best = self._cross_validated_size(X, targets, kernel, random, max(path.n_centers for path in paths), weight)
            sizes = [min(best, path.n_centers) for path in paths]
        else:
            sizes = [self._criterion_size(path) for path in paths]
        self._keep(X, points, candidate_kernel, paths, sizes)

    def selection_paths(
        self,
        X: np.ndarray,
        targets: np.ndarray,
        *,
        kernel: Kernel,
        random: np.random.RandomState,
        weight: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Kernel, list[SelectionPath]]:
        """Select up to `n_centers` centers for each dictionary.

        Returns the row of X of each of P candidates, the kernel for these, and a path for each dictionary.

        Parameters
        ----------
        X : ndarray of shape (N, n_features)
            Samples.
        targets : ndarray of shape (N, S)
            Targets of the outputs.
        kernel : Kernel
            Kernel with numbers as parameters.
        random : RandomState
            Generator of the random numbers.
        weight : ndarray of shape (N,), optional
            Positive weights of the samples.
        """
        rows = self._candidate_rows(X, kernel, random)
        if self.candidates == "residual" and self.n_candidates is not None and self.n_candidates < X.shape[0]:
            pilot = rows[np.sort(random.choice(rows.shape[0], -(-rows.shape[0] // _PILOT), replace=False))]
            _, _, paths = self._selected(X, targets, pilot, kernel, random, weight)
            rows = self._rows_by_residual(X, targets, pilot, paths, kernel, random)
        return self._selected(X, targets, rows, kernel, random, weight)

    def _selected(
        self,
        X: np.ndarray,
        targets: np.ndarray,
        rows: np.ndarray,
        kernel: Kernel,
        random: np.random.RandomState,
        weight: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Kernel, list[SelectionPath]]:
        """Select among the candidates in the given rows."""
        candidate_kernel, which = kernel.at(rows).over(X[rows])
        points = rows[which]
        n_centers = min(int(self.n_centers), points.shape[0])
        make_state = self._state_maker(candidate_kernel, X, targets, points, weight)
        rule = make_rule(self.rule, random)
        paths = []
        for columns in self._dictionaries(targets):
            state = make_state(columns, n_centers)
            lams = self.select(state, rule, n_centers)
            order = np.array(state.order, dtype=np.intp)
            paths.append(SelectionPath(state.system, lams, order, candidate_kernel.at(order), X[points[order]]))
        return points, candidate_kernel, paths

    def _dictionaries(self, targets: np.ndarray) -> list[slice]:
        """Return the slices of targets that share a dictionary."""
        return [slice(None)] if self.dictionary == "shared" else [slice(s, s + 1) for s in range(targets.shape[1])]

    def _rows_by_residual(
        self,
        X: np.ndarray,
        targets: np.ndarray,
        pilot: np.ndarray,
        paths: list[SelectionPath],
        kernel: Kernel,
        random: np.random.RandomState,
    ) -> np.ndarray:
        """Return the pilot's rows and the remaining candidates, drawn by the pilot's residual.

        The probability is proportional to the fourth power of the residual, which prefers large residuals but not only
        outliers.
        """
        residual = targets - np.hstack([path.evaluate(X, path.n_centers) for path in paths])
        energy = np.einsum("ij,ij->i", residual, residual, dtype=np.float64)
        energy[pilot] = 0.0
        left = np.flatnonzero(energy)
        # The smallest of exponential variables divided by their weights: a weighted sample without replacement.
        with np.errstate(divide="ignore"):
            keys = random.standard_exponential(left.shape[0]) / (energy[left] / energy.max(initial=SMALLEST)) ** 2
        more = left[np.argsort(keys, kind="stable")[: self.n_candidates - pilot.shape[0]]]
        return self._distinct(np.sort(np.concatenate([pilot, more])), X, kernel)

    def _candidate_rows(self, X: np.ndarray, kernel: Kernel, random: np.random.RandomState) -> np.ndarray:
        """Return rows of X that may become centers, each distinct point once, ascending."""
        rows = np.arange(X.shape[0])
        if self.n_candidates is None:
            return rows
        if self.n_candidates < X.shape[0]:
            rows = np.sort(random.choice(rows, self.n_candidates, replace=False))
        return self._distinct(rows, X, kernel)

    @staticmethod
    def _distinct(rows: np.ndarray, X: np.ndarray, kernel: Kernel) -> np.ndarray:
        """Return each point once if equal points give equal columns."""
        if not kernel.centers_are_points:
            return rows
        return rows[distinct_rows(X[rows])[0]]

    def _state_maker(
        self, kernel: Kernel, X: np.ndarray, targets: np.ndarray, points: np.ndarray, weight: np.ndarray | None = None
    ) -> StateMaker:
        """Return a function (columns of the targets, n_centers) -> fresh selection state."""
        matrix = KernelMatrix(kernel, X, points, self.epsilon)
        if self.n_candidates is None:
            return lambda which, n_centers: ColumnState(matrix, targets[:, which], n_centers)
        diagonal = (points, self.epsilon) if self.epsilon else None
        gram = accumulate_gram(kernel, X, targets, X[points], diagonal=diagonal, sample_weight=weight)
        if self.norm_penalty:
            gram = with_norm_penalty(gram, matrix.at_candidates(), self.norm_penalty)
        at_candidates = matrix.at_candidates() if self._needs_residual() else None

        def make(which: slice, n_centers: int) -> GramState:
            residual_at = None if at_candidates is None else (at_candidates, targets[points][:, which])
            return GramState(gram, n_centers, targets=which, points=residual_at)

        return make

    def _criterion_size(self, path: SelectionPath) -> int:
        if self.criterion not in CRITERIA:
            return path.n_centers
        criterion = CRITERIA[self.criterion]
        values = [criterion(path.system(size), path.lam(size)) for size in range(1, path.n_centers + 1)]
        return 1 + int(np.argmin(values)) if values else 0

    def _decides_by_folds(self, targets: np.ndarray) -> bool:
        """Whether "auto" is "cv": there are few samples, and some can be held out."""
        largest = int(np.bincount(winners(targets)).max()) if is_classifier(self) else targets.shape[0]
        return largest > 1 and are_few(targets.shape[0], int(self.n_centers))

    def _cross_validated_size(
        self,
        X: np.ndarray,
        targets: np.ndarray,
        kernel: Kernel,
        random: np.random.RandomState,
        largest: int,
        weight: np.ndarray | None,
    ) -> int:
        """Return the size with the least held-out error: error rate for a classifier, else squared error."""
        sizes = sizes_up_to(largest)
        loss = _misclassified if is_classifier(self) else _squared_error
        total = np.zeros(len(sizes))
        for train, held_out in self._folds(targets):
            own = None if weight is None else weight[train]
            _, _, paths = self.selection_paths(
                X[train], targets[train], kernel=kernel.at(train), random=random, weight=own
            )
            of_fold = None if weight is None else weight[held_out]
            total += path_losses(paths, X[held_out], targets[held_out], sizes, loss, of_fold)
        return sizes[int(np.argmin(total))]

    def _folds(self, targets: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        if not is_classifier(self):
            return list(KFold(min(self.cv, targets.shape[0]), shuffle=True, random_state=0).split(targets))
        codes = winners(targets)
        counts = np.bincount(codes)
        if self.criterion == "cv" and counts.min() < 2:
            raise ValueError("criterion = 'cv' needs at least two samples of every class, got a class with one")
        alone = np.flatnonzero(counts[codes] == 1)  # used for training in every fold, never held out
        others = np.flatnonzero(counts[codes] > 1)
        folds = StratifiedKFold(min(self.cv, int(counts[counts > 1].min())), shuffle=True, random_state=0)
        return [
            (np.sort(np.concatenate([others[train], alone])), others[held_out])
            for train, held_out in folds.split(others, codes[others])
        ]

    def _keep(
        self, X: np.ndarray, points: np.ndarray, kernel: Kernel, paths: list[SelectionPath], sizes: list[int]
    ) -> None:
        """Store centers and weights; private dictionaries become one list, with zeros for centers not used by an
        output.
        """
        chosen = [path.order[:size] for path, size in zip(paths, sizes, strict=True)]
        union = chosen[0] if len(chosen) == 1 else np.unique(np.concatenate(chosen))
        weights = [path.weights(size) for path, size in zip(paths, sizes, strict=True)]
        expansion = np.zeros((union.shape[0], sum(w.shape[1] for w in weights)))
        column = 0
        for candidates, w in zip(chosen, weights, strict=True):
            where = slice(None) if len(chosen) == 1 else np.searchsorted(union, candidates)
            expansion[where, column : column + w.shape[1]] = w[1:]
            column += w.shape[1]
        self.center_indices_ = points[union]
        bias = np.concatenate([w[0] for w in weights])
        self._keep_expansion(kernel.at(union), X[self.center_indices_], expansion, bias)
        self.n_centers_ = np.array(sizes)


def path_losses(
    paths: list[SelectionPath],
    X: np.ndarray,
    targets: np.ndarray,
    sizes: list[int],
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return the weighted sum of loss(outputs, targets) (n_held_out,) at each size; shorter paths repeat their last
    model.
    """
    weight = np.ones(targets.shape[0]) if weight is None else weight
    steps = [path.outputs(X, [min(size, path.n_centers) for size in sizes]) for path in paths]
    return np.array(
        [weight @ loss(np.hstack([output for _, output in step]), targets) for step in zip(*steps, strict=True)]
    )


def _misclassified(outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return (winners(outputs) != winners(targets)).astype(np.float64)


def _squared_error(outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return ((outputs - targets) ** 2).sum(axis=1)
