"""Robust regression: a sinc with outliers, and with heavy-tailed noise.

    python examples/plot_outliers.py [--output-dir DIR]

As in figures 5.5 to 5.8 of Suykens et al. (2002): 300 samples of sin(x)/x with normal noise and three outliers, and
with noise of Student's t distribution. The weighted machine reduces the weights of samples with large residuals. The
figure shows both curves and the residuals of the weighted one. Writes `outliers.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import LSSVMRegressor, WeightedLSSVMRegressor


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(-10, 10, 300))
    grid = np.linspace(-10, 10, 400)
    truth = np.sinc(grid / np.pi)
    noises = {"three outliers": 0.1 * random.normal(size=300), "t noise": 0.1 * random.standard_t(1.5, size=300)}
    noises["three outliers"][[140, 150, 160]] -= 3.0
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    for (fit_axes, residual_axes), (name, noise) in zip(figure.subplots(2, 2), noises.items(), strict=True):
        y = np.sinc(x / np.pi) + noise
        fit_axes.plot(x, y, ".", color="0.7", ms=3)
        fit_axes.plot(grid, truth, "k--", lw=0.8, label="sin(x)/x")
        for kind, model in {"LS-SVM": LSSVMRegressor(sigma=2.0), "weighted": WeightedLSSVMRegressor(sigma=2.0)}.items():
            found = model.fit(x[:, None], y).predict(grid[:, None])
            print(f"{name}, {kind}: RMSE {rmse(found, truth):.4f}")
            fit_axes.plot(grid, found, label=kind)
        fit_axes.set(title=name, ylim=(-1.2, 1.6))
        left = y - model.predict(x[:, None])
        residual_axes.hist(left.clip(-1, 1), np.linspace(-1, 1, 61))
        residual_axes.set(title=f"{name}: residuals of the weighted machine, clipped", yscale="log")
    fit_axes.legend()
    save(figure, options.output_dir, "outliers.png")


if __name__ == "__main__":
    main()
