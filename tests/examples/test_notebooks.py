"""The notebooks run, and the checks of the course fail without solutions and pass with them."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
LESSONS = sorted((EXAMPLES / "course").glob("*.ipynb"))
EXERCISE = re.compile(r"# Exercise (\d\.\d)\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Working directory of the lessons, which share the corpus."""
    if find_spec("espeakng_loader") is None:
        pytest.skip("needs the extra synth")
    made = tmp_path_factory.mktemp("course")
    shutil.copy(EXAMPLES / "course" / "speech.py", made)
    return made


def failed_cells(notebook: nbformat.NotebookNode, folder: Path) -> dict[str, str]:
    """Execute a notebook; return the first line of each cell that fails, with its error."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, allow_errors=True, resources=resources).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {
        cell.source.split("\n")[0]: output.ename
        for cell in cells
        for output in cell.outputs
        if output.output_type == "error"
    }


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_checks_of_lesson_pass_only_with_solutions(path, folder):
    text = (EXAMPLES / "course" / "solutions.md").read_text(encoding="utf-8")
    solutions = dict(re.findall(r"^### (\d\.\d)\n\n```python\n(.*?)```", text, re.MULTILINE | re.DOTALL))
    lesson = nbformat.read(path, as_version=4)
    exercises = [found[1] for cell in lesson.cells if (found := EXERCISE.match(cell.source))]
    assert 3 <= len(exercises) <= 5
    assert exercises == [name for name in solutions if name.startswith(path.name[0])]
    assert set(failed_cells(lesson, folder)) == {f"# Check {name}" for name in exercises}
    for cell in lesson.cells:
        if found := EXERCISE.match(cell.source):
            cell.source = solutions[found[1]]
    assert failed_cells(lesson, folder) == {}


def test_notebook_trains_and_recognizes(folder):
    notebook = nbformat.read(EXAMPLES / "notebooks" / "digits.ipynb", as_version=4)
    assert failed_cells(notebook, folder) == {}
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ()))
    assert float(re.search(r"([\d.]+) % WER, 95 %", printed)[1]) < 20
    pictures = [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 6


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not [cell for cell in cells if cell.outputs or cell.execution_count]
