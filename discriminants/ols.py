"""Orthogonal least squares over the full Gram matrix (Chen, Cowan and Grant 1991; Andelic 2007, 3.71-3.75)."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.kernels import Kernel
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.regression import KernelRegressor
from discriminants.selection.forward_selection import SelectionState
from discriminants.selection.gram_schmidt_state import GramSchmidtState
from discriminants.selection.kernel_matrix import KernelMatrix
from discriminants.selection.learner import ForwardSelectionLearner, StateMaker


class _OrthogonalLeastSquares(ForwardSelectionLearner):
    """Modified Gram-Schmidt over all candidate columns."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in ForwardSelectionLearner._parameter_constraints.items() if k not in ("rule", "candidates")},
        "unexplained": [Interval(Real, 0, 1, closed="left")],
    }

    unexplained: float
    rule = "error_reduction"

    def _state_maker(self, kernel: Kernel, X: np.ndarray, targets: np.ndarray, points: np.ndarray) -> StateMaker:
        matrix = KernelMatrix(kernel, X, points, self.epsilon)
        return lambda which, n_centers: GramSchmidtState(matrix, targets[:, which], n_centers)

    def _after_column(self, state: SelectionState) -> bool:
        return bool(state.system.unexplained.sum() <= self.unexplained * state.system.target_energy.sum())


class OLSClassifier(_OrthogonalLeastSquares, OneVsRestClassifier):
    """Forward selection by error reduction with modified Gram-Schmidt over all candidate columns.

    The classical baseline: the same centres and weights as `NPDClassifier(rule="error_reduction")` over the
    same candidates, for O(N P) memory and O(N P m) time, against O(P^2) and O(N P^2 / 2) of the Gram form.

    Parameters
    ----------
    n_centers : int
        Most centres of a dictionary; fewer where fewer distinct candidates are linearly independent.
    kernel : str, Kernel or callable
        "gaussian", "laplacian", "exponential", "compact_gaussian", "polynomial", "sigmoid", "linear",
        "precomputed"; a kernel object, which brings parameters of its own; or a function of two arrays that
        returns the kernel matrix.
    sigma : float, "scale" or ndarray of shape (n_samples,)
        Width of a kernel given by name; "scale" is the root of the summed feature variances. An array gives
        each sample a width of its own.
    epsilon : float
        Added to the diagonal of the full Gram matrix, that is, to the entry where a centre meets its own
        sample (below 3.54).
    unexplained : float
        Stop once no more than this share of the targets' variance is left unexplained (one minus the summed
        error reduction ratios); 0 goes on to `n_centers`.
    criterion : {"gcv", "bic", "mdl", "cv"}, optional
        Keep the number of centres, up to `n_centers`, that is best by generalised cross-validation, an
        information criterion or `cv`-fold cross-validation; None keeps all.
    cv : int
        Folds.
    dictionary : {"shared", "private"}
        One list of centres for all outputs, or one for each output.
    n_candidates : int, optional
        Candidates drawn at random; None takes all samples. All their columns are stored: O(N P) memory.
    posterior : {"gaussian", "platt", "multinomial"}
        How outputs become posteriors.
    random_state : int, RandomState or None
        Draws the candidates, and the samples of `rule="best_of_59"`.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
    center_indices_ : ndarray of shape (m,)
        Their rows in X, in the order of selection where the dictionary is shared, by candidate where private.
    n_centers_ : ndarray of shape (n_dictionaries,)
        Centres of each dictionary.
    dual_coef_ : ndarray of shape (m, n_outputs)
        One output for two classes, else one a class.
    intercept_ : ndarray of shape (n_outputs,)
    classes_ : ndarray of shape (n_classes,)
    kernel_ : Kernel
        With its parameters as numbers.
    sigma_ : float
        Of kernels with a width.
    posterior_ : fitted output model

    References
    ----------
    S. Chen, C. Cowan, P. Grant, Orthogonal least squares learning algorithm for radial basis function
    networks, IEEE Transactions on Neural Networks 2, 1991.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_OrthogonalLeastSquares._parameter_constraints,
        **OneVsRestClassifier._parameter_constraints,
    }

    def __init__(
        self,
        n_centers: int = 200,
        *,
        kernel: Any = "gaussian",
        sigma: Any = "scale",
        epsilon: float = 0.0,
        unexplained: float = 0.0,
        criterion: str | None = None,
        cv: int = 5,
        dictionary: str = "shared",
        n_candidates: int | None = None,
        posterior: str = "gaussian",
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.sigma = sigma
        self.epsilon = epsilon
        self.unexplained = unexplained
        self.criterion = criterion
        self.cv = cv
        self.dictionary = dictionary
        self.n_candidates = n_candidates
        self.posterior = posterior
        self.random_state = random_state


class OLSRegressor(_OrthogonalLeastSquares, KernelRegressor):
    """Forward selection by error reduction with modified Gram-Schmidt over all candidate columns.

    Parameters, attributes and references are those of `OLSClassifier`, without the classes and posteriors;
    y may have several columns.
    """

    def __init__(
        self,
        n_centers: int = 200,
        *,
        kernel: Any = "gaussian",
        sigma: Any = "scale",
        epsilon: float = 0.0,
        unexplained: float = 0.0,
        criterion: str | None = None,
        cv: int = 5,
        dictionary: str = "shared",
        n_candidates: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.sigma = sigma
        self.epsilon = epsilon
        self.unexplained = unexplained
        self.criterion = criterion
        self.cv = cv
        self.dictionary = dictionary
        self.n_candidates = n_candidates
        self.random_state = random_state
