"""Kernel canonical correlation of two views of the same samples, on training and test samples.

    python examples/plot_two_views.py [--output-dir DIR]

The first view is a noisy point on a circle, the second the cosine of twice its angle and a feature of pure noise. They
have no linear relation. The figure shows the correlation of the first pair of scores on training and test samples, for
growing penalties. Writes `two_views.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, save, single_threaded
from matplotlib.figure import Figure

from discriminants import KernelCCA

PENALTIES = np.logspace(-5, 1, 13)


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)

    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 300)
    first = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * random.normal(size=(300, 2))
    second = np.column_stack([np.cos(2 * angle), random.normal(size=300)]) + 0.1 * random.normal(size=(300, 2))
    train, other = slice(0, 150), slice(150, None)

    def correlation(model: KernelCCA, rows: slice) -> float:
        scores, others = model.transform(first[rows], second[rows])
        return abs(float(np.corrcoef(scores[:, 0], others[:, 0])[0, 1]))

    models = [
        KernelCCA(1, sigma=1.0, y_sigma=1.0, regularization=penalty).fit(first[train], second[train])
        for penalty in PENALTIES
    ]
    found = np.array([[correlation(model, rows) for rows in (train, other)] for model in models])
    linear = KernelCCA(1, kernel="linear", y_kernel="linear").fit(first[train], second[train])
    best = int(found[:, 1].argmax())
    print(f"linear: correlation {correlation(linear, other):.3f} on other samples")
    print(f"least penalty: correlation {found[0, 0]:.3f} on the training samples, {found[0, 1]:.3f} on others")
    print(
        f"penalty {PENALTIES[best]:.3g}: correlation {found[best, 0]:.3f} on the training "
        f"samples, {found[best, 1]:.3f} on others"
    )

    figure = Figure(figsize=(13, 4), layout="constrained")
    view_axes, score_axes, penalty_axes = figure.subplots(1, 3)
    scores, others = models[best].transform(first[other], second[other])
    view_axes.scatter(*first[other].T, c=scores[:, 0], s=12)
    view_axes.set(title="first view (color: its score)", aspect="equal")
    score_axes.plot(scores[:, 0], others[:, 0], ".")
    score_axes.set(title="scores of other samples", xlabel="first view", ylabel="second view")
    for column, label in enumerate(("training samples", "other samples")):
        penalty_axes.semilogx(PENALTIES, found[:, column], "o-", label=label)
    penalty_axes.set(xlabel="regularization", ylabel="correlation", ylim=(0, 1.02))
    penalty_axes.legend()
    save(figure, options.output_dir, "two_views.png")


if __name__ == "__main__":
    main()
