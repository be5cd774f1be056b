"""Online learning with kernel recursive least squares.

    python examples/plot_krls_stream.py [--output-dir DIR]

Samples of a noisy two-dimensional surface arrive in small chunks and are discarded after the update. The dictionary
grows only while the inputs are new. The error continues to fall towards that of ridge regression in the dictionary's
kernels, because every sample updates the weights. Writes `krls_stream.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import KRLSRegressor

N_CHUNKS, CHUNK, NOISE = 100, 50, 0.3


def surface(X: np.ndarray) -> np.ndarray:
    return np.sinc(np.hypot(X[:, 0], X[:, 1]))


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)

    random = np.random.default_rng(0)
    X_test = random.uniform(-3, 3, size=(2000, 2))
    thresholds = (0.1, 0.01, 0.001)
    learners = {nu: KRLSRegressor(nu, sigma=1.0) for nu in thresholds}
    seen = CHUNK * np.arange(1, N_CHUNKS + 1)
    errors: dict[float, list[float]] = {nu: [] for nu in thresholds}
    sizes: dict[float, list[int]] = {nu: [] for nu in thresholds}

    for _ in seen:
        X = random.uniform(-3, 3, size=(CHUNK, 2))
        y = surface(X) + NOISE * random.normal(size=CHUNK)
        for nu, learner in learners.items():
            learner.partial_fit(X, y)
            errors[nu].append(rmse(learner.predict(X_test), surface(X_test)))
            sizes[nu].append(learner.basis_centers_.shape[0])

    figure = Figure(figsize=(13, 4), layout="constrained")
    error_axes, size_axes, map_axes = figure.subplots(1, 3)
    for nu in thresholds:
        error_axes.loglog(seen, errors[nu], label=f"ν = {nu}")
        size_axes.semilogx(seen, sizes[nu], label=f"ν = {nu}")
    error_axes.set(xlabel="samples seen", ylabel="RMSE on the surface without noise", title=f"Noise {NOISE}")
    size_axes.set(xlabel="samples seen", ylabel="centers", title="Dictionary")
    size_axes.legend()
    grid = np.linspace(-3, 3, 80)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    learner = learners[0.01]
    image = map_axes.contourf(grid, grid, learner.predict(points).reshape(80, 80), levels=20)
    map_axes.plot(*learner.basis_centers_.T, "o", mfc="none", mec="white", ms=5)
    map_axes.set(title="Learned surface and centers, ν = 0.01", aspect="equal")
    figure.colorbar(image)
    for nu in thresholds:
        print(f"nu {nu:<6} {sizes[nu][-1]:4d} centers, RMSE {errors[nu][-1]:.4f} after {seen[-1]} samples")
    save(figure, options.output_dir, "krls_stream.png")


if __name__ == "__main__":
    main()
