"""Order-recursive orthogonal least squares with a self-adjusting ridge (Andelic 2007, section 3.4.2,
algorithm 2).
"""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.one_vs_rest import OneVsRestKernelLeastSquares
from discriminants.selection import SelectionState


class OROLSClassifier(OneVsRestKernelLeastSquares):
    """Regularised least squares in forward-selected kernel columns; generalised cross-validation sets the
    ridge and the size.

    After every column lambda is re-estimated (3.88), and the new value holds for *all* columns: residual,
    error reduction and weights belong to the current lambda. The weights are (K'K + lambda U'U)^-1 K'y, the
    penalty being on the orthogonal weights (3.80). Selection ends when lambda has settled, when the condition
    number of Q exceeds `max_condition`, or at `n_centers`. Lambda decides the same for all outputs of a
    shared dictionary (their GCV is summed), and for each output alone where dictionaries are private.

    Parameters
    ----------
    n_centers : int
        Most centres of a dictionary.
    sigma : float or "scale"
        Kernel width; "scale" is the root of the summed feature variances.
    epsilon : float
        Added to the diagonal of the full Gram matrix.
    tol : float
        Lambda has settled when it changed by less than this share in each of `patience` steps; 0 never stops.
    patience : int
    max_condition : float
        Largest ratio of the lengths of two columns of Q.
    dictionary, rule, n_candidates, posterior, random_state
        As in `NPDClassifier`.

    Attributes
    ----------
    lambda_ : ndarray of shape (n_dictionaries,)
        Final penalty of each dictionary.
    gcv_ : ndarray of shape (n_dictionaries,)
        Generalised cross-validation score (3.85) at the end.
    basis_centers_, center_indices_, dual_coef_, intercept_, classes_, sigma_, posterior_
        As in `NPDClassifier`.

    References
    ----------
    E. Andelic, M. Schaffoener, M. Katz, S. Krueger, A. Wendemuth, Updates for Nonlinear Discriminants, IJCAI
    2007. M. Orr, Regularisation in the selection of radial basis function centres, Neural Computation 7,
    1995.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneVsRestKernelLeastSquares._parameter_constraints,
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "max_condition": [Interval(Real, 1, None, closed="neither")],
    }

    def __init__(
        self,
        n_centers: int = 200,
        *,
        sigma: float | str = "scale",
        epsilon: float = 0.0,
        tol: float = 1e-4,
        patience: int = 10,
        max_condition: float = 1e8,
        dictionary: str = "shared",
        rule: Any = "error_reduction",
        n_candidates: int | None = 3000,
        posterior: str = "gaussian",
        random_state: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.sigma = sigma
        self.epsilon = epsilon
        self.tol = tol
        self.patience = patience
        self.max_condition = max_condition
        self.dictionary = dictionary
        self.rule = rule
        self.n_candidates = n_candidates
        self.posterior = posterior
        self.random_state = random_state

    def _begin(self, state: SelectionState) -> None:
        self._settled_steps = 0

    def _after_column(self, state: SelectionState) -> bool:
        before = state.lam
        state.lam = state.system.reestimate_lambda(before)
        settled = abs(state.lam - before) < self.tol * state.lam
        self._settled_steps = self._settled_steps + 1 if settled else 0
        lengths = np.sqrt(state.system.energies)
        return bool(self._settled_steps >= self.patience or lengths.max() > self.max_condition * lengths.min())

    def _keep(self, X: np.ndarray, candidates: np.ndarray, states: list[Any]) -> None:
        super()._keep(X, candidates, states)
        self.lambda_ = np.array([state.lam for state in states])
        self.gcv_ = np.array([state.system.generalised_cross_validation(state.lam) for state in states])
        del self._settled_steps
