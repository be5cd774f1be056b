"""Nonlinear pseudo-discriminants (Andelic 2007, section 3.4.1, algorithm 1)."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from discriminants.center_selection.forward.forward_selection import SelectionState
from discriminants.center_selection.forward.learner import ForwardSelectionLearner
from discriminants.multiclass.one_vs_rest import OneVsRestClassifier
from discriminants.util.estimator import estimator
from discriminants.util.regression import KernelRegressor


@estimator
class _PseudoDiscriminant(ForwardSelectionLearner):
    """Plain least squares in the chosen columns, or with a penalty on the norm of the expansion."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "residual_threshold": [Interval(Real, 0, None, closed="left"), None],
    }

    residual_threshold: float | None = None

    def _needs_residual(self) -> bool:
        return super()._needs_residual() or self.residual_threshold is not None

    def _after_column(self, state: SelectionState) -> bool:
        if self.residual_threshold is None:
            return False
        return bool(np.abs(state.residual()).max() < self.residual_threshold)


@estimator
class NPDClassifier(_PseudoDiscriminant, OneVsRestClassifier):
    """Least squares onto +-1 targets in forward-selected kernel columns.

    The pseudoinverse is updated column by column (3.62); with K = Q U it is K^+ = U^-1 D^-1 Q', so the thin
    orthogonal form serves, and it keeps its accuracy where the pseudoinverse recursion loses it. The weights
    equal the least-squares solution in the chosen columns at every step.

    Parameters
    ----------
    n_centers : int
        Most centres of a dictionary; fewer where fewer distinct candidates are linearly independent.
    kernel : str, Kernel or callable
        "gaussian", "ard_gaussian", "laplacian", "exponential", "compact_gaussian", "polynomial", "sigmoid", "linear",
        "precomputed"; a kernel object, which brings parameters of its own; or a function of two arrays that
        returns the kernel matrix.
    sigma : float, "scale" or ndarray of shape (n_samples,)
        Width of a kernel given by name; "scale" is the root of the summed feature variances. An array gives
        each sample a width of its own.
    epsilon : float
        Added to the diagonal of the full Gram matrix, that is, to the entry where a centre meets its own
        sample (below 3.54).
    norm_penalty : float
        mu of a penalty mu w'K_mm w, the squared norm of the expansion in the space of the kernel (2.50), on the
        summed squared error, in choosing centres and in their weights; the bias is free. With all samples as centres
        that is `KFDClassifier(penalty="kernel", regularization=mu)`, the least-squares support vector machine. Needs
        a symmetric positive semidefinite kernel and `n_candidates`, and of the criteria "cv".
    residual_threshold : float, optional
        Stop once no residual (at the candidates) is larger in absolute value, the source's criterion for
        speech (4.4.1).
    criterion : {"gcv", "bic", "mdl", "cv", "auto"}, optional
        Keep the number of centres, up to `n_centers`, that is best by generalised cross-validation, an
        information criterion or `cv`-fold cross-validation, which takes `cv` further selections; None keeps all. The
        default of classifiers is "auto": "cv" where there are fewer than ten samples for each of `n_centers`, else
        None. That of regressors is "cv".
    cv : int
        Folds.
    dictionary : {"shared", "private"}
        One list of centres for all outputs, or one for each output.
    rule : {"error_reduction", "largest_residual", "matching_pursuit", "best_of_59"} or callable
        How the next centre is chosen; the source takes the largest residual. A callable gets the selection
        state and returns the number of an available candidate.
    n_candidates : int, optional
        Candidates drawn at random, whose Gram matrix of O(n_candidates^2) memory serves any number of
        samples; None takes all samples and keeps explicit columns, O(N m) memory, and is slow for rules
        other than the largest residual.
    candidates : {"random", "residual"}
        How candidates are drawn where there are to be fewer than samples: all at random, or a quarter of them, and
        the others where the model with those has large residuals, as the source's rule would choose. Fewer
        candidates and centres do then, unless most large residuals are noise.
    posterior : {"gaussian", "platt", "multinomial"}
        How outputs become posteriors (`discriminants.posteriors.output_models`): by normal densities, the source's; by
        a sigmoid of each; or by a multinomial logistic layer on all of them.
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
    E. Andelic, Sparse Nonlinear Discriminants, dissertation, Magdeburg 2007. A. Smola, B. Schoelkopf, Sparse greedy
    matrix approximation for machine learning, ICML 2000, and J. Suykens et al., Least Squares Support Vector
    Machines, World Scientific 2002, for the penalty on the norm.
    """


@estimator
class NPDRegressor(_PseudoDiscriminant, KernelRegressor):
    """Least squares in forward-selected kernel columns.

    Parameters, attributes and references are those of `NPDClassifier`, without the classes and posteriors;
    y may have several columns.
    """

    criterion: str | None = "cv"
