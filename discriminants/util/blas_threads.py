"""Restriction of BLAS to one thread, for computations of many small steps."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

Result = TypeVar("Result")
_FEW = 1000  # samples up to which a second thread gains little in the small steps of a decomposition


def _controller() -> Any:
    """Return a controller of the loaded libraries, renewed only after a module import because the search takes ms."""
    return _controller_of(len(sys.modules))


@lru_cache(maxsize=1)
def _controller_of(n_modules: int) -> Any:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread in the context, because threads of small steps wait for each other on shared cores."""
    return _controller().limit(limits=1, user_api="blas")


def one_blas_thread_for_few(n_samples: int) -> AbstractContextManager[Any]:
    """Return `one_blas_thread` for decompositions of small n_samples x n_samples matrices, else a null context."""
    return one_blas_thread() if n_samples <= _FEW else nullcontext()


def blas_threads_allowed() -> int:
    """Return the number of threads that BLAS may use now."""
    pools = (pool.get_num_threads() for pool in _controller().select(user_api="blas").lib_controllers)
    return max(filter(None, pools), default=1)


def on_one_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Return function(*arguments), and keep BLAS on one thread in this process from now on."""
    _settle_on_one_thread()
    return function(*arguments)


@cache
def _settle_on_one_thread() -> None:
    threadpool_limits(1, user_api="blas")
