"""Samples for all of these tests."""

import numpy as np
import pytest

from tests.discriminants.bad_input.learners import Data


@pytest.fixture(scope="module")
def data() -> Data:
    """Samples, three classes, and a smooth target."""
    random = np.random.default_rng(0)
    X = random.normal(size=(45, 3))
    classes = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)
    return X, classes, np.sin(X[:, 0]) + 0.1 * random.normal(size=45)
