"""Regression with an automatic ridge: OROLS on a noisy sinc.

    python examples/plot_noisy_sinc.py [--runs N] [--output-dir DIR]

sin(x)/x on (-10, 10) with Gaussian noise, as in figures 5.2 to 5.4 of Andelic 2007. The figure shows one fit with its
centers, and the root mean square error on noise-free test points by number of training points and by noise, averaged
over runs (100 in the source). The width is chosen once, by five-fold cross-validation on separate draws. The learner
chooses the number of centers and the ridge. Writes `noisy_sinc.png`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV

from discriminants import OROLSRegressor

WIDTHS = [1.0, 1.4, 2.0, 2.8, 4.0]
SIZES = [20, 30, 50, 100, 200, 400]
NOISES = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]


def draw(n_samples: int, noise: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = random.uniform(-10, 10, n_samples)
    return x[:, None], np.sinc(x / np.pi) + noise * random.normal(size=n_samples)


def chosen_width(n_draws: int, random: np.random.Generator) -> float:
    """Choose the width with the least squared error in cross-validation, over several draws of 50 points."""
    learner = OROLSRegressor(50, criterion=None)
    search = GridSearchCV(learner, {"sigma": WIDTHS}, cv=5, scoring="neg_mean_squared_error", refit=False)
    scores = [search.fit(*draw(50, 0.1, random)).cv_results_["mean_test_score"] for _ in range(n_draws)]
    return WIDTHS[int(np.mean(scores, axis=0).argmax())]


def mean_error(n_samples: int, noise: float, sigma: float, n_runs: int) -> tuple[float, float]:
    """Compute mean and standard deviation of the RMSE on 1000 test points; run r uses seed r."""
    errors = []
    for run in range(n_runs):
        random = np.random.default_rng(run)
        X, y = draw(n_samples, noise, random)
        X_test, truth = draw(1000, 0.0, random)
        errors.append(rmse(OROLSRegressor(50, sigma=sigma, criterion=None).fit(X, y).predict(X_test), truth))
    return float(np.mean(errors)), float(np.std(errors))


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument("--runs", type=int, default=20, help="number of runs to average over (default: 20)")
    options = command_line.parse_args(arguments)

    random = np.random.default_rng(12345)
    sigma = chosen_width(5, random)
    print(f"width {sigma}, by cross-validation")
    figure = Figure(figsize=(14, 4.3), layout="constrained")
    fit_axes, size_axes, noise_axes = figure.subplots(1, 3)

    X, y = draw(50, 0.1, random)
    model = OROLSRegressor(50, sigma=sigma, criterion=None).fit(X, y)
    x = np.linspace(-10, 10, 400)
    error = rmse(model.predict(x[:, None]), np.sinc(x / np.pi))
    print(f"one fit: {model.n_centers_[0]} of 50 points are centers, RMSE {error:.4f} (noise 0.1)")
    fit_axes.plot(x, np.sinc(x / np.pi), "k--", label="sin(x)/x")
    fit_axes.plot(x, model.predict(x[:, None]), label=f"OROLS, RMSE {error:.3f}")
    fit_axes.plot(X[:, 0], y, "k.", label="training points")
    fit_axes.plot(
        X[model.center_indices_, 0], y[model.center_indices_], "o", mfc="none", mec="k", ms=9, label="centers"
    )
    fit_axes.set(title=f"50 points, {model.n_centers_[0]} centers", xlabel="x")
    fit_axes.legend(loc="upper left", fontsize="small")

    errors = [mean_error(size, 0.1, sigma, options.runs) for size in SIZES]
    _draw(size_axes, SIZES, errors, xlabel="training points", title="Noise 0.1")
    for size, (mean, _) in zip(SIZES, errors, strict=True):
        print(f"{size:4d} points, noise 0.1: RMSE {mean:.4f}")
    errors = [mean_error(100, noise, sigma, options.runs) for noise in NOISES]
    _draw(noise_axes, NOISES, errors, xlabel="standard deviation of the noise", title="100 training points")
    slope = np.polyfit(NOISES, [mean for mean, _ in errors], 1)[0]
    for noise, (mean, _) in zip(NOISES, errors, strict=True):
        print(f" 100 points, noise {noise:.2f}: RMSE {mean:.4f}")
    print(f"RMSE rises by {slope:.2f} of the noise (about 0.3 in the source)")
    save(figure, options.output_dir, "noisy_sinc.png")


def _draw(ax: Any, values: list[Any], errors: list[tuple[float, float]], **labels: Any) -> None:
    means, deviations = np.array(errors).T
    ax.errorbar(values, means, deviations, marker="o", capsize=3)
    ax.set(ylabel="RMSE on noise-free points", ylim=(0, None), **labels)


if __name__ == "__main__":
    main()
