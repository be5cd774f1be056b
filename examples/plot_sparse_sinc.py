"""Sparse Fisher discriminants as regression: sin(x)/x with and without noise.

    python examples/plot_sparse_sinc.py [--output-dir DIR]

Figure 5.5 of Mika 2002: 100 evenly spaced points, a Gaussian kernel exp(-(x - z)^2 / c) with c = 4 and C = 0.01 without
noise, c = 3 and C = 0.1 with noise of standard deviation 0.2. Points with nonzero weight are circled. A support vector
regression of the same width is shown for comparison. Writes `sparse_sinc.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure
from sklearn.svm import SVR

from discriminants import SparseKFDRegressor


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    x = np.linspace(-10, 10, 100)
    dense = np.linspace(-10, 10, 1000)
    truth = np.sinc(dense / np.pi)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for ax, noise, c, C in zip(figure.subplots(1, 2), (0.0, 0.2), (4.0, 3.0), (0.01, 0.1), strict=True):
        y = np.sinc(x / np.pi) + np.random.default_rng(0).normal(0, 1, 100) * noise
        model = SparseKFDRegressor(sigma=np.sqrt(c / 2), regularization=C).fit(x[:, None], y)
        machine = SVR(gamma=1 / c, C=1.0, epsilon=max(0.01, noise)).fit(x[:, None], y)
        ours = rmse(model.predict(dense[:, None]), truth)
        theirs = rmse(machine.predict(dense[:, None]), truth)
        print(
            f"noise {noise:g}: {model.n_centers_[0]} centers, RMSE {ours:.4f}; "
            f"SVR {machine.support_.size} support vectors, RMSE {theirs:.4f}"
        )
        ax.plot(x, y, "k.", ms=3)
        ax.plot(dense, truth, "C0--", label="sin(x)/x")
        ax.plot(dense, model.predict(dense[:, None]), "C1", label="sparse KFD")
        chosen = model.center_indices_
        ax.plot(x[chosen], y[chosen], "o", mfc="none", mec="k", ms=9, label=f"{chosen.size} centers")
        ax.set(title=f"noise {noise:g}")
        ax.legend()
    save(figure, options.output_dir, "sparse_sinc.png")


if __name__ == "__main__":
    main()
