"""What the guides of the learners show runs, and their tables name what there is."""

import re
import runpy
from pathlib import Path

import pytest

import discriminants
from discriminants.kernels.named import NAMED

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("discriminants.md", "fisher.md", "least-squares-svm.md", "bayesian-lssvm.md", "large-scale.md")
GUIDE, FISHER, LSSVM, BAYESIAN, LARGE = ((DOCS / name).read_text(encoding="utf-8") for name in PAGES)


def run_code(page: str, folder: Path) -> None:
    """Run all code of a page as one script."""
    blocks = re.findall(r"<!-- code -->\n\n```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == page.count("```python")
    script = folder / "guide.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    runpy.run_path(str(script))


@pytest.mark.slow
def test_the_code_of_the_fisher_family_runs_from_top_to_bottom(tmp_path, capsys):
    run_code(FISHER, tmp_path)
    printed = capsys.readouterr().out
    assert float(re.findall(r"test error ([\d.]+)", printed)[0]) < 0.03
    losses = [float(loss) for loss in re.findall(r"(?:training|leave_one_out) ([\d.]+)", printed)]
    assert losses[1] < losses[0]
    plain, still, virtual = (float(score) for score in re.findall(r"^invariance .* ([\d.]+)$", printed, re.MULTILINE))
    assert min(still, virtual) > plain


@pytest.mark.slow
def test_the_code_of_the_least_squares_machines_runs_from_top_to_bottom(tmp_path, capsys):
    run_code(LSSVM, tmp_path)
    printed = capsys.readouterr().out
    expected, found = re.search(r"error expected ([\d.]+) of new samples ([\d.]+)", printed).groups()
    assert abs(float(expected) / float(found) - 1) < 0.1
    scores = [float(score) for score in re.findall(r"tasks ([\d.]+)", printed)]
    assert len(scores) == 4
    assert min(scores) > 0.97
    plain, weighted = (float(distance) for distance in re.findall(r"Regressor off by ([\d.]+)", printed))
    assert weighted < plain / 2
    left, accuracy = re.search(r"(\d+) of 200 samples are left, accuracy ([\d.]+)", printed).groups()
    assert int(left) < 100
    assert float(accuracy) > 0.85
    assert all(float(off) < 0.01 for off in re.findall(r"(?:steps|ahead) off by ([\d.e-]+)", printed))
    assert abs(float(re.search(r"views (-?[\d.]+)", printed)[1])) > 0.9
    assert float(re.search(r"reconstructed to ([\d.]+)", printed)[1]) < 0.1

    trained, left_out = re.findall(r"calibrated on \w+ loss ([\d.]+)", printed)
    assert float(left_out) < 0.8 * float(trained)
    free, by_step = re.search(r"by free run ([\d.]+) by one step ([\d.]+)", printed).groups()
    assert float(free) < float(by_step) / 2

    steps = re.search(r"first step ([\d.]+) and of the twentieth ([\d.]+)", printed)
    first, last = (float(found) for found in steps.groups())
    assert 0.09 < first < last


def test_the_code_of_the_bayesian_machines_runs_from_top_to_bottom(tmp_path, capsys):
    run_code(BAYESIAN, tmp_path)
    printed = capsys.readouterr().out
    assert 0.92 < float(re.findall(r"covered ([\d.]+)", printed)[0]) < 0.98
    quiet, loud = (float(found) for found in re.search(r"left ([\d.]+) and on the right ([\d.]+)", printed).groups())
    assert quiet < 0.08 < 0.25 < loud < 0.45
    assert re.search(r"left out \[.*5.*6.*7.*8.*9.*\]", printed)
    training, new = (float(loss) for loss in re.findall(r"log-loss ([\d.]+)", printed))
    assert new < training


def test_every_least_squares_machine_is_on_its_page():
    for name in (name for name in discriminants.__all__ if "LSSVM" in name and not name.startswith("FixedSize")):
        assert f"`{name}`" in (BAYESIAN if re.match("Bayesian|Hetero", name) else LSSVM), name


def test_the_code_of_the_fixed_basis_runs_from_top_to_bottom(tmp_path, capsys):
    run_code(LARGE, tmp_path)
    errors = [float(error) for error in re.findall(r"test error ([\d.]+)", capsys.readouterr().out)]
    assert errors[2] < errors[1] < errors[0]
    assert errors[4] == pytest.approx(errors[3], abs=0.003) and errors[3] < 0.03


@pytest.mark.slow
def test_the_code_shown_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_code(GUIDE, tmp_path)
    assert (tmp_path / "digits.safetensors").exists()
    assert float(re.findall(r"test accuracy ([\d.]+)", capsys.readouterr().out)[0]) > 0.95


def test_every_learner_and_every_kernel_name_is_in_the_guide():
    learners = [
        name
        for name in discriminants.__all__
        if re.search(r"(Classifier|Regressor|Discriminant|Analysis|PCA|Nystroem)$", name)
    ]
    kernels = [name for name in discriminants.__all__ if name.endswith("Kernel")]
    for name in (*learners, *(k for k in kernels if k not in ("Kernel", "FunctionKernel", "PrecomputedKernel"))):
        assert f"`{name}" in GUIDE, name
    for name in NAMED:
        assert f'`"{name}"`' in GUIDE, name


def test_the_classes_the_guide_names_are_public():
    elsewhere = {
        "CalibratedClassifierCV", "GaussianProcessRegressor", "GridSearchCV", "KernelPCA", "KernelRidge", "Nystroem",
        "Ridge", "RidgeClassifier", "TimeSeriesSplit", "ValueError",
    }  # fmt: skip
    shown = set(re.findall(r"`([A-Z]\w*[a-z]\w*)", GUIDE + FISHER + LSSVM + BAYESIAN + LARGE))
    assert shown - elsewhere <= set(discriminants.__all__)


def test_every_member_of_the_fisher_family_is_on_its_page():
    family = [name for name in discriminants.__all__ if re.search(r"KFD|KSOD|(?<!LSSVM)Kernel(Discriminant|PCA)", name)]
    assert len(family) == 9
    for name in family:
        assert f"`{name}" in FISHER, name
