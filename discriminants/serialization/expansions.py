"""Requirements of learners that are sums of kernel columns: kernel, centers, weights and output models."""

from typing import Any

from discriminants.serialization.requirements import check_arrays, check_indices, refuse, sizes_of
from discriminants.util.errors import ModelFormatError


def expansion(learner: Any, n_outputs: str | None = None) -> dict[str, int]:
    """Check kernel, centers and weights; `n_outputs` names the size that the number of weights must match."""
    from discriminants.kernels import Kernel, PrecomputedKernel

    sizes = sizes_of(learner)
    kernel = getattr(learner, "kernel_", None)
    if not isinstance(kernel, Kernel):
        refuse(learner, "kernel_", f"has type {type(kernel).__name__}. Expected a kernel")
    outputs = "weights" if n_outputs is None else n_outputs
    shapes: dict[str, tuple[int | str, ...]] = {
        "basis_centers_": ("centers", 0 if isinstance(kernel, PrecomputedKernel) else "features"),
        "dual_coef_": ("centers", outputs),
        "intercept_": (outputs,),
    }
    check_arrays(learner, shapes, sizes)
    if isinstance(kernel, PrecomputedKernel):
        check_indices(learner, "kernel_.indices", kernel.indices, ("centers",), sizes, below=sizes["features"])
    if kernel.over(learner.basis_centers_[:1])[1].size != 1:
        refuse(learner, "kernel_", "has several columns per center. Expected one")
    check_columns(learner, kernel, sizes["centers"])
    return sizes


def check_columns(learner: Any, kernel: Any, n_centers: int) -> None:
    """Check for one width per center, no string instead of a number, as many columns as centers, and finite values."""
    centers = learner.basis_centers_
    try:
        columns = kernel.columns(centers, centers.dtype)
        if centers.shape[1]:  # none for a precomputed kernel
            columns.block(centers[:1])
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{type(learner).__name__}.kernel_ does not fit the centers: {error}") from error
    if columns.n_centers != n_centers:
        refuse(learner, "kernel_", f"has {columns.n_centers} columns. Expected {n_centers}, one per center")


def output_model(learner: Any, model: Any, sizes: dict[str, int]) -> None:
    """Check an output model of `discriminants.posteriors.output_models` for the learner's number of outputs and
    classes.
    """
    from discriminants.posteriors.output_models import POSTERIORS

    n_outputs, classes = sizes["outputs"], sizes["classes"]
    shapes: dict[str, tuple[int | str, ...]] = {
        "means_": (2, n_outputs),
        "slopes_": (n_outputs,),
        "coef_": (n_outputs, classes),
    }
    if not isinstance(model, tuple(POSTERIORS.values())):
        refuse(learner, "posterior_", f"has type {type(model).__name__}. Expected an output model")
    found = {name: shape for name, shape in shapes.items() if hasattr(model, name)}
    if not found:
        refuse(learner, "posterior_", f"is a {type(model).__name__} without fitted attributes")
    check_arrays(model, found, {})


def classifier(learner: Any) -> None:
    """Check for one output per class (one for two classes), and their output model."""
    sizes = expansion(learner, "outputs")
    output_model(learner, learner.posterior_, sizes)


def logistic(learner: Any) -> None:
    """Check for one output per class, also for two classes, preceded by one per group for grouped classes."""
    groups = getattr(learner, "groups_", None)
    if groups is None:
        expansion(learner, "classes")
        return
    sizes = expansion(learner)
    check_indices(learner, "groups_", groups, ("classes",), sizes, below=sizes["classes"])
    n_groups = int(groups.max()) + 1
    if len(set(groups.tolist())) != n_groups:
        refuse(learner, "groups_", f"has gaps in its group numbers. Expected all numbers below {n_groups}")
    if sizes["weights"] != n_groups + sizes["classes"]:
        wanted = n_groups + sizes["classes"]
        refuse(learner, "dual_coef_", f"has {sizes['weights']} outputs. Expected {wanted}, for groups and classes")


def regressor(learner: Any) -> None:
    """Check any number of outputs; a single one may be a plain number."""
    check_one_column(learner, expansion(learner)["weights"])


def check_one_column(learner: Any, n_outputs: int) -> None:
    """Check the mark of targets given as a plain vector."""
    if not isinstance(learner._one_column, bool) or (learner._one_column and n_outputs != 1):
        refuse(
            learner,
            "_one_column",
            f"is {learner._one_column!r} for {n_outputs} outputs. Expected a bool, True only for one output",
        )


def relevance(learner: Any) -> None:
    """Check a regressor, and the noise and the covariance of weights and bias of each output."""
    regressor(learner)
    sizes = expansion(learner)
    width = sizes["centers"] + 1
    check_arrays(learner, {"covariance_": ("weights", width, width), "noise_variance_": ("weights",)}, sizes)
    if (learner.noise_variance_ < 0).any():
        refuse(learner, "noise_variance_", "has values below 0. Expected numbers of 0 or more")


def directions(transformer: Any) -> None:
    """Check any number of outputs, and optional class means in them."""
    sizes = expansion(transformer)
    if hasattr(transformer, "class_means_"):
        check_arrays(transformer, {"class_means_": ("classes", "weights")}, sizes)


def linear(discriminant: Any) -> None:
    """Check outputs that are linear in the features."""
    sizes = sizes_of(discriminant)
    shapes: dict[str, tuple[int | str, ...]] = {"coef_": ("outputs", "features"), "intercept_": ("outputs",)}
    check_arrays(discriminant, shapes, sizes)
    if discriminant.posterior_ is not None:
        output_model(discriminant, discriminant.posterior_, sizes)


def gaussian_outputs(model: Any) -> None:
    """Check two densities and a prior for every output."""
    pairs: tuple[int | str, ...] = (2, "columns")
    sizes: dict[str, int] = {}
    shapes = {"means_": pairs, "variances_": pairs, "log_priors_": pairs}
    check_arrays(model, shapes, sizes)
