"""Check of the samples that users pass to the learners, dense or sparse."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

from discriminants.kernels.named import NAMED

FLOATS = [np.float64, np.float32]


def supports_sparse(learner: Any) -> bool:
    """Return whether the learner supports sparse samples with its kernel."""
    kernel = getattr(learner, "kernel", None)
    kernel = NAMED.get(kernel) if isinstance(kernel, str) else kernel
    return getattr(learner, "_sparse_inputs", False) and getattr(kernel, "sparse_inputs", False)


def checked_samples(learner: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Return X, and y if given, checked by scikit-learn's `validate_data` with these options.

    X is a C-contiguous array of float32 or float64, or a csr_array of these types without stored zeros, whose indices
    are sorted. Raises TypeError for sparse X if the learner does not support it.
    """
    sparse = supports_sparse(learner)
    if not sparse:
        refuse_sparse(learner, X)
    found = validate_data(learner, X, y, dtype=FLOATS, order="C", accept_sparse="csr" if sparse else False, **options)
    if not sparse:
        return found
    return (_canonical(found[0]), *found[1:]) if isinstance(found, tuple) else _canonical(found)


def refuse_sparse(learner: Any, X: Any) -> None:
    """Raise TypeError if X is sparse, with the kernels that would be supported."""
    if not issparse(X):
        return
    name, expected = type(learner).__name__, "Expected a dense array, such as X.toarray()"
    if not getattr(learner, "_sparse_inputs", False):
        raise TypeError(f"{name} does not support sparse X. {expected}")
    kernels = ", ".join(kernel for kernel, kind in sorted(NAMED.items()) if kind.sparse_inputs)
    raise TypeError(
        f"{name} does not support sparse X with kernel = {learner.kernel!r}. {expected}, or a kernel among {kernels}"
    )


def _canonical(X: Any) -> Any:
    """Return a csr_array with sorted indices, of 32 bits if possible, and no zeros; the argument stays unchanged."""
    if not issparse(X):
        return X
    rows = csr_array(X)
    if rows.indices.dtype != np.int32 and max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max:
        rows = csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows
