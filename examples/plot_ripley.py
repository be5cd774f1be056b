"""NPD with ten centers compared with the kernel Fisher discriminant with 250.

    python examples/plot_ripley.py [--data FILE.npz] [--output-dir DIR]

Ripley's synthetic problem in the plane, as in figure 3.2 of Andelic 2007: two classes of two Gaussians each, 250
training and 1000 test samples, with a Bayes error of about 8 %. NPD chooses ten samples as basis centers (circled); the
full kernel Fisher discriminant of the same width keeps all. Without --data samples are drawn from the published
mixture; the file of the original samples contains the arrays x_train, y_train, x_test and y_test.

Width and constants are chosen by five-fold cross-validation on the training samples. The criterion is the log loss of
the posteriors by the source's normal densities, because error counts on 250 samples hardly differ between settings.
Writes `ripley.png`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gallery import draw_boundary, parser, ripley_mixture, save, single_threaded
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from discriminants import KFDClassifier, NPDClassifier

WIDTHS = [0.5, 0.59, 0.71, 0.84, 1.0, 1.19, 1.41, 1.68, 2.0]
EPSILONS = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1]
REGULARIZATIONS = [0.001, 0.01, 0.1, 1.0, 10.0]


def best_setting(learner: Any, grid: dict[str, list[float]], X: np.ndarray, y: np.ndarray) -> Any:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(learner, grid, cv=folds, scoring="neg_log_loss").fit(X, y).best_estimator_


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument("--data", type=Path, help="file with the original samples")
    options = command_line.parse_args(arguments)
    if options.data is None:
        random = np.random.default_rng(0)
        (X, y), (X_test, y_test) = ripley_mixture(250, random), ripley_mixture(1000, random)
    else:
        with np.load(options.data) as file:
            X, y, X_test, y_test = (file[name] for name in ("x_train", "y_train", "x_test", "y_test"))

    npd = NPDClassifier(n_centers=10, rule="largest_residual", posterior="gaussian", decide_by="output")
    npd = best_setting(npd, {"sigma": WIDTHS, "epsilon": EPSILONS}, X, y)
    kfd = KFDClassifier(sigma=npd.sigma, calibrate_on="training", posterior="gaussian", decide_by="output")
    kfd = best_setting(kfd, {"regularization": REGULARIZATIONS}, X, y)
    print(f"width {npd.sigma}, epsilon {npd.epsilon} of NPD, regularization {kfd.regularization} of KFD")

    figure = Figure(figsize=(7, 6), layout="constrained")
    ax = figure.subplots()
    for label, marker in zip(npd.classes_, "xo", strict=True):
        ax.plot(*X[y == label].T, marker, ms=4, alpha=0.6, label=f"class {label}")
    ax.plot(*npd.basis_centers_.T, "o", mfc="none", mec="k", ms=11, label="centers of NPD")
    x_range, y_range = ((column.min() - 0.1, column.max() + 0.1) for column in X.T)
    for name, model, line in (("NPD", npd, "solid"), ("full KFD", kfd, "dashed")):
        n_centers, error = model.basis_centers_.shape[0], 100 * (1 - model.score(X_test, y_test))
        print(f"{name:8} {n_centers:3d} centers, {error:.1f} % test error")
        draw_boundary(ax, model.decision_function, x_range, y_range, colors="k", linestyles=line)
        ax.plot([], [], "k", linestyle=line, label=f"{name}, {n_centers} centers: {error:.1f} %")
    ax.legend()
    save(figure, options.output_dir, "ripley.png")


if __name__ == "__main__":
    main()
