"""Keep a computation of many small steps on one BLAS thread."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

Result = TypeVar("Result")
_FEW = 1000  # samples of which the many small steps of a decomposition gain little from a second thread


def _controller() -> Any:
    """Looks through all loaded libraries, which takes some milliseconds, and again only when a module came since."""
    return _controller_of(len(sys.modules))


@lru_cache(maxsize=1)
def _controller_of(n_modules: int) -> Any:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """While it is open BLAS uses one thread, as threads of small steps wait for each other on shared cores."""
    return _controller().limit(limits=1, user_api="blas")


def one_blas_thread_for_few(n_samples: int) -> AbstractContextManager[Any]:
    """`one_blas_thread` where matrices of n_samples x n_samples are decomposed and these are small, else nothing."""
    return one_blas_thread() if n_samples <= _FEW else nullcontext()


def blas_threads_allowed() -> int:
    """How many threads BLAS may use now."""
    pools = (pool.get_num_threads() for pool in _controller().select(user_api="blas").lib_controllers)
    return max(filter(None, pools), default=1)


def on_one_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """function(*arguments) in a process that keeps its BLAS on one thread from now on."""
    _settle_on_one_thread()
    return function(*arguments)


@cache
def _settle_on_one_thread() -> None:
    threadpool_limits(1, user_api="blas")
