"""Support values of a least-squares support vector machine: every sample counts.

    python examples/plot_support_values.py [--output-dir DIR]

After figures 3.1 to 3.3 of Suykens et al. (2002): two spirals are separated without errors, Ripley's mixture has dots
of the size of the absolute weights, and the sorted absolute weights never reach zero, while most of a support vector
machine's are zero.
Writes `support_values.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import draw_boundary, parser, ripley_mixture, save, single_threaded
from matplotlib.figure import Figure
from plot_two_spirals import two_spirals
from sklearn.svm import SVC

from discriminants import LSSVMClassifier


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    spirals, mixture, sorted_axes = figure.subplots(1, 3)

    X, y = two_spirals()
    model = LSSVMClassifier(sigma=0.7, regularization=0.01, decide_by="output").fit(X, y)
    print(f"spirals: {int((model.predict(X) != y).sum())} errors on {len(y)} samples, ", end="")
    print(f"{100 * model.score(*two_spirals(0.1)):.1f} % of the points between")
    draw_boundary(spirals, model.decision_function, (-7, 7), (-7, 7), colors="k", linewidths=0.8)

    X_ripley, y_ripley = ripley_mixture(250, random)
    X_test, y_test = ripley_mixture(5000, random)
    machine = LSSVMClassifier(sigma=0.5, decide_by="output").fit(X_ripley, y_ripley)
    vectors = SVC(gamma=2.0).fit(X_ripley, y_ripley)
    alpha = np.abs(machine.dual_coef_[:, 0])
    for name, fitted, used in (("LS-SVM", machine, (alpha > 0).sum()), ("SVM", vectors, len(vectors.support_))):
        print(f"Ripley, {name}: {100 * (1 - fitted.score(X_test, y_test)):.1f} % test error, {used} of 250 samples")
    draw_boundary(mixture, machine.decision_function, (-1.4, 1.2), (-0.4, 1.3), colors="k")
    for axes, points, labels, sizes in ((spirals, X, y, 6.0), (mixture, X_ripley, y_ripley, 60 * alpha / alpha.max())):
        axes.scatter(*points.T, s=sizes, c=np.where(labels == 1, "C1", "C0"))
    zeros = np.zeros(250 - len(vectors.support_))
    for name, values in (("LS-SVM", alpha), ("SVM", np.concatenate([np.abs(vectors.dual_coef_[0]), zeros]))):
        sorted_axes.plot(np.sort(values)[::-1] / values.max(), label=name)
    sorted_axes.set(title="sorted |alpha|, relative to the largest")
    sorted_axes.legend()
    save(figure, options.output_dir, "support_values.png")


if __name__ == "__main__":
    main()
