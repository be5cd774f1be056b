"""Kernels, one per module, all evaluated in blocks."""

from discriminants.kernels.algebra import ProductKernel, ScaledKernel, SumKernel
from discriminants.kernels.ard_gaussian import ARDGaussianKernel
from discriminants.kernels.compact import CompactGaussianKernel
from discriminants.kernels.conformal import ConformalKernel, NormalizedKernel
from discriminants.kernels.distance import DistanceKernel
from discriminants.kernels.dot_product import LinearKernel, PolynomialKernel, SigmoidKernel
from discriminants.kernels.euclidean_exponential import ExponentialKernel
from discriminants.kernels.fourier import FourierKernel
from discriminants.kernels.gaussian import GaussianKernel
from discriminants.kernels.hidden_layer import HiddenLayerKernel
from discriminants.kernels.inverse_multiquadric import InverseMultiquadricKernel
from discriminants.kernels.kernel import Kernel, KernelColumns, SparseKernelColumns
from discriminants.kernels.laplacian import LaplacianKernel
from discriminants.kernels.locality import LocalImageKernel, LocalSequenceKernel
from discriminants.kernels.matrix import FunctionKernel, PrecomputedKernel
from discriminants.kernels.multiscale import MultiscaleGaussianKernel
from discriminants.kernels.named import make_kernel
from discriminants.kernels.spline import SplineKernel
from discriminants.kernels.string_subsequence import string_subsequence_kernel
from discriminants.kernels.width import resolve_sigma

__all__ = [
    "ARDGaussianKernel",
    "CompactGaussianKernel",
    "ConformalKernel",
    "DistanceKernel",
    "ExponentialKernel",
    "FourierKernel",
    "FunctionKernel",
    "GaussianKernel",
    "HiddenLayerKernel",
    "InverseMultiquadricKernel",
    "Kernel",
    "KernelColumns",
    "LaplacianKernel",
    "LinearKernel",
    "LocalImageKernel",
    "LocalSequenceKernel",
    "MultiscaleGaussianKernel",
    "NormalizedKernel",
    "PolynomialKernel",
    "PrecomputedKernel",
    "ProductKernel",
    "ScaledKernel",
    "SigmoidKernel",
    "SparseKernelColumns",
    "SplineKernel",
    "SumKernel",
    "make_kernel",
    "resolve_sigma",
    "string_subsequence_kernel",
]
