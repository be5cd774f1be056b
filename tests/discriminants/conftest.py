"""What several tests of learners share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def wave() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples (400, 2), noisy targets (400,) and further samples (50, 2)."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=400) + 2.0
    return X, y, rng.uniform(-3, 3, size=(50, 2))
