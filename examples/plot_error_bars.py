"""Uncertainty of a least-squares machine: error bars, input-dependent noise, and class probabilities.

    python examples/plot_error_bars.py [--output-dir DIR]

Left: sin(x)/x from noisy points with a gap. Penalty, noise and width follow from the evidence. The bars, two deviations
of a new point, widen in the gap (Suykens et al. 2002, section 4.2 and figure 4.5). Middle: the same with noise ten
times as large on the right, which a second machine estimates. Right: Ripley's mixture with the lines on which the
probability of the second class is 0.2, 0.5 and 0.8, and the line of 0.5 for a prior of one in ten. Writes
`error_bars.png`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery import parser, ripley_mixture, save, single_threaded
from matplotlib.figure import Figure

from discriminants import BayesianLSSVMClassifier, BayesianLSSVMRegressor, HeteroscedasticLSSVMRegressor, log_loss

QUIET, LOUD = 0.03, 0.3  # deviations of the noise
RARE = 0.1


def noise(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, LOUD, QUIET)


def draw_bars(ax: Any, x: np.ndarray, X: np.ndarray, y: np.ndarray, means: np.ndarray, bars: np.ndarray) -> None:
    ax.fill_between(x, means - bars, means + bars, alpha=0.25, label="two standard deviations of a new point")
    ax.plot(x, means, label="output")
    ax.plot(x, np.sinc(x / np.pi), "k--", label="sin(x)/x")
    ax.plot(X[:, 0], y, "k.", ms=4, label="training points")
    ax.set(xlabel="x", ylim=(-1.2, 1.8))


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    figure = Figure(figsize=(14, 4.3), layout="constrained")
    gap_axes, noise_axes, class_axes = figure.subplots(1, 3)
    x = np.linspace(-10, 10, 400)

    X = np.concatenate([random.uniform(-10, 2, 90), random.uniform(7, 10, 20)])[:, None]
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * random.normal(size=X.shape[0])
    model = BayesianLSSVMRegressor().fit(X, y)
    means, deviations = model.predict(x[:, None], return_std=True)
    inside = (x > 3.5) & (x < 5.5)
    found = np.sqrt(model.noise_variance_[0])
    print(
        f"noise {found:.3f} (true value 0.1), width {model.sigma_:.2f}, {model.effective_parameters_[0]:.1f} parameters"
    )
    ratio = deviations[inside].max() / np.median(deviations[~inside])
    print(f"in the gap, the bars are {ratio:.1f} times as long as elsewhere")
    draw_bars(gap_axes, x, X, y, means, 2 * deviations)
    gap_axes.set(title="Small deviations near points")
    gap_axes.legend(loc="lower left", fontsize="small")

    X = random.uniform(-10, 10, 120)[:, None]
    y = np.sinc(X[:, 0] / np.pi) + noise(X[:, 0]) * random.normal(size=X.shape[0])
    same, known = BayesianLSSVMRegressor().fit(X, y), BayesianLSSVMRegressor()
    known.fit(X, y, noise_variance=noise(X[:, 0]) ** 2)
    learnt = HeteroscedasticLSSVMRegressor().fit(X, y)
    for name, learner in (("constant", same), ("learned", learnt), ("known", known)):
        error = np.sqrt(np.mean((learner.predict(x[x < 0, None]) - np.sinc(x[x < 0] / np.pi)) ** 2))
        print(f"noise {name}: RMSE {error:.4f} in the part with little noise")
    means, deviations = learnt.predict(x[:, None], return_std=True)
    draw_bars(noise_axes, x, X, y, means, 2 * deviations)
    noise_axes.set(title="Varying noise, estimated")

    X, labels = ripley_mixture(250, random)
    X_test, y_test = ripley_mixture(4000, random)
    classifier = BayesianLSSVMClassifier().fit(X, labels)
    kept = (y_test == 0) | (random.uniform(size=4000) < RARE / (1 - RARE))
    priors = np.array([1 - RARE, RARE])
    for name, given in (("class shares of the training samples", None), ("class shares of the test samples", priors)):
        proba = classifier.predict_proba(X_test[kept], given)
        error = 100 * np.mean(proba.argmax(axis=1) != y_test[kept])
        print(f"{name}: log-loss {log_loss(y_test[kept], proba):.3f}, {error:.1f} % wrong")
    columns, rows = np.linspace(-1.3, 1.1, 120), np.linspace(-0.3, 1.2, 120)
    points = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
    grid = classifier.predict_proba(points)[:, 1].reshape(120, 120)
    lines = class_axes.contour(columns, rows, grid, levels=[0.2, 0.5, 0.8], colors="k")
    class_axes.clabel(lines, fontsize="small")
    grid = classifier.predict_proba(points, priors)[:, 1].reshape(120, 120)
    class_axes.contour(columns, rows, grid, levels=[0.5], colors="C3", linestyles="--")
    class_axes.scatter(*X.T, c=labels, cmap="coolwarm", s=8)
    class_axes.set(title="Probabilities; dashed: the second class rare")
    save(figure, options.output_dir, "error_bars.png")


if __name__ == "__main__":
    main()
