"""Keep a computation of many small steps on one BLAS thread."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

Result = TypeVar("Result")


@cache
def _controller() -> Any:
    return ThreadpoolController()  # looks through all loaded libraries, once


def one_blas_thread() -> AbstractContextManager[Any]:
    """While it is open BLAS uses one thread: small steps gain little from a second one, and wait for each other badly
    where cores are shared.
    """
    return _controller().limit(limits=1, user_api="blas")


def on_one_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """function(*arguments) in a process that keeps its BLAS on one thread from now on."""
    _settle_on_one_thread()
    return function(*arguments)


@cache
def _settle_on_one_thread() -> None:
    threadpool_limits(1, user_api="blas")
