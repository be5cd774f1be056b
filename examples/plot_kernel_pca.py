"""Kernel principal components: one score recovers a noisy curve, and two classes do not follow the variance.

    python examples/plot_kernel_pca.py [--output-dir DIR]

Left and middle: a noisy sine in the plane is reconstructed from its best score, and the eigenvalues of the centered
kernel matrix (Suykens et al. 2002, figures 7.6 and 7.7). Right: two classes of two noisy parabolas with a
polynomial kernel of degree two; the kernel Fisher feature separates them, the first two kernel principal components do
not (Mika 2002, figure 5.2). Writes `kernel_pca.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import KernelDiscriminantAnalysis, LSSVMKernelPCA, LSSVMRegressor, PolynomialKernel


def parabolas(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 2) and classes (n,): parabolas mirrored at one axis for each class."""
    t, y, side = random.uniform(-1, 1, n), np.arange(n) % 2, np.where(np.arange(n) // 2 % 2, 1, -1)
    points = np.stack([t, side * (0.6 + t**2)], axis=1) + 0.1 * random.normal(size=(n, 2))
    return np.where(y[:, None] == 0, points, points[:, ::-1]), y


def separation(feature: np.ndarray, y: np.ndarray) -> float:
    """Return the share of samples on their class's side of the best threshold of one feature."""
    ahead = np.cumsum(np.where(y[np.argsort(feature)] == 0, 1, -1))
    return float(0.5 + np.abs(ahead).max() / len(y))


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    x = np.linspace(-1, 1, 200)
    curve = np.stack([x, 0.5 * np.sin(np.pi * x)], axis=1)
    X = curve + 0.1 * random.normal(size=curve.shape)
    model = LSSVMKernelPCA(20, sigma=2.0).fit(X)
    errors = []
    for number in range(3):
        score = model.transform(X)[:, [number]]
        errors.append(rmse(LSSVMRegressor().fit(score, X).predict(score), curve))
        print(f"reconstruction from score {number + 1}: distance from the curve {errors[-1]:.3f}")
    best = model.transform(X)[:, [int(np.argmin(errors))]]
    figure = Figure(figsize=(13, 4), layout="constrained")
    plane, scree, features = figure.subplots(1, 3)
    plane.plot(*X.T, ".", color="0.7", label="samples")
    plane.plot(*LSSVMRegressor().fit(best, X).predict(best).T, "k+", label=f"from score {np.argmin(errors) + 1}")
    plane.legend()
    scree.semilogy(model.eigenvalues_, ".-")
    scree.set(title="eigenvalues of the centered kernel matrix")
    points, y = parabolas(random, 400)
    kernel = PolynomialKernel(2)
    found = {
        "Fisher": KernelDiscriminantAnalysis(1, kernel=kernel, regularization=1e-3).fit_transform(points, y)[:, 0],
        **{f"component {k + 1}": LSSVMKernelPCA(2, kernel=kernel).fit_transform(points)[:, k] for k in range(2)},
    }
    for place, (name, values) in enumerate(found.items()):
        print(f"{name}: {100 * separation(values, y):.1f} % separated")
        for label in (0, 1):
            scaled = values[y == label] / np.abs(values).max()
            features.plot(
                scaled, place + 0.2 * label + 0.05 * random.normal(size=scaled.shape[0]), ".", color=f"C{label}", ms=3
            )
    features.set(title="features of two classes of parabolas", yticks=range(3), yticklabels=list(found))
    save(figure, options.output_dir, "kernel_pca.png")


if __name__ == "__main__":
    main()
