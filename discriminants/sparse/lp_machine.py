"""Linear programming machines: absolute weights as the penalty, with the losses of support vector machines."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, eye_array, vstack

from discriminants.fisher.column_generation import ActiveSet, Columns, generate_columns, merged
from discriminants.kernels import make_kernel
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.util.estimator import NOT_NEGATIVE, POSITIVE, estimator, parameter
from discriminants.util.expansion import KernelExpansion
from discriminants.util.regression import KernelRegressor


@estimator
class _LPMachine(KernelExpansion):
    """min sum_i v_i loss(y_i, f(x_i)) + C sum_j |alpha_j|, f = sum_j alpha_j k(., x_j) + b.

    The linear program is solved by HiGHS over few columns at a time (`discriminants.fisher.column_generation`).

    Parameters
    ----------
    kernel
        The kernel may be indefinite.
    regularization : float
        C > 0.

    Attributes
    ----------
    n_centers_ : ndarray of int of shape (n_outputs,)
        Number of columns with a weight in each output.
    """

    kernel: Any = "gaussian"
    sigma: Any = "scale"
    regularization: float = parameter(POSITIVE, default=1.0)
    _takes_weights: ClassVar[bool] = True

    def _fit_targets(self, X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None = None) -> None:
        if X.shape[0] < 2:
            raise ValueError(f"{type(self).__name__} needs at least two samples, got 1 sample")
        weight = np.ones(X.shape[0]) if weight is None else weight
        columns = Columns(make_kernel(self.kernel, self.sigma).resolved(X, weight), X)
        found = []
        for target in targets.T.astype(np.float64):
            middle = (float(target.max()) + float(target.min())) / 2
            size = float(np.abs(target - middle).max()) or 1.0
            target = (target - middle) / size
            solve = partial(self._solve, weight=weight, size=size)
            start = solve(np.empty((X.shape[0], 0)), target).multipliers
            expansion = generate_columns(columns, target, float(self.regularization), solve, start)
            found.append(expansion._replace(alpha=size * expansion.alpha, bias=size * expansion.bias + middle))
        union, weights, bias = merged(found)
        self._keep_expansion(columns.kernel.at(union), X[columns.points[union]], weights, bias)
        self.n_centers_ = np.array([expansion.columns.shape[0] for expansion in found])

    def _solve(self, K: np.ndarray, target: np.ndarray, *, weight: np.ndarray, size: float) -> ActiveSet:
        """Solve over the columns K, for targets divided by `size`."""
        raise NotImplementedError


def linear_program(
    K: np.ndarray, target: np.ndarray, weight: np.ndarray, C: float, sides: list[np.ndarray], epsilon: float = 0.0
) -> ActiveSet:
    """Minimize sum_i v_i xi_i + C sum_j |alpha_j| with s_i (y_i - f(x_i)) <= epsilon + xi_i for every s of `sides`.

    A side has a sign for each sample. The labels as the only side give the hinge loss of targets +-1, both signs the
    loss |y - f| - epsilon outside a tube (Suykens et al. 2002, 2.88). Variables are the positive and negative parts of
    alpha, b and xi.
    """
    n_samples, n = K.shape
    ones = np.ones((n_samples, 1))
    rows = [np.hstack([-side[:, None] * part for part in (K, -K, ones)]) for side in sides]
    slacks = vstack([-eye_array(n_samples)] * len(sides))
    limits = np.concatenate([epsilon - side * target for side in sides])
    found = linprog(
        np.concatenate([np.full(2 * n, C), [0.0], weight]),
        A_ub=block_array([[csr_array(np.vstack(rows)), slacks]], format="csr"),
        b_ub=limits,
        bounds=[(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * n_samples,
        method="highs",
    )
    if found.x is None:
        raise ValueError(f"HiGHS did not solve the linear program: {found.message}. Scale X, y or the kernel")
    forces = -found.ineqlin.marginals.reshape(len(sides), n_samples)
    multipliers = np.einsum("si,si->i", np.array(sides), forces)
    return ActiveSet(found.x[:n] - found.x[n : 2 * n], float(found.x[2 * n]), multipliers)


@estimator
class LPMachineClassifier(_LPMachine, OneVsRestClassifier):
    """Linear programming machine: the hinge loss of the support vector machine with a penalty on absolute weights.

    Minimizes sum_i v_i max(0, 1 - y_i f(x_i)) + C sum_j |alpha_j| for targets +-1 (Graepel et al. 1999; Mika 2002,
    section 3.5.6). Samples beyond the margin have no influence, unlike in `SparseKFDClassifier`. Any sample may be a
    center, so there are fewer centers than support vectors. Losses are summed; twice the samples need about twice the
    penalty.

    References
    ----------
    T. Graepel et al., Classification on proximity data with LP-machines, ICANN 1999.

    See Also
    --------
    SparseKFDClassifier : squared or absolute slacks.
    sklearn.svm.SVC : the norm in the kernel space as the penalty.
    """

    def _solve(self, K: np.ndarray, target: np.ndarray, *, weight: np.ndarray, size: float) -> ActiveSet:
        return linear_program(K, target, weight, float(self.regularization), [target])


@estimator
class LPMachineRegressor(_LPMachine, KernelRegressor):
    """Linear programming machine for regression, with a tube without loss.

    Minimizes sum_i v_i max(0, |y_i - f(x_i)| - epsilon) + C sum_j |alpha_j| (Suykens et al. 2002, 2.87-2.88).

    Parameters
    ----------
    epsilon : float
        Half width of the tube, in units of y.

    See Also
    --------
    SparseKFDRegressor : without a tube, and for more samples.
    sklearn.svm.SVR : the norm in the kernel space as the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from discriminants import LPMachineRegressor
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> bool(LPMachineRegressor().fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    epsilon: float = parameter(NOT_NEGATIVE, default=0.1)

    def _solve(self, K: np.ndarray, target: np.ndarray, *, weight: np.ndarray, size: float) -> ActiveSet:
        both = [np.ones_like(target), -np.ones_like(target)]
        return linear_program(K, target, weight, float(self.regularization), both, float(self.epsilon) / size)
