"""Features that turn a linear model into a kernel model on selected centers."""

from typing import Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target

from discriminants.multiclass.labels import class_codes, one_vs_rest_targets
from discriminants.sparse.chosen_centers import ChosenCenters
from discriminants.util.estimator import COUNT, estimator, parameter
from discriminants.util.expansion import KernelFeatures
from discriminants.util.inputs import checked_samples
from discriminants.util.regression import checked_targets


@estimator
class GreedyNystroem(KernelFeatures, ChosenCenters):
    """Nystroem approximation of a kernel with selected instead of random centers.

    Scalar products of the features are the kernel of the samples' projections onto the span of the centers, k(x, S)
    K_SS^-1 k(S, z) (Suykens et al. 2002, 6.7): if every distinct sample is a center, the kernel itself. It can replace
    `sklearn.kernel_approximation.Nystroem`. Features are white (K_SS^-1 = A A' from a pivoted Cholesky factorisation),
    and centers that depend on others are left out.

    Parameters
    ----------
    n_components : int
        Maximum number of features; fewer if the centers span a smaller space.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (m, m)
        Whitening matrix A.

    References
    ----------
    C. Williams, M. Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000.

    See Also
    --------
    FixedSizeLSSVMClassifier : includes the linear model.

    Examples
    --------
    >>> GreedyNystroem(20).fit_transform(X).shape
    (150, 20)
    """

    n_components: int = parameter(COUNT, default=100, kw_only=False)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.chooser, str) and self.chooser == "greedy"
        return tags

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> Self:
        """Choose the centers.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Labels (integers, strings), coded one against the rest, or targets (other numbers). Only the chooser
            "greedy" and functions use it.

        Raises
        ------
        ValueError
            For an unsuitable kernel, or "greedy" without y.
        """
        self._validate_params()
        targets = None
        by_targets = self.chooser == "greedy" if isinstance(self.chooser, str) else y is not None
        if not by_targets:
            X = checked_samples(self, X)
        else:
            X, y = checked_samples(self, X, y, multi_output=True)
            targets = _targets(y, X.dtype)
        kernel, centers, whitening = self._basis(X, int(self.n_components), targets)
        self._keep_expansion(kernel, centers, whitening, np.zeros(whitening.shape[1]))
        return self


def _targets(y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if y.dtype.kind in "OUS" or type_of_target(y) in ("binary", "multiclass"):
        classes, codes = class_codes(y)
        return one_vs_rest_targets(codes, classes.shape[0])
    return checked_targets(y, dtype)
