"""A penalty on the norm of the expansion in the space of its kernel."""

from dataclasses import replace

import numpy as np

from discriminants.center_selection.forward.gram import GramSystem


def with_norm_penalty(gram: GramSystem, kernel_matrix: np.ndarray, penalty: float) -> GramSystem:
    """Return the system of |Y - K W|^2 + mu sum_s w_s'K_PP w_s, given that of |Y - K W|^2.

    The norm of f = sum_i w_i k(x_i, .) in the space of the kernel is w'K_PP w (Andelic 2007, 2.50). The penalty
    therefore adds mu K_PP to the matrix of the normal equations (Smola and Schoelkopf 2000); the constant is
    unpenalized. All errors computed from the system are then penalized errors. Raises ValueError if `kernel_matrix` (P,
    P) is not symmetric, as the matrix of a scalar product must be.
    """
    if not np.allclose(kernel_matrix, kernel_matrix.T, rtol=0, atol=1e-5 * np.abs(kernel_matrix).max()):
        raise ValueError("norm_penalty needs a symmetric kernel. Expected one width for all centers")
    return replace(gram, gram=gram.gram + 0.5 * penalty * (kernel_matrix + kernel_matrix.T))
