"""Multiscale and compactly supported kernels.

    python examples/plot_kernels.py [--output-dir DIR]

Left: a wave with a sharp peak. A single width is too wide for the peak or too narrow for the wave. The multiscale
kernel has three widths per point, and forward selection chooses among them. Right: the compactly supported Gaussian,
with the density of its kernel matrix and its error for several widths. Writes `kernels.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import CompactGaussianKernel, GaussianKernel, MultiscaleGaussianKernel, OROLSRegressor

WIDTHS = (0.1, 0.5, 2.0)
N_CENTERS = 25


def wave_with_peak(x: np.ndarray) -> np.ndarray:
    return np.sin(x) + 2 * np.exp(-0.5 * ((x - 1) / 0.1) ** 2)


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(-5, 5, 400))
    y = wave_with_peak(x) + 0.1 * random.normal(size=400)
    grid = np.linspace(-5, 5, 1000)
    truth = wave_with_peak(grid)

    figure = Figure(figsize=(13, 4.5), layout="constrained")
    fit_axes, compact_axes = figure.subplots(1, 2)
    fit_axes.plot(x, y, ".", color="0.8")
    fit_axes.plot(grid, truth, "k--", label="truth")
    for kernel in (*map(GaussianKernel, WIDTHS), MultiscaleGaussianKernel(WIDTHS)):
        model = OROLSRegressor(N_CENTERS, kernel=kernel, criterion=None).fit(x[:, None], y)
        outputs = model.predict(grid[:, None])
        single = isinstance(kernel, GaussianKernel)
        name = f"one width, {kernel.sigma}" if single else "three widths"
        print(f"{name:15}: {model.n_centers_[0]:2d} centers, RMSE {rmse(outputs, truth):.4f}")
        if not single:
            used, counts = np.unique(model.sigma_, return_counts=True)
            print("  centers by width:", ", ".join(f"{n} of {width}" for width, n in zip(used, counts, strict=True)))
        if not single or kernel.sigma == 0.5:
            fit_axes.plot(grid, outputs, label=f"{name}: RMSE {rmse(outputs, truth):.3f}")
    fit_axes.legend()
    fit_axes.set(xlabel="x", title=f"At most {N_CENTERS} centers")

    shares, errors = [], []
    compact_widths = (0.05, 0.1, 0.2, 0.4, 0.8)
    for sigma in compact_widths:
        kernel = CompactGaussianKernel(sigma)
        shares.append(100 * np.count_nonzero(kernel(x[:, None], x[:, None])) / x.shape[0] ** 2)
        model = OROLSRegressor(200, kernel=kernel, n_candidates=400, criterion=None).fit(x[:, None], y)
        errors.append(rmse(model.predict(grid[:, None]), truth))
        print(
            f"compact support, width {sigma}: {shares[-1]:4.1f} % of the kernel matrix is nonzero, "
            f"RMSE {errors[-1]:.4f}"
        )
    compact_axes.plot(compact_widths, shares, "o-", label="nonzero entries, %")
    compact_axes.plot(compact_widths, 100 * np.array(errors), "s--", label="100 RMSE")
    compact_axes.set(xlabel="width", ylim=(0, None), title="CompactGaussianKernel, three widths")
    compact_axes.legend()
    save(figure, options.output_dir, "kernels.png")


if __name__ == "__main__":
    main()
