"""Output distributions on training and test samples: equal for Fisher discriminants, different for an SVM.

    python examples/plot_output_distributions.py [--output-dir DIR]

Figures 5.6 and 5.7 of Mika 2002 on ringnorm: two Gaussians in 20 dimensions, one with four times the variance of the
other, 400 training and 7000 test samples. The figure has histograms of the outputs of each class for the plain, the
robust and the linear sparse discriminant and the support vector machine. The output is the distance between training
and test outputs: the largest difference of their distribution functions (Kolmogorov and Smirnov), averaged over both
classes. Writes `output_distributions.png`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gallery import parser, save, single_threaded
from matplotlib.figure import Figure
from scipy.stats import ks_2samp
from sklearn.svm import SVC

from discriminants import KFDClassifier, RobustKFDClassifier, SparseKFDClassifier


def ringnorm(n_samples: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw points (n, 20) and classes (n,): N(0, 4 I), and N(a, I) with a = 2 / sqrt(20) in every dimension."""
    y = random.integers(0, 2, n_samples)
    X = random.normal(size=(n_samples, 20)) * np.where(y == 1, 2.0, 1.0)[:, None]
    return X + np.where(y == 1, 0.0, 2.0 / np.sqrt(20))[:, None], y


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    (X, y), (X_test, y_test) = ringnorm(400, random), ringnorm(7000, random)
    width = np.sqrt(20.0)
    models: dict[str, Any] = {
        "KFD": KFDClassifier(sigma=width, regularization=10.0, threshold="soft_margin"),
        "robust KFD": RobustKFDClassifier(sigma=width, regularization=30.0, threshold="soft_margin"),
        "linear sparse KFD": SparseKFDClassifier(
            sigma=width, regularization=10.0, loss="absolute", threshold="soft_margin"
        ),
        "SVM": SVC(gamma=0.025, C=10.0),
    }
    figure = Figure(figsize=(13, 5.5), layout="constrained")
    axes = figure.subplots(2, len(models), sharex="col")
    for (name, model), column in zip(models.items(), axes.T, strict=True):
        model.fit(X, y)
        train, test = model.decision_function(X), model.decision_function(X_test)
        distance = np.mean([ks_2samp(train[y == c], test[y_test == c]).statistic for c in (0, 1)])
        error = 100 * (1 - model.score(X_test, y_test))
        print(f"{name:18} {error:.2f} % test error, distance of training and test outputs {distance:.3f}")
        for ax, outputs, labels, part in zip(column, (train, test), (y, y_test), ("training", "test"), strict=True):
            for c in (0, 1):
                ax.hist(outputs[labels == c], bins=40, range=(-3, 3), density=True, alpha=0.6, color=f"C{c}")
            ax.set_title(f"{name}, {part}")
    save(figure, options.output_dir, "output_distributions.png")


if __name__ == "__main__":
    main()
