"""Keep a computation of many small steps on one BLAS thread."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> Any:
    return ThreadpoolController()  # looks through all loaded libraries, once


def one_blas_thread() -> AbstractContextManager[Any]:
    """While it is open BLAS uses one thread: small steps gain little from a second one, and wait for each other badly
    where cores are shared.
    """
    return _controller().limit(limits=1, user_api="blas")
