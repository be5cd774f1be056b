"""Documentation of the public estimators, most of which is collected from their bases."""

import inspect
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import discriminants
from discriminants.util.estimator import estimator, field

ESTIMATORS = [name for name in discriminants.__all__ if hasattr(getattr(discriminants, name), "get_params")]


def entries(kind: Any, section: str) -> list[tuple[str, str, str]]:
    """Name, type and text of each entry of a section of a docstring."""
    found = re.search(rf"\n{section}\n-+\n(.*?)(\n\n\w[\w ]*\n---|\Z)", inspect.getdoc(kind) or "", re.DOTALL)
    blocks = re.split(r"\n(?=\S)", found[1].strip("\n")) if found else []
    heads = [(*block.partition("\n")[0].partition(" : ")[::2], block.partition("\n")[2]) for block in blocks]
    return [(name, kind, text.strip()) for names, kind, text in heads for name in names.split(", ")]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_documents_every_parameter_once(name: str) -> None:
    kind = getattr(discriminants, name)
    documented = entries(kind, "Parameters")
    assert sorted(name for name, _, _ in documented) == sorted(inspect.signature(kind).parameters)
    assert not [name for name, _, text in documented if not text]


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if hasattr(getattr(discriminants, name), "fit")])
def test_fit_documents_every_argument_once(name: str) -> None:
    fit = getattr(discriminants, name).fit
    documented = [name.lstrip("*") for name, _, _ in entries(fit, "Parameters")]
    assert sorted(documented) == sorted(inspect.signature(fit).parameters.keys() - {"self"})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_documents_every_attribute_once(name: str) -> None:
    names = [name for name, _, _ in entries(getattr(discriminants, name), "Attributes")]
    assert len(names) == len(set(names))


@estimator
class Base:
    """Base.

    Parameters
    ----------
    first : int
        Of the base.
    second : {"a", "b"}
        Also of the base.
    """

    first: int = field(default=1, kw_only=False)
    second: str = "a"


@estimator
class Derived(Base):
    """Derived (Mika 2002, 3.1).

    Parameters
    ----------
    first
        More.
    second : {"b"}
    third : float, optional
        Of its own.
    """

    second: str = "b"
    third: float | None = None
    learned_: int = field(init=False)

    def fit(self, X: np.ndarray) -> None:
        """Learn.

        Raises
        ------
        ValueError
            For an empty X.
        """


def test_derived_estimator_completes_inherited_entries() -> None:
    assert entries(Derived, "Parameters") == [
        ("first", "int, default=1", "Of the base.\n    More."),
        ("second", '{"b"}, default="b"', "Also of the base."),
        ("third", "float, default=None", "Of its own."),
    ]
    assert str(inspect.signature(Derived)).startswith("(first: int = 1, *, second: str = 'b'")
    assert vars(Derived()) == {"first": 1, "second": "b", "third": None}
    text = "Samples; sparse if learner and kernel support it."
    assert entries(Derived.fit, "Parameters") == [("X", "array-like of shape (n_samples, n_features)", text)]
    assert entries(Derived.fit, "Raises")[0][2].endswith("parameters out of range.\n    For an empty X.")
    assert "S. Mika, Kernel Fisher Discriminants" in (Derived.__doc__ or "")


@pytest.mark.slow
def test_estimators_work_without_docstrings() -> None:
    code = "from discriminants import NPDClassifier, KRLSRegressor as R; print(NPDClassifier(3).n_centers, R.__doc__)"
    found = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("3 ")
