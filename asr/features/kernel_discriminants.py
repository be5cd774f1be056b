"""Kernel discriminant analysis of labelled frames: linear discriminant analysis in the columns of a kernel.

Baudat and Anouar (2000), "Generalized discriminant analysis using a kernel approach"; Mika (2002), sections 3.2 and
3.4. On a corpus the directions lie in the span of the kernels on some hundred frames, the centres (the Nystroem
approximation), so that what is summed over all frames has as many rows and columns as there are centres.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Self

import numpy as np

from discriminants.kernels import GaussianKernel
from discriminants.kernels.kernel import KernelColumns
from discriminants.linear_systems.pooled_scatter import PooledScatter

_RIDGE = 1e-5
"""Penalty on the norm in the space of the kernel, times the frames of training: as strong for little speech as for
much."""
_BLOCK = 2048  # frames whose kernel values are held at a time


class KernelCenters:
    """The frames on which kernels are centred, and their common width.

    centers : float32 (m, n).
    sigma : in the units of the frames.
    """

    def __init__(self, centers: np.ndarray, sigma: float):
        self.centers, self.sigma = centers, float(np.float32(sigma))  # as it is stored
        self.kernel = GaussianKernel(self.sigma)

    @classmethod
    def of(cls, centers: np.ndarray, sigma: float | str) -> Self:
        """With a width, or "scale": the root of the summed variances of what the centres are made of."""
        return cls(centers, float(GaussianKernel(sigma).resolved(centers).sigma))

    @cached_property
    def columns(self) -> KernelColumns:
        """The kernel prepared for these centres."""
        return self.kernel.columns(self.centers, np.float32)

    @cached_property
    def among(self) -> np.ndarray:
        """Kernel values of the centres, float64 (m, m)."""
        return self.kernel(self.centers.astype(np.float64), self.centers.astype(np.float64))

    def statistics(self, n_classes: int) -> PooledScatter:
        """What `add` adds to."""
        return PooledScatter(n_classes, self.among.mean(axis=0))

    def add(self, statistics: PooledScatter, frames: np.ndarray, labels: np.ndarray) -> None:
        """Take in frames (T, n) with labels (T,); frames labelled -1 are left out."""
        for rows, K in self.columns.blocks(frames, _BLOCK):
            statistics.add(K, labels[rows])


class KernelDiscriminants(KernelCenters):
    """Discriminant features: k(frames, centers) @ weights - offset.

    weights, offset : float32 (m, dimension) and (dimension,). Within the classes features have unit variance (with the
    ridge) and their overall mean is zero; they fall in the variance between the classes.
    """

    def __init__(self, centers: np.ndarray, sigma: float, weights: np.ndarray, offset: np.ndarray):
        super().__init__(centers, sigma)
        self.weights, self.offset = weights, offset

    @classmethod
    def solved(cls, centers: KernelCenters, statistics: PooledScatter, dimension: int) -> "KernelDiscriminants":
        """From what all frames say; ValueError where no directions can be found."""
        penalty = _RIDGE * statistics.counts.sum() * centers.among
        weights, bias, _ = statistics.directions(dimension, penalty)
        return cls(centers.centers, centers.sigma, weights.astype(np.float32), (-bias).astype(np.float32))

    def project(self, frames: np.ndarray) -> np.ndarray:
        """Features, float32 (T, dimension), of frames, float32 (T, n)."""
        features = self.columns.product(frames, self.weights)
        features -= self.offset
        return features

    def to_arrays(self) -> dict[str, np.ndarray]:
        """As `from_arrays` takes them."""
        return {
            "kda_centers": self.centers,
            "kda_sigma": np.array([self.sigma], np.float32),
            "kda": self.weights,
            "kda_offset": self.offset,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "KernelDiscriminants":
        """What `to_arrays` described."""
        return cls(arrays["kda_centers"], float(arrays["kda_sigma"][0]), arrays["kda"], arrays["kda_offset"])

    @staticmethod
    def shapes(n_spliced: int, n_centers: int, dimension: int) -> dict[str, tuple[int, ...]]:
        """The shape of every array."""
        return {
            "kda_centers": (n_centers, n_spliced),
            "kda_sigma": (1,),
            "kda": (n_centers, dimension),
            "kda_offset": (dimension,),
        }
