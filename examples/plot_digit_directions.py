"""Discriminant directions of handwritten digits in a kernel space.

    python examples/plot_digit_directions.py [--data usps.npz] [--output-dir DIR]

Kernel discriminant analysis of ten digits, as in figures 5.3 and 5.10 of Mika 2002. The figure shows the first two of
its nine features on test digits, next to two of kernel principal component analysis. For each feature it shows the
images with the lowest and the highest value. The output is the number of test digits that the nearest class mean
classifies correctly with equal numbers of features. Without --data the digits are scikit-learn's of 8 x 8 pixels; a
file contains the arrays x_train, y_train, x_test, y_test. Writes `digit_directions.png`.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gallery import parser, save, single_threaded
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid

from discriminants import KernelDiscriminantAnalysis, OrientedKernelPCA


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument("--data", type=Path, help="file of other digits")
    options = command_line.parse_args(arguments)
    if options.data is None:
        digits = load_digits()
        X, X_test, y, y_test = train_test_split(digits.data / 8.0 - 1.0, digits.target, test_size=0.5, random_state=0)
    else:
        with np.load(options.data) as file:
            X, y, X_test, y_test = (file[name] for name in ("x_train", "y_train", "x_test", "y_test"))
        X, y, X_test = X[:2000].astype(np.float64), y[:2000], X_test.astype(np.float64)
    side = round(np.sqrt(X.shape[1]))
    sigma = np.sqrt(0.15 * X.shape[1])
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(3, 1.6))
    scatter = upper.subplots(1, 2)
    for ax, (name, model) in zip(
        scatter,
        (
            ("kernel PCA", OrientedKernelPCA(9, sigma=sigma, penalty="kernel")),
            ("kernel discriminant analysis", KernelDiscriminantAnalysis(sigma=sigma, regularization=0.1)),
        ),
        strict=True,
    ):
        features, features_test = model.fit(X, y).transform(X), model.transform(X_test)
        right = 100 * NearestCentroid().fit(features, y).score(features_test, y_test)
        print(f"{name:29} {right:.1f} % of the test digits are nearest to the mean of their own class")
        ax.scatter(*features_test[:, :2].T, c=y_test, cmap="tab10", s=6)
        ax.set(title=f"{name}: {right:.1f} % by the nearest mean", xlabel="first", ylabel="second")
    for number, column in enumerate(lower.subplots(2, 9).T):
        order = np.argsort(features_test[:, number])
        for ax, sample in zip(column, (order[-1], order[0]), strict=True):
            ax.imshow(X_test[sample].reshape(side, side), cmap="gray_r")
            ax.set(xticks=[], yticks=[])
        column[0].set_title(f"{number + 1}", fontsize=9)
    lower.suptitle("highest and lowest value of each discriminant feature", fontsize=10)
    save(figure, options.output_dir, "digit_directions.png")


if __name__ == "__main__":
    main()
