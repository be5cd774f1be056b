"""Table ida-kfd: the Fisher family on thirteen two-class sets (Mika 2002, tables 5.3 to 5.5)."""

from dataclasses import dataclass, replace
from pathlib import Path

from discriminants.fisher.kfd import KFDClassifier
from discriminants.fisher.sparse_kfd import SparseKFDClassifier
from recipes.benchmarks.datasets import two_class_problem
from recipes.benchmarks.model_choice import Search, grid
from recipes.benchmarks.partitions import REPEATS, SMALL
from recipes.benchmarks.partitions import TABLE as PARTITIONS
from recipes.benchmarks.peers import svc_search
from recipes.benchmarks.problem import Problem
from recipes.benchmarks.study import Study, Table, widths


@dataclass(frozen=True)
class _Grids:
    """Candidate settings; widths in multiples of the root of the summed variance."""

    multiples: tuple[float, ...]
    regularizations: tuple[float, ...]
    sparse_multiples: tuple[float, ...]
    squared: tuple[float, ...]
    absolute: tuple[float, ...]
    costs: tuple[float, ...]
    n_partitions: int | None = None


FULL = _Grids(
    multiples=tuple(2.0 ** (k / 2) for k in range(-4, 5)),
    regularizations=tuple(10.0 ** (k / 2) for k in range(-6, 5)),
    sparse_multiples=tuple(2.0 ** (k / 2) for k in range(-4, 4)),
    squared=tuple(10.0 ** (k / 4) for k in range(-4, 5)),
    absolute=tuple(10.0 ** (k / 4) for k in range(-4, 7)),
    costs=tuple(10.0 ** (k / 2) for k in range(-2, 7)),
)
QUICK = _Grids(
    multiples=(0.5, 1.0),
    regularizations=(0.1, 1.0),
    sparse_multiples=(0.5, 1.0),
    squared=(1.0,),
    absolute=(1.0,),
    costs=(1.0, 10.0),
    n_partitions=3,
)

LARGE, LARGE_CHOICE = 700, 2  # above LARGE training samples, LARGE_CHOICE training parts choose, not five
THRESHOLD = "soft_margin"


def open_study(path: Path, name: str, quick: bool) -> Study:
    """Return the data set with its searches."""
    grids = QUICK if quick else FULL
    problem = two_class_problem(path)
    if grids.n_partitions is not None:
        problem = Problem(problem.X, problem.y, problem.partitions[: grids.n_partitions])
    n_train = problem.partitions[0].train.shape[0]
    step = 2 if n_train > LARGE else 1  # step in the grid of C, because small values take minutes on large sets
    sigmas, sparse_sigmas = widths(problem, grids.multiples), widths(problem, grids.sparse_multiples)
    dense = KFDClassifier(penalty="identity", threshold=THRESHOLD, calibrate_on="leave_label_out")
    squared = SparseKFDClassifier(loss="squared", threshold=THRESHOLD)
    absolute = SparseKFDClassifier(loss="absolute", threshold=THRESHOLD)
    family = (
        Search("kfd", dense, grid(sigma=sigmas, regularization=grids.regularizations)),
        Search("skfd", squared, grid(sigma=sparse_sigmas, regularization=grids.squared[::step])),
        Search("lskfd", absolute, grid(sigma=sparse_sigmas, regularization=grids.absolute[::step])),
    )
    by_neighbours = tuple(replace(search, by="smoothed_loss") for search in family)
    searches = (*by_neighbours, svc_search(sigmas, grids.costs))
    repeats = REPEATS if n_train <= SMALL and not quick else 1
    return Study(problem, searches, n_choice=LARGE_CHOICE if n_train > LARGE else 5, repeats=repeats)


TABLE = Table(
    number="ida-kfd",
    title="The Fisher family on thirteen two-class benchmarks (Mika 2002)",
    unit="test error %",
    value=PARTITIONS.value,
    data=PARTITIONS.data,
    file=PARTITIONS.file,
    methods=("kfd", "skfd", "lskfd", "svm"),
    notes=(
        (
            "Mean test error and standard deviation over the partitions of each set (100; 20 for image and splice), "
            "data unchanged. The standard deviation of the source is ten times its printed deviation of the mean. In "
            "brackets: kernel evaluations per prediction, in % of the training samples. The source has ten of the "
            "sets."
        ),
        (
            "Penalties: mu alpha'alpha for KFD, C sum |alpha| for SKFD (squared slacks) and LSKFD (absolute slacks). "
            "Thresholds: a one-dimensional soft-margin machine, on leave-one-out outputs for KFD and on training "
            "outputs for the others. In LSKFD the mean output of each class is its target. Width and mu or C (SVM: "
            "width and C) minimize the total error of five-fold cross-validation on the first five training "
            f"partitions (image and splice: the first {LARGE_CHOICE}, with every second C of SKFD and LSKFD). The "
            "errors of the discriminants, but not of the SVM, are averaged over neighboring settings of the grid. "
            f"Sets with at most {SMALL} training samples use {REPEATS} random divisions into folds. The source uses "
            "the median of the five choices."
        ),
        "Most partitions are new; only some of the original ones are still available.",
    ),
    study=open_study,
)
