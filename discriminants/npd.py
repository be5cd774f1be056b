"""Nonlinear pseudo-discriminants (Andelic 2007, section 3.4.1, algorithm 1)."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.one_vs_rest import OneVsRestKernelLeastSquares
from discriminants.selection import SelectionState


class NPDClassifier(OneVsRestKernelLeastSquares):
    """Least squares onto +-1 targets in forward-selected kernel columns.

    The pseudoinverse is updated column by column (3.62); with K = Q U it is K^+ = U^-1 D^-1 Q', so the thin
    orthogonal form serves, and it keeps its accuracy where the pseudoinverse recursion loses it. The weights
    equal the least-squares solution in the chosen columns at every step.

    Parameters
    ----------
    n_centers : int
        Most centres of a dictionary.
    sigma : float or "scale"
        Kernel width; "scale" is the root of the summed feature variances.
    epsilon : float
        Added to the diagonal of the full Gram matrix, that is, to the entry where a centre meets itself (3.44
        ff.).
    residual_threshold : float, optional
        Stop once no residual (at the candidates) is larger in absolute value, the seed's criterion for speech
        (4.4.1).
    dictionary : {"shared", "private"}
        One list of centres for all classes, or one for each class.
    rule : {"error_reduction", "largest_residual"} or callable
        How the next centre is chosen; the seed takes the largest residual. A callable gets the selection
        state.
    n_candidates : int, optional
        Candidates drawn at random; None takes all samples and keeps explicit columns, O(N m) memory
        (with `rule="error_reduction"` all N columns).
    posterior : {"gaussian", "logistic"}
        How outputs become posteriors.
    random_state : int, RandomState or None
        Draws the candidates.

    Attributes
    ----------
    basis_centers_ : ndarray of shape (m, n_features)
    center_indices_ : ndarray of shape (m,)
        Their rows in X, in the order of selection where the dictionary is shared, ascending where private.
    dual_coef_ : ndarray of shape (m, n_outputs)
        One output for two classes, else one a class.
    intercept_ : ndarray of shape (n_outputs,)
    classes_ : ndarray of shape (n_classes,)
    sigma_ : float
    posterior_ : fitted GaussianOutputModel or LogisticOutputModel

    References
    ----------
    E. Andelic, Sparse Nonlinear Discriminants, dissertation, Magdeburg 2007.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneVsRestKernelLeastSquares._parameter_constraints,
        "residual_threshold": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_centers: int = 200,
        *,
        sigma: float | str = "scale",
        epsilon: float = 0.0,
        residual_threshold: float | None = None,
        dictionary: str = "shared",
        rule: Any = "error_reduction",
        n_candidates: int | None = 3000,
        posterior: str = "gaussian",
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.sigma = sigma
        self.epsilon = epsilon
        self.residual_threshold = residual_threshold
        self.dictionary = dictionary
        self.rule = rule
        self.n_candidates = n_candidates
        self.posterior = posterior
        self.random_state = random_state

    def _needs_residual(self) -> bool:
        return super()._needs_residual() or self.residual_threshold is not None

    def _after_column(self, state: SelectionState) -> bool:
        if self.residual_threshold is None:
            return False
        return bool(np.abs(state.residual()).max() < self.residual_threshold)
