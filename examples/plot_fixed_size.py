"""Fixed-size LS-SVM: ten centers for 200 or 20,000 samples, spread by their entropy.

    python examples/plot_fixed_size.py [--output-dir DIR]

As in figures 6.4 to 6.8 of Suykens et al. (2002): a noisy sinc with ten centers and width sigma^2 = 3, and two spirals
of 400 points with 20 centers. Centers of maximal entropy are compared with the first samples from the left, a bad start
as in the source. The penalty has the largest evidence, which also gives the error bars. Writes `fixed_size.png`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery import draw_boundary, parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor

WIDTH = np.sqrt(1.5)  # the source's kernel exp(-d^2 / 3)


def leftmost(X: np.ndarray, kernel: Any, n_centers: int, random: Any, targets: Any) -> np.ndarray:
    """Return the samples with the smallest first feature, as a chooser."""
    return np.argsort(X[:, 0])[:n_centers]


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    grid = np.linspace(-10, 10, 400)
    truth = np.sinc(grid / np.pi)
    figure = Figure(figsize=(13, 8), layout="constrained")
    axes = iter(figure.subplots(2, 3).ravel())
    for n, chooser in ((200, leftmost), (200, "entropy"), (20_000, "entropy")):
        x = random.uniform(-10, 10, n)
        y = np.sinc(x / np.pi) + 0.1 * random.normal(size=n)
        model = FixedSizeLSSVMRegressor(
            10, sigma=WIDTH, chooser=chooser, regularization="evidence", tol=1e-6, random_state=0
        ).fit(x[:, None], y)
        means, bars = model.predict(grid[:, None], return_std=True)
        name = chooser if isinstance(chooser, str) else "leftmost"
        print(f"{n} samples, {name}: {len(model.basis_centers_)} centers, RMSE {rmse(means, truth):.4f}")
        ax = next(axes)
        ax.plot(x[:1000], y[:1000], ".", color="0.8", ms=3)
        ax.fill_between(grid, means - 2 * bars, means + 2 * bars, alpha=0.3)
        ax.plot(grid, truth, "k--", lw=0.8)
        ax.plot(grid, means)
        ax.plot(model.basis_centers_[:, 0], np.full(len(model.basis_centers_), -0.5), "ko", mfc="none")
        ax.set(title=f"{n} samples, centers: {name}", ylim=(-0.8, 1.4))
    turn = np.sqrt(random.uniform(0.05, 1, 400)) * 2.5 * np.pi
    sides = np.arange(400) % 2
    X = (turn * np.stack([np.cos(turn + np.pi * sides), np.sin(turn + np.pi * sides)])).T + 0.2 * random.normal(
        size=(400, 2)
    )
    for n_centers, chooser in ((20, leftmost), (20, "entropy"), (60, "entropy")):
        classifier = FixedSizeLSSVMClassifier(
            n_centers, sigma=2.0, chooser=chooser, regularization="evidence", decide_by="output", random_state=0
        ).fit(X, sides)
        name = chooser if isinstance(chooser, str) else "leftmost"
        print(f"spirals, {n_centers} centers, {name}: {100 * classifier.score(X, sides):.1f} % separated")
        ax = next(axes)
        draw_boundary(ax, classifier.decision_function, (-9, 9), (-9, 9), colors="k", linewidths=0.8)
        for label in (0, 1):
            ax.plot(*X[sides == label].T, ".", color=f"C{label}", ms=3)
        ax.plot(*classifier.basis_centers_.T, "ks", mfc="none")
        ax.set(title=f"{n_centers} centers: {name}", aspect="equal")
    save(figure, options.output_dir, "fixed_size.png")


if __name__ == "__main__":
    main()
