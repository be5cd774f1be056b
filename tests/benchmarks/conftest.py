import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Nothing is logged."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)
