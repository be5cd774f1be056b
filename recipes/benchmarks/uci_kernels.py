"""Table uci-kernels: linear and polynomial kernels and Fisher's targets (Suykens et al. 2002, tables 3.3 and 3.4)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from discriminants.kernels import GaussianKernel, LinearKernel, PolynomialKernel
from discriminants.lssvm.lssvm import LSSVMClassifier
from discriminants.lssvm.shrinking_grid import ShrinkingGridSearchCV
from discriminants.multiclass.one_vs_rest import winners
from discriminants.multiclass.output_codes import class_scores
from recipes.benchmarks.lssvm_uci import CHOICE_SAMPLES, FILES, FULL, SIZES, PartFolds, open_problem
from recipes.benchmarks.model_choice import Search
from recipes.benchmarks.study import Study, Table

_MULTIPLES = (4.0, 2.0, 1.0, 0.5, 0.25)  # widths in multiples of the root of the number of features
_DEGREES = (2, 3, 5)
_SCALES = (0.01, 0.1, 1.0)  # of the scalar product, divided by the number of features
_COSTS = [0.01, 0.1, 1.0, 10.0]
_FOLDS = 5


class Whole(PartFolds):
    """The part of `PartFolds` as training and as held-out part, for a score by leaving out."""

    def __init__(self, n_samples: int) -> None:
        super().__init__(2, n_samples)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        return 1

    def split(self, X: Any, y: np.ndarray, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the part twice."""
        rows = np.sort(np.concatenate(next(iter(super().split(X, y)))))
        yield rows, rows


def left_out_accuracy(pipeline: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the leave-one-out accuracy of the last step, an `LSSVMClassifier`, on its training samples."""
    machine = pipeline[-1]
    scores = class_scores(machine.leave_one_out_outputs_, machine.code_, machine.decoding)
    return float(np.mean(machine.classes_[winners(scores)] == y))


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with its searches."""
    problem = open_problem(path, name, quick)
    n = problem.X.shape[1]
    grids: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "": (GaussianKernel(1.0), {"sigma": [float(np.sqrt(n) * multiple) for multiple in _MULTIPLES]}),
        "-lin": (LinearKernel(), {}),
        "-pol": (PolynomialKernel(theta=1.0), {"degree": list(_DEGREES), "gamma": [s / n for s in _SCALES]}),
    }

    def search(method: str, estimator: Any, first: dict[str, list[Any]], **options: Any) -> Search:
        steps = Pipeline([("scale", StandardScaler()), ("machine", estimator)])
        grid = {f"machine__{parameter}": values[:2] if quick else values for parameter, values in first.items()}
        return Search(method, ShrinkingGridSearchCV(steps, grid, n_refinements=0, **options))

    searches = []
    for suffix, (kernel, first) in grids.items():
        for target, threshold in (("", "least_squares"), ("-f", "fisher_targets")):
            machine = LSSVMClassifier(
                kernel=kernel, coding="one-vs-one", threshold=threshold, posterior="gaussian", decide_by="output"
            )
            named = {f"kernel__{parameter}": values for parameter, values in first.items()}
            own_grid = named or {"regularization": list(FULL.regularizations)}
            options = {"cv": Whole(CHOICE_SAMPLES), "scoring": left_out_accuracy}
            searches.append(search(f"lssvm{suffix}{target}", machine, own_grid, **options))
    by_folds = PartFolds(2 if quick else _FOLDS, CHOICE_SAMPLES)
    searches.append(search("svm-lin", SVC(kernel="linear"), {"C": _COSTS}, cv=by_folds))
    return Study(problem, tuple(searches[1:]))  # the first is a column of table lssvm-uci


DATA = tuple(name for name in SIZES if name != "adu")

TABLE = Table(
    number="uci-kernels",
    title="Other kernels and Fisher's targets on twelve UCI sets (Suykens et al. 2002)",
    unit="test accuracy %",
    value=lambda losses: 100.0 - 100.0 * np.asarray(losses),
    data=DATA,
    file={name: file for name, file in FILES.items() if name in DATA},
    methods=("lssvm-f", "lssvm-lin", "lssvm-lin-f", "lssvm-pol", "lssvm-pol-f", "svm-lin"),
    notes=(
        (
            "Draws and scaling are those of table lssvm-uci; more than two classes one against one. F is the machine "
            "with the targets of Fisher's discriminant, which moves the thresholds. Pairs of equal classes have the "
            "same thresholds with both targets, so the source's low figures of F for several classes are not explained."
        ),
        (
            "Each draw chooses the penalty of the LS-SVM among 17 by the squared leave-one-out residuals. Width, or "
            "degree (2, 3 or 5) and scale of the polynomial, have the best leave-one-out accuracy on at most "
            f"{CHOICE_SAMPLES} training samples, as the penalty with a linear kernel. C of the SVM: {_FOLDS} folds of "
            "as many. The source searches finer grids by ten folds, with degrees 2 to 10, for each pair of classes. "
            "Settings shown are medians."
        ),
    ),
    study=open_study,
)
