"""Bias correction of a least-squares classifier with unbalanced classes.

    python examples/plot_bias_correction.py [--output-dir DIR]

After figure 4.3 of Suykens et al. (2002): with few samples of a class the bias of least squares is unreliable. It is
corrected by the means and the variance of the outputs of both classes and by class frequencies (4.28), here of
leave-one-out outputs. Two Gaussians have 20 and 180 samples. The figure shows boundaries and outputs of new samples.
Printed are the error rates of each class. Writes `bias_correction.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import draw_boundary, parser, save, single_threaded
from matplotlib.figure import Figure

from discriminants import LSSVMClassifier


def draw(random: np.random.Generator, sizes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 2) and classes (n,) of two Gaussians of different variance."""
    y = np.repeat([0, 1], sizes)
    return np.array([0.0, 2.0])[y, None] + np.array([1.0, 0.6])[y, None] * random.normal(size=(y.shape[0], 2)), y


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    X, y = draw(random, (180, 20))
    X_new, y_new = draw(random, (9000, 1000))
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    plane, line = figure.subplots(1, 2)
    for label in (0, 1):
        plane.plot(*X[y == label].T, ".", color=f"C{label}")
    for style, threshold in (("--", "least_squares"), ("-", "bayes")):
        model = LSSVMClassifier(threshold=threshold, decide_by="output").fit(X, y)
        wrong = model.predict(X_new) != y_new
        print(
            f"{threshold}: {100 * wrong.mean():.2f} % errors, large class {100 * wrong[y_new == 0].mean():.2f} %, "
            f"small class {100 * wrong[y_new == 1].mean():.2f} %"
        )
        draw_boundary(plane, model.decision_function, (-4, 5), (-4, 5), colors="k", linestyles=style)
    outputs = model.decision_function(X_new)
    for label in (0, 1):
        line.hist(outputs[y_new == label], 80, alpha=0.6, density=True, color=f"C{label}", label=f"class {label}")
    line.axvline(0, color="k", label="bayes")
    least_squares = LSSVMClassifier().fit(X, y)
    line.axvline((outputs - least_squares.decision_function(X_new)).mean(), color="k", ls="--", label="least squares")
    line.set(title="outputs of new samples, and the thresholds")
    line.legend()
    save(figure, options.output_dir, "bias_correction.png")


if __name__ == "__main__":
    main()
