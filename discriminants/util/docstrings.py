"""Completion of docstrings from base classes and shared descriptions, similar to matplotlib's interpolation."""

from collections.abc import Iterable, Sequence
from inspect import Parameter, cleandoc
from typing import NamedTuple

_ORDER = ["", "Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also", "Notes", "References", "Examples"]

SHARED_BY_CLASSES = """
Parameters
----------
kernel : str, Kernel or callable
    "gaussian", "ard_gaussian", "laplacian", "exponential", "compact_gaussian", "polynomial", "sigmoid", "linear",
    "precomputed"; a kernel object, which brings parameters of its own; or a function of two arrays that returns the
    kernel matrix.
sigma : float, "scale" or ndarray of shape (n_samples,)
    Width of a kernel given by name, in the units of X; "scale" is the root of the summed feature variances. An array
    gives each sample a width of its own.
penalty : {"identity", "kernel"}
    P of a penalty mu alpha'P alpha: the identity (Mika 2002), or the kernel values among the centers, so that the
    penalty is the squared norm in the space of the kernel (Suykens et al. 2002). The second needs a symmetric kernel
    without large negative eigenvalues.
max_samples_per_class : int, optional
    Most training samples of a class, drawn at random; None takes all. Class priors are those of all samples.
posterior : {"gaussian", "platt", "multinomial"}
    How outputs become posteriors (`discriminants.posteriors.output_models`): by normal densities (Andelic 2007); by a
    sigmoid of each; or by a multinomial logistic layer on all of them.
random_state : int, RandomState or None
    Seed or generator of the random numbers.
"""
"""Parameters with the same meaning in classes without a common base."""

SHARED_BY_METHODS = """
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Samples; sparse if learner and kernel support it.
y : array-like of shape (n_samples,)
    Classes or outputs of the samples.
sample_weight : array-like of shape (n_samples,), optional
    v >= 0: a sample of weight two is as two equal samples, one of weight zero as none.
classes : array-like of shape (n_classes,), optional
    All classes; needed in the first call only.
"""
"""Arguments of the methods of estimators."""

SHARED_BY_FITS = """
Raises
------
ValueError
    For NaN or infinite input, shapes that do not fit, or parameters out of range.
"""
"""Errors of `fit` and `partial_fit`."""

_DATA = {
    "Classifier": [">>> from sklearn.datasets import load_iris", ">>> X, y = load_iris(return_X_y=True)"],
    "Regressor": [">>> import numpy as np", ">>> X = np.linspace(-3, 3, 60)[:, None]", ">>> y = np.sin(X[:, 0])"],
}
_SHOWN = {
    "Classifier": [">>> {name}().fit(X, y).predict(X[:3])", "array([0, 0, 0])"],
    "Regressor": [">>> bool({name}().fit(X, y).score(X, y) > 0.9)", "True"],
}

_REFERENCES = {
    "Andelic 2007": "E. Andelic, Sparse Nonlinear Discriminants, dissertation, Magdeburg 2007.",
    "Mika 2002": "S. Mika, Kernel Fisher Discriminants, dissertation, Berlin 2002.",
    "Suykens et al. 2002": "J. Suykens et al., Least Squares Support Vector Machines, World Scientific 2002.",
}


class _Entry(NamedTuple):
    """Names with the same type and text."""

    names: list[str]
    kind: str
    text: list[str]


def completed(docs: Sequence[str | None], parameters: Iterable[Parameter]) -> str:
    """Return the first docstring, completed with entries of the following ones and with defaults of parameters.

    An entry without text inherits it; one without a type adds its text to the inherited one. References come from the
    first docstring that has some, and from citations of the works in `_REFERENCES`. Other sections come from the first
    docstring only.
    """
    sections = [_sections(cleandoc(doc or "")) for doc in docs]
    parts = sections[0] | {"References": next((each["References"] for each in sections if "References" in each), [])}
    of_parameters = [_entries(each.get("Parameters", [])) for each in sections]
    parts["Parameters"] = [line for each in parameters for line in _parameter_lines(each, of_parameters)]
    for title in ("Attributes", "Raises"):
        found = [_entries(each.get(title, [])) for each in sections]
        names = dict.fromkeys(name for entries in found for entry in entries for name in entry.names)
        parts[title] = [line for name in names for line in _lines(name, *_described(name, found))]
    words = " ".join(" ".join(line for part in parts.values() for line in part).replace("(", " ").split())
    parts["References"] = parts["References"] + [text for key, text in _REFERENCES.items() if key in words]
    texts = {title: "\n".join(parts[title]).rstrip() for title in sorted(parts, key=_ORDER.index)}
    return "\n\n".join(
        f"{title}\n{'-' * len(title)}\n{text}" if title else text for title, text in texts.items() if text
    )


def with_example(doc: str, name: str, *, regressor: bool) -> str:
    """Return the docstring of an estimator with an example.

    An example of its own without imports is that of data of the estimator's kind. Without one, the default parameters
    are shown.
    """
    kind = "Regressor" if regressor else "Classifier"
    head, _, own = cleandoc(doc).partition("\nExamples\n--------\n")
    if "import" not in own:
        shown = own.splitlines() or [line.format(name=name) for line in _SHOWN[kind]]
        own = "\n".join([*_DATA[kind][:1], f">>> from discriminants import {name}", *_DATA[kind][1:], *shown])
    return f"{head.rstrip()}\n\nExamples\n--------\n{own}"


def _sections(doc: str) -> dict[str, list[str]]:
    """Return the lines below each heading of a docstring; those before the first heading are below ""."""
    lines, title = doc.splitlines() or [""], ""
    found: dict[str, list[str]] = {title: []}
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below.startswith("---"):
            title = line
            found[title] = []
        elif not line.startswith("---"):
            found[title].append(line)
    return {title: "\n".join(section).rstrip().splitlines() for title, section in found.items()}


def _entries(lines: list[str]) -> list[_Entry]:
    found: list[_Entry] = []
    for line in lines:
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found.append(_Entry(names.split(", "), kind, []))
        elif found:
            found[-1].text.append(line)
    return found


def _described(name: str, sources: list[list[_Entry]]) -> tuple[str, list[str]]:
    """Return the type and text of a name, from the first of the sources that describes it."""
    for i, entries in enumerate(sources):
        for entry in entries:
            if name in entry.names:
                if entry.kind and entry.text:
                    return entry.kind, entry.text
                kind, text = _described(name, sources[i + 1 :])
                return entry.kind or kind, text + entry.text
    return "", []


def _parameter_lines(parameter: Parameter, sources: list[list[_Entry]]) -> list[str]:
    kind, text = _described(parameter.name, sources)
    if parameter.default is not Parameter.empty:
        default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        kind = f"{kind.removesuffix(', optional')}, default={default}".removeprefix(", ")
    return _lines(parameter.name, kind, text)


def _lines(name: str, kind: str, text: list[str]) -> list[str]:
    return [f"{name} : {kind}" if kind else name, *text]
