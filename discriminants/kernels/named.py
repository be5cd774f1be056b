"""Kernel objects from the `kernel` and `sigma` parameters of an estimator."""

from typing import Any

from discriminants.kernels.ard_gaussian import ARDGaussianKernel
from discriminants.kernels.compact import CompactGaussianKernel
from discriminants.kernels.dot_product import LinearKernel, PolynomialKernel, SigmoidKernel
from discriminants.kernels.euclidean_exponential import ExponentialKernel
from discriminants.kernels.gaussian import GaussianKernel
from discriminants.kernels.kernel import Kernel
from discriminants.kernels.laplacian import LaplacianKernel
from discriminants.kernels.matrix import FunctionKernel, PrecomputedKernel

WITH_WIDTH: dict[str, Any] = {
    "ard_gaussian": ARDGaussianKernel,
    "compact_gaussian": CompactGaussianKernel,
    "exponential": ExponentialKernel,
    "gaussian": GaussianKernel,
    "laplacian": LaplacianKernel,
}
NAMED: dict[str, Any] = {
    **WITH_WIDTH,
    "linear": LinearKernel,
    "polynomial": PolynomialKernel,
    "precomputed": PrecomputedKernel,
    "sigmoid": SigmoidKernel,
}


_ELSEWHERE = {"rbf": "gaussian", "poly": "polynomial"}  # scikit-learn's names


def make_kernel(kernel: Any, sigma: Any = "scale") -> Kernel:
    """Return the kernel object for a name, with width `sigma`, or the given object, which has its own parameters.

    Raises ValueError if the name is unknown, or `sigma` is given for a kernel that does not use it.
    """
    if isinstance(kernel, str) and kernel in WITH_WIDTH:
        return NAMED[kernel](sigma)
    if not (isinstance(sigma, str) and sigma == "scale"):
        raise ValueError(
            f"sigma = {sigma!r} has no effect with kernel = {kernel!r}, which has its own parameters. "
            f"Expected sigma only with a kernel name: {', '.join(sorted(WITH_WIDTH))}"
        )
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type):
        raise ValueError(f"kernel must be an object, got the class {kernel.__name__}. Use {kernel.__name__}()")
    if isinstance(kernel, str):
        if kernel in NAMED:
            return NAMED[kernel]()
        hint = f". Use {_ELSEWHERE[kernel]!r}" if kernel in _ELSEWHERE else ""
        raise ValueError(f"kernel must be one of {', '.join(sorted(NAMED))} or a kernel object, got {kernel!r}{hint}")
    if callable(kernel):
        return FunctionKernel(kernel)
    raise ValueError(f"kernel must be a name, a kernel object or a function, got {kernel!r}")
