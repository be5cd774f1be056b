"""Choice of the number of centers by generalized cross-validation, information criteria and cross-validation.

    python examples/plot_choosing_m.py [--output-dir DIR]

Least squares on selected kernels (NPD) overfits with too many centers. One forward selection contains the models of all
sizes, so each criterion takes almost no time; five-fold cross-validation takes five more selections. The curves come
from the selection path; a learner with `criterion=` does the same and keeps the best size. Writes `choosing_m.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure
from sklearn.model_selection import KFold

from discriminants import GaussianKernel, NPDRegressor
from discriminants.center_selection.forward.model_size import CRITERIA
from discriminants.center_selection.forward.path import SelectionPath

SIGMA, NOISE, LARGEST = 0.6, 0.3, 60


def surface(X: np.ndarray) -> np.ndarray:
    return np.sin(2 * X[:, 0]) * np.cos(2 * X[:, 1])


def path_of(X: np.ndarray, y: np.ndarray) -> SelectionPath:
    learner = NPDRegressor(LARGEST)
    _, _, paths = learner.selection_paths(X, y[:, None], kernel=GaussianKernel(SIGMA), random=np.random.RandomState(0))
    return paths[0]


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    random = np.random.default_rng(0)
    X, X_test = random.uniform(-2, 2, size=(300, 2)), random.uniform(-2, 2, size=(2000, 2))
    y, truth = surface(X) + NOISE * random.normal(size=300), surface(X_test)

    sizes = range(1, LARGEST + 1)
    path = path_of(X, y)
    curves = {
        name: np.array([criterion(path.system(m), path.lam(m)) for m in sizes]) for name, criterion in CRITERIA.items()
    }
    squared = np.zeros(LARGEST)
    for train, held_out in KFold(5, shuffle=True, random_state=0).split(X):
        outputs = path_of(X[train], y[train]).outputs(X[held_out], sizes)
        squared += [float(((output[:, 0] - y[held_out]) ** 2).sum()) for _, output in outputs]
    curves["cv"] = squared / X.shape[0]
    test = np.array([rmse(output[:, 0], truth) for _, output in path.outputs(X_test, sizes)])

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    right.plot(sizes, test, "k")
    print(f"{'best on test':12} {test.argmin() + 1:3d} centers, test RMSE {test.min():.4f}")
    for name, curve in curves.items():
        best = int(curve.argmin())
        (line,) = left.plot(sizes, (curve - curve.min()) / (np.quantile(curve, 0.9) - curve.min()), label=name.upper())
        left.plot(best + 1, 0.0, "o", color=line.get_color())
        right.plot(best + 1, test[best], "o", color=line.get_color(), label=f"{name.upper()}: {best + 1} centers")
        learner = NPDRegressor(LARGEST, sigma=SIGMA, criterion=name, random_state=0).fit(X, y)
        print(
            f"{name.upper():12} {best + 1:3d} centers, test RMSE {test[best]:.4f};"
            f" NPDRegressor(criterion={name!r}) keeps {learner.n_centers_[0]}"
        )
    print(f"{'all':12} {LARGEST:3d} centers, test RMSE {test[-1]:.4f}")
    left.set(xlabel="centers", title="Criteria, shifted and scaled", ylim=(-0.1, 1.5))
    right.set(xlabel="centers", title="RMSE on noise-free test points", yscale="log")
    left.legend()
    right.legend()
    save(figure, options.output_dir, "choosing_m.png")


if __name__ == "__main__":
    main()
