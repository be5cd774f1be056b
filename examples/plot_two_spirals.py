"""Separation of two spirals with fewer centers than samples.

    python examples/plot_two_spirals.py [--output-dir DIR]

The benchmark of Lang and Witbrock (1988): 97 points on each of two spirals that wind around each other three times.
They are separated by NPD as in figure 5.1 of Andelic 2007, by the source's rule (the next center is the sample with the
largest residual) and with a width of one, the distance between the arms. 90 centers separate all points. With 120 the
boundary runs evenly between the arms: this is measured by the share of points *between* the samples on their own side.
Writes `two_spirals.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import draw_boundary, parser, save, single_threaded
from matplotlib.figure import Figure

from discriminants import NPDClassifier


def two_spirals(step: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 2) and classes (n,); 194 at step 1, and more on the same lines at a smaller step."""
    i = np.arange(0.0, 97.0, step)
    angle, radius = i * np.pi / 16, 6.5 * (104 - i) / 104
    spiral = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)
    return np.concatenate([spiral, -spiral]), np.repeat([1, 0], i.shape[0])


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    X, y = two_spirals()
    X_between, y_between = two_spirals(0.1)
    sizes = (60, 90, 120)
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    for ax, n_centers in zip(figure.subplots(1, len(sizes)), sizes, strict=True):
        model = NPDClassifier(n_centers, sigma=1.0, rule="largest_residual", criterion=None).fit(X, y)
        right = int((model.predict(X) == y).sum())
        between = 100 * model.score(X_between, y_between)
        print(
            f"{n_centers:3d} centers: {right} of {y.shape[0]} points separated, {between:.1f} % of the points between"
        )
        draw_boundary(ax, model.decision_function, (-7, 7), (-7, 7), colors="k", linewidths=0.8)
        for label in (0, 1):
            ax.plot(*X[y == label].T, ".", color=f"C{label}")
        ax.plot(*model.basis_centers_.T, "o", mfc="none", mec="k", mew=0.5, ms=8)
        ax.set(title=f"{n_centers} centers: {right} of {y.shape[0]}", aspect="equal")
    save(figure, options.output_dir, "two_spirals.png")


if __name__ == "__main__":
    main()
