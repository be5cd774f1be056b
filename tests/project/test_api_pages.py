"""Every public name has a complete docstring, whose example runs."""

import doctest
import inspect
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import soundfile
from sklearn.base import BaseEstimator

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))

from public_names import PACKAGES, public_members, public_names

NAMES = [(f"{package}.{name}", item) for package in PACKAGES for name, item in public_names(package).items()]


def has(section: str, docstring: str) -> bool:
    return f"\n{section}\n{'-' * len(section)}\n" in docstring


def undocumented(call: Any, docstring: str) -> list[str]:
    """Return the parameters of a function or class that its docstring does not list."""
    listed = {
        name.strip(" *")
        for line in docstring.splitlines()
        if line and not line.startswith(" ")
        for name in line.partition(" : ")[0].split(",")
    }
    parameters = inspect.signature(call).parameters.values()
    return [each.name for each in parameters if each.name not in {*listed, "self", "cls"} and each.kind not in (2, 4)]


def faults(item: Any) -> list[str]:
    docstring = inspect.getdoc(item) or ""
    kind, found = inspect.isclass(item), []
    if not docstring.partition("\n\n")[0].rstrip().endswith((".", ":")):
        found.append("no summary that is a sentence")
    if not (kind and issubclass(item, Exception)):
        found += [f"parameter {name} is not described" for name in undocumented(item, docstring)]
        found += ["no Examples"] * (not has("Examples", docstring))
    if not kind and inspect.signature(item).return_annotation not in (None, "None"):
        found += ["no Returns"] * (not has("Returns", docstring) and not has("Yields", docstring))
    if kind and issubclass(item, BaseEstimator):
        found += ["no See Also"] * (not has("See Also", docstring))
    if kind:
        for name, method in public_members(item).items():
            doc = inspect.getdoc(method) or ""
            found += [f"{name}: parameter {each}" for each in undocumented(method, doc) if f"`{each}`" not in doc]
    return found


@pytest.mark.parametrize(("name", "item"), NAMES, ids=[name for name, _ in NAMES])
def test_docstring_of_a_public_name_is_complete(name: str, item: Any) -> None:
    assert not faults(item)


def needs_model(item: Any) -> bool:
    return any(name in (inspect.getdoc(item) or "") for name in ("model.safetensors", '"data/t'))


def failed_examples(names: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]) -> str:
    """Run the examples in this folder; return what doctest reports of failures."""
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for name, item in names:
        runner.run(parser.get_doctest(inspect.getdoc(item) or "", {}, name, name, 0))
    assert runner.tries >= 3 * len(names) - 10
    return capsys.readouterr().out if runner.failures else ""


@pytest.mark.slow
def test_examples_without_a_model_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert not failed_examples([(name, item) for name, item in NAMES if not needs_model(item)], capsys)


@pytest.mark.slow
def test_examples_with_a_model_run(toy_corpus, toy_model, tmp_path, monkeypatch, capsys):
    for name in ("model.safetensors", "gmm.safetensors"):
        shutil.copy(toy_model.with_name(name), tmp_path)
    shutil.copytree(toy_corpus, tmp_path, dirs_exist_ok=True)
    for split in ("train", "test"):
        shutil.copytree(toy_corpus / split, tmp_path / "data" / split)
    shutil.copytree(toy_corpus / "audio", tmp_path / "data" / "audio")
    samples, rate = soundfile.read(tmp_path / "audio" / "test" / "test0-000.wav", dtype="int16")
    soundfile.write(tmp_path / "speech.flac", samples, rate)
    monkeypatch.chdir(tmp_path)
    assert not failed_examples([(name, item) for name, item in NAMES if needs_model(item)], capsys)
