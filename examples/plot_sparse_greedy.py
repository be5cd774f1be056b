"""Number of centers of the greedy sparse Fisher discriminant.

    python examples/plot_sparse_greedy.py [--output-dir DIR]

The sparse greedy algorithm of Mika 2002 (figure 3.3, section 5.2.1) on scikit-learn's handwritten digits: the
regularized objective and the test error by number of centers, each the best of 59 candidates. Marks show the stopping
points for tolerances of 10^-1 to 10^-3. The discriminant over all samples is shown for comparison. Writes
`sparse_greedy.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, save, single_threaded
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from discriminants import KFDClassifier, SparseGreedyKFDClassifier


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, test_size=0.5, random_state=0)
    settings = {"sigma": 1.5, "regularization": 1e-3}
    sizes = np.array([5, 10, 20, 40, 80, 160, 240])
    errors = []
    for n_centers in sizes:
        model = SparseGreedyKFDClassifier(n_centers, tol=0.0, random_state=0, **settings).fit(X, y)
        errors.append(100 * (1 - model.score(X_test, y_test)))
    dense = 100 * (1 - KFDClassifier(**settings).fit(X, y).score(X_test, y_test))
    print(f"{len(X)} centers, all samples: {dense:.2f} % test error")
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.semilogy(model.objective_, "k")
    left.set(xlabel="centers", ylabel="regularized squared error", title="The objective")
    right.semilogx(sizes, errors, "k.-", label="greedy")
    right.axhline(dense, color="gray", linestyle="dashed", label=f"all {len(X)} samples")
    for tol in (1e-1, 1e-2, 1e-3):
        stopped = SparseGreedyKFDClassifier(400, tol=tol, random_state=0, **settings).fit(X, y)
        size, error = int(stopped.n_centers_[0]), 100 * (1 - stopped.score(X_test, y_test))
        print(f"{size:3d} centers, tolerance {tol:g}: {error:.2f} % test error")
        left.axvline(size, color="C0", linewidth=0.8)
        right.plot(size, error, "o", mfc="none", label=f"tolerance {tol:g}: {size}")
    right.set(xlabel="centers", ylabel="test error %", title="Digits, one dictionary for all classes")
    right.legend()
    save(figure, options.output_dir, "sparse_greedy.png")


if __name__ == "__main__":
    main()
