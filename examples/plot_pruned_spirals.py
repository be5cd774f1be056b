"""Separation of two spirals by a few components out of 194.

    python examples/plot_pruned_spirals.py [--output-dir DIR]

Figure 4 of Abdallah, Richard and Lengelle 2004: the second-order discriminant with an exponential kernel, in the basis
in which the covariances of both classes are diagonal. The components that contribute least to the difference of the
class means are pruned. The output is the smallest number of components that separates all samples, and the number of
support vectors of a support vector machine with the same kernel. Writes `pruned_spirals.png`.
"""

from collections.abc import Sequence

from gallery import draw_boundary, parser, save, single_threaded
from matplotlib.figure import Figure
from plot_two_spirals import two_spirals
from sklearn.svm import SVC

from discriminants import ExponentialKernel, KSODClassifier


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    X, y = two_spirals()
    X_between, y_between = two_spirals(0.1)
    kernel = ExponentialKernel(1.0)

    def pruned(n_components: int) -> KSODClassifier:
        return KSODClassifier(kernel=kernel, regularization=1e-5, n_components=n_components, validation=5).fit(X, y)

    fewest = next(n for n in range(1, 195) if pruned(n).score(X, y) == 1.0)
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    for ax, n_components in zip(figure.subplots(1, 3), (max(1, fewest // 2), fewest, 194), strict=True):
        model = pruned(n_components)
        right, between = 100 * model.score(X, y), 100 * model.score(X_between, y_between)
        print(f"{n_components:3d} components: {right:.1f} % of the samples, {between:.1f} % of the points between")
        draw_boundary(ax, model.decision_function, (-7, 7), (-7, 7), colors="k", linewidths=0.8)
        for label in (0, 1):
            ax.plot(*X[y == label].T, ".", color=f"C{label}")
        ax.set(title=f"{n_components} components: {right:.0f} %", aspect="equal")
    machine = SVC(kernel=kernel, C=1e4).fit(X, y)
    print(
        f"separated with {fewest} components or more; the support vector machine has {machine.support_.size} "
        "support vectors"
    )
    save(figure, options.output_dir, "pruned_spirals.png")


if __name__ == "__main__":
    main()
