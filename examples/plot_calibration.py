"""Calibration of the posteriors of sparse discriminants.

    python examples/plot_calibration.py [--output-dir DIR]

The data are two classes of two Gaussians each, after Ripley's synthetic problem, and scikit-learn's digits. Every
method that turns outputs into posteriors is fitted on the training samples and evaluated on test samples. The measures
are log loss, Brier score, and the reliability curve (the share of samples with posterior p that belong to the class,
shown in the figure). Writes `calibration.png`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gallery import parser, ripley_mixture, save, single_threaded
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from discriminants import OROLSClassifier, SparseKernelLogisticClassifier
from discriminants.posteriors.calibration import brier_score, log_loss, plot_reliability, reliability_curve


def learners(n_centers: int, sigma: Any, alpha: float) -> Iterator[tuple[str, Any]]:
    for posterior in ("gaussian", "platt", "multinomial"):
        yield (
            f"least squares, {posterior}",
            OROLSClassifier(n_centers, sigma=sigma, criterion=None, posterior=posterior, random_state=0),
        )
    yield (
        "logistic loss",
        SparseKernelLogisticClassifier(n_centers, sigma=sigma, alpha=alpha, solver="irls", random_state=0),
    )


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)

    random = np.random.default_rng(0)
    digits = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)
    problems = {
        "two classes": ((*ripley_mixture(250, random), *ripley_mixture(5000, random)), 10),
        "digits": ((digits[0], digits[2], digits[1], digits[3]), 20),
    }
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    for ax, (title, ((X, y, X_test, y_test), n_centers)) in zip(figure.subplots(1, 2), problems.items(), strict=True):
        print(f"{title}\n{'':29}errors %  log loss  Brier  calibration error")
        for name, learner in learners(n_centers, 0.5 if title == "two classes" else 25.0, 1e-5):
            proba = learner.fit(X, y).predict_proba(X_test)
            label = 1 if title == "two classes" else None
            curve = reliability_curve(y_test, proba, label=label)
            plot_reliability(curve, ax=ax, name=name)
            print(
                f"{name:29}{100 * (1 - learner.score(X_test, y_test)):8.2f}  {log_loss(y_test, proba):8.3f}"
                f"  {brier_score(y_test, proba):5.3f}  {curve.expected_error:17.3f}"
            )
        ax.set_title(f"{title}: {'posterior of class 1' if len(np.unique(y)) == 2 else 'posterior of the winner'}")
    save(figure, options.output_dir, "calibration.png")


if __name__ == "__main__":
    main()
