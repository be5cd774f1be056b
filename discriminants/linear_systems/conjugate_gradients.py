"""Conjugate gradients for several right-hand sides."""

from collections.abc import Callable

import numpy as np


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    *,
    tolerance: float,
    max_products: int,
    separate: bool,
) -> np.ndarray:
    """Solve H x = right (n, S) from zero, for a symmetric and not indefinite H.

    After any iteration x has a positive product with `right`, so it is a descent direction if `right` is a negative
    gradient.

    `product` returns H x. `precondition` returns M x with M near the inverse of H. M is symmetric, and definite on a
    subspace that contains `right` and that H maps into itself. Iterations stop when the residual in the norm of M is
    `tolerance` times that of `right`. With `separate` H acts on each column separately, and each column has its own
    step sizes.
    """
    axis = 0 if separate else None

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a * b).sum(axis=axis, keepdims=True)

    x, residual = np.zeros_like(right), right.copy()
    scaled = precondition(residual)
    search, length = scaled.copy(), dot(residual, scaled)
    enough = tolerance**2 * length
    for _ in range(max_products):
        image = product(search)
        curvature = dot(search, image)
        going = (length > enough) & (curvature > 0.0)
        if not going.any():
            break
        step = np.where(going, length / np.where(going, curvature, 1.0), 0.0)
        x += step * search
        residual -= step * image
        scaled = precondition(residual)
        new = dot(residual, scaled)
        search *= np.where(going, new / np.where(going, length, 1.0), 0.0)
        search += scaled
        length = np.where(going, new, 0.0)
    return x
