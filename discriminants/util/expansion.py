"""Base of the kernel learners: a weighted sum of kernels on a few centers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from discriminants.kernels import Kernel, PrecomputedKernel
from discriminants.kernels.kernel import KernelColumns
from discriminants.util.inputs import checked_samples, supports_sparse

Value = TypeVar("Value")


class Prepared(Generic[Value]):
    """Values by estimator, stored outside of it, so that prediction does not change estimators, files and copies."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Any, tuple[np.dtype, tuple[Any, ...], Value]] = WeakKeyDictionary()

    def get(self, estimator: Any, dtype: np.dtype, made_of: Sequence[Any], make: Callable[[], Value]) -> Value:
        """Return the value for this float type; `make` computes it again if one of the parts is another object now."""
        found = self._kept.get(estimator)
        if found is not None:
            of_dtype, parts, value = found
            if of_dtype == dtype and list(map(id, parts)) == list(map(id, made_of)):
                return value
        value = make()
        self._kept[estimator] = dtype, tuple(made_of), value
        return value


_MAX_BYTES_KEPT = 64 << 20


class KernelExpansion(BaseEstimator):
    """f(x) = sum_n alpha_n k(x, x_n) + b (Andelic 2007, 4.6), one column of alpha for each output.

    Attributes
    ----------
    kernel_ : Kernel
        Kernel with resolved parameters, for the centers kept.
    basis_centers_ : ndarray or csr_array of shape (m, n_features)
        The centers; sparse for sparse samples, without columns for a precomputed kernel.
    dual_coef_ : ndarray of shape (m, n_outputs)
    intercept_ : ndarray of shape (n_outputs,)
    sigma_ : float or ndarray
        Width of a kernel that has one.
    """

    _sparse_inputs: ClassVar[bool] = False  # whether the learner supports sparse samples, if the kernel does
    kernel_: Kernel
    basis_centers_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        kernel: Any = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, PrecomputedKernel) or (
            isinstance(kernel, str) and kernel == "precomputed"
        )
        tags.input_tags.sparse = supports_sparse(self)
        return tags

    @property
    def sigma_(self) -> Any:
        """Width of the kernel as a number (or one per center), if the kernel has one."""
        try:
            return self.kernel_.sigma
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has no attribute sigma_: its kernel has no width") from None

    def _keep_expansion(self, kernel: Kernel, centers: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> None:
        """Store the expansion in the float type of the centers; ValueError if a weight is not finite."""
        with np.errstate(over="ignore"):
            dual_coef, intercept = np.array(weights, centers.dtype, order="C"), bias.astype(centers.dtype)
        if not (np.isfinite(dual_coef).all() and np.isfinite(intercept).all()):
            raise ValueError(
                f"{type(self).__name__} has weights that are not finite in {centers.dtype}: values of X, y or the "
                "kernel are too large or too small. Scale X and y"
            )
        if issparse(centers):
            kept = centers.copy()
        else:
            kept = np.array(centers[:, :0] if isinstance(kernel, PrecomputedKernel) else centers)
        self.kernel_, self.basis_centers_ = kernel, kept
        self.dual_coef_, self.intercept_ = dual_coef, intercept

    def _checked(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        return checked_samples(self, X, reset=False)

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return all outputs for checked X, shape (n_samples, n_outputs)."""
        columns = _prepared(self, X.dtype)
        return self.kernel_.evaluate(X, self.basis_centers_, self.dual_coef_, self.intercept_, columns=columns)


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelExpansion):
    """Base of the transformers, whose outputs are features."""

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return features of shape (n_samples, n_features_out), in the float type of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        """
        return self._outputs(self._checked(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_coef_.shape[1])


def _prepared(learner: KernelExpansion, dtype: np.dtype) -> KernelColumns | None:
    """Return the cached kernel columns for the learner's centers, or None for very many centers.

    If samples come a few at a time, preparation would take as long as the other steps. For very many centers the cache
    would take too much memory.
    """
    kernel, centers = learner.kernel_, learner.basis_centers_
    if centers.data.nbytes > _MAX_BYTES_KEPT:
        return None
    made_of = (kernel, centers, *_parts(kernel))
    return _COLUMNS.get(learner, dtype, made_of, lambda: kernel.columns(centers, dtype))


def _parts(kernel: Kernel) -> Iterator[Any]:
    """Yield the parameters of a kernel, and those of the kernels among them."""
    for value in vars(kernel).values():
        yield value
        if isinstance(value, Kernel):
            yield from _parts(value)


_COLUMNS: Prepared[KernelColumns] = Prepared()
