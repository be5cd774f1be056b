"""KSOD generalizes Fisher's criterion and improves on it for classes of unequal variance.

    python examples/plot_two_parabolas.py [--output-dir DIR]

Figures 1 and 2 of Abdallah, Richard and Lengelle 2004: each class is two noisy parabolas. One class opens along one
axis, the other along the other axis with more noise. The kernel is a polynomial of degree two. The weight rho of the
variances ranges from 0 to 1, each with the threshold of fewest errors on held-out samples. rho = 1/2, the share of each
class, is the kernel Fisher discriminant. The figure shows both boundaries and the held-out error by rho. Writes
`two_parabolas.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import draw_boundary, parser, save, single_threaded
from matplotlib.figure import Figure

from discriminants import KSODClassifier, PolynomialKernel


def two_parabolas(n_samples: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw points (n, 2) and classes (n,)."""
    along = random.uniform(-0.8, 0.8, n_samples)
    side = random.choice([-1.0, 1.0], n_samples)
    y = np.arange(n_samples) % 2
    across = side * (0.5 + 0.5 * along**2 + random.normal(0.0, np.where(y == 1, 0.25, 0.08)))
    X = np.where((y == 1)[:, None], np.stack([along, across], axis=1), np.stack([across, along], axis=1))
    return X, y


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    (X, y), (X_test, y_test) = two_parabolas(400, random), two_parabolas(20_000, random)
    settings = {"kernel": PolynomialKernel(2, gamma=1.0), "regularization": 1e-5, "validation": 0.4, "random_state": 0}
    fisher = KSODClassifier(rho="fisher", **settings).fit(X, y)
    free = KSODClassifier(**settings).fit(X, y)
    figure = Figure(figsize=(11, 5), layout="constrained")
    plane, curve = figure.subplots(1, 2)
    for label in (0, 1):
        plane.plot(*X[y == label].T, ".", ms=4, color=f"C{label}")
    for name, model, line in (("Fisher", fisher, "dashed"), ("KSOD", free, "solid")):
        error = 100 * (1 - model.score(X_test, y_test))
        print(f"{name:7} rho {model.rho_[0]:.2f}: {error:.2f} % test error")
        draw_boundary(plane, model.decision_function, (-1.6, 1.6), (-1.6, 1.6), colors="k", linestyles=line)
        plane.plot([], [], "k", linestyle=line, label=f"{name}, rho {model.rho_[0]:.2f}: {error:.1f} %")
    plane.legend()
    plane.set(aspect="equal", title="Boundaries and test errors")
    rhos = np.linspace(0, 1, free.held_out_errors_.shape[1])
    curve.plot(rhos, 100 * free.held_out_errors_[0], "k.-")
    curve.axvline(0.5, color="gray", linestyle="dashed")
    curve.set(xlabel="rho", ylabel="held-out error %", title="The family of criteria; dashed: Fisher's")
    save(figure, options.output_dir, "two_parabolas.png")


if __name__ == "__main__":
    main()
