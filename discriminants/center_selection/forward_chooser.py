"""Centers that explain the targets best, by forward selection."""

import numpy as np

from discriminants.kernels import Kernel
from discriminants.sparse.orols import OROLSRegressor

_CANDIDATES = 3000
_FOR_EACH_CENTER = 2  # minimum number of candidates


def forward(
    X: np.ndarray, kernel: Kernel, n_centers: int, random: np.random.RandomState, targets: np.ndarray | None = None
) -> np.ndarray:
    """Add repeatedly the random candidate whose column lowers the regularized squared error most; for `CHOOSERS`.

    As in `OROLSRegressor`, the ridge is re-estimated after each center. There are P = 3000 candidates, or twice the
    number of centers if that is more. Takes O(N P^2 + P m^2) time and 24 P^2 bytes. There are fewer rows than
    `n_centers` if columns become dependent. Raises ValueError without targets.
    """
    if targets is None:
        raise ValueError("chooser = 'greedy' needs targets, got y = None")
    selection = OROLSRegressor(
        n_centers, n_candidates=max(_CANDIDATES, _FOR_EACH_CENTER * n_centers), tol=0.0, max_condition=np.inf
    )
    points, _, paths = selection.selection_paths(X, targets, kernel=kernel, random=random)
    return points[paths[0].order]
