"""Pruning of a least-squares support vector machine on the sinc.

    python examples/plot_pruned_sinc.py [--samples N] [--output-dir DIR]

As in figures 3.9 to 3.11 of Suykens et al. (2002), 500 noisy samples of sin(x)/x are pruned, starting with the smallest
weights, until the leave-one-out error is significantly larger. Writes `pruned_sinc.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import LSSVMRegressor, PrunedLSSVMRegressor


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument("--samples", type=int, default=500, help="number of samples at the start (default: 500)")
    options = command_line.parse_args(arguments)

    random = np.random.default_rng(0)
    x = random.uniform(-10, 10, options.samples)
    y = np.sinc(x / np.pi) + 0.1 * random.normal(size=options.samples)
    grid = np.linspace(-10, 10, 400)
    truth = np.sinc(grid / np.pi)
    figure = Figure(figsize=(13, 4), layout="constrained")
    *fit_axes, path_axes = figure.subplots(1, 3)
    for axes, significance in zip(fit_axes, (0.05, 0.01), strict=True):
        model = PrunedLSSVMRegressor(sigma=2.0, regularization=np.logspace(-3, 2, 11), significance=significance).fit(
            x[:, None], y
        )
        off = rmse(model.predict(grid[:, None]), truth)
        sizes = model.path_sizes_
        print(f"significance {significance}: {sizes[-1]} of {sizes[0]} samples remain, error {off:.4f}")
        axes.plot(x, y, ".", color="0.8", label="samples")
        axes.plot(x[model.support_], y[model.support_], "k.", label="those left")
        axes.plot(grid, truth, "C1--", label="sin(x)/x")
        axes.plot(grid, model.predict(grid[:, None]), "C0", label="machine")
        axes.set(title=f"significance {significance}: {sizes[-1]} of {sizes[0]} samples")
        path_axes.plot(sizes, np.sqrt(model.path_errors_), ".-", label=f"significance {significance}")
    full = LSSVMRegressor(sigma=2.0, regularization=np.logspace(-3, 2, 11)).fit(x[:, None], y)
    print(f"with all samples: error {rmse(full.predict(grid[:, None]), truth):.4f}")
    path_axes.set(xlabel="samples", ylabel="RMSE by removed samples", title="during pruning")
    path_axes.invert_xaxis()
    path_axes.legend()
    fit_axes[0].legend()
    save(figure, options.output_dir, "pruned_sinc.png")


if __name__ == "__main__":
    main()
