"""The user guide of the learners: its code runs with the output shown, and it names every learner and kernel."""

import re
import runpy
from pathlib import Path

import pytest

import discriminants
import discriminants.kernels
from discriminants.kernels.named import NAMED

FOLDER = Path(__file__).parents[2] / "docs" / "learners"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e-?\d+)?")
_BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def run_page(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Run all code of a page as one script, compare its output with the page, and return the output."""
    blocks = _BLOCK.findall(PAGES[name])
    assert len(blocks) == PAGES[name].count("```python")
    script = folder / "guide.py"
    script.write_text("\nprint('<<<>>>')\n".join(code for code, _ in blocks), encoding="utf-8")
    runpy.run_path(str(script))
    printed = capsys.readouterr().out
    for (_, shown), found in zip(blocks, printed.split("<<<>>>\n"), strict=True):
        assert _NUMBER.sub("#", found).split() == _NUMBER.sub("#", shown).split()
        expected = [float(number) for number in _NUMBER.findall(shown)]
        assert [float(number) for number in _NUMBER.findall(found)] == pytest.approx(expected, rel=0.1, abs=0.02)
    return printed


def numbers_after(text: str, printed: str) -> list[float]:
    return [float(number) for number in re.findall(rf"{text} ({_NUMBER.pattern})", printed)]


@pytest.mark.slow
def test_index_code(tmp_path, capsys):
    assert numbers_after("accuracy", run_page("index", tmp_path, capsys))[0] > 0.95


@pytest.mark.slow
def test_fisher_code(tmp_path, capsys):
    printed = run_page("fisher", tmp_path, capsys)
    assert numbers_after("test error", printed)[0] < 0.03
    plain, penalized, virtual = numbers_after("virtual .*: accuracy", printed)
    assert min(penalized, virtual) > plain


@pytest.mark.slow
def test_kernels_code(tmp_path, capsys):
    assert min(numbers_after("accuracy", run_page("kernels", tmp_path, capsys))) > 0.95


def test_lssvm_code(tmp_path, capsys):
    printed = run_page("lssvm", tmp_path, capsys)
    [expected], [found] = numbers_after("expected error", printed), numbers_after("test error", printed)
    assert abs(expected / found - 1) < 0.1
    scores = numbers_after("tasks, accuracy", printed)
    assert len(scores) == 4
    assert min(scores) > 0.97
    plain, weighted, chosen, robust = numbers_after("distance from the curve", printed)
    assert robust < 0.5 * chosen
    assert weighted < plain / 2
    kept, accuracy = re.search(r"(\d+) of 200 samples kept, accuracy ([\d.]+)", printed).groups()
    assert int(kept) < 100
    assert float(accuracy) > 0.85


@pytest.mark.slow
def test_probabilities_code(tmp_path, capsys):
    printed = run_page("probabilities", tmp_path, capsys)
    training, left_out = numbers_after(r"calibrated on \w+: log loss", printed)
    assert left_out < 0.8 * training
    assert min(numbers_after("classifiers, accuracy", printed)) > 0.95


@pytest.mark.slow
def test_sparse_code(tmp_path, capsys):
    assert min(numbers_after("accuracy", run_page("sparse", tmp_path, capsys))) > 0.95


def test_time_series_code(tmp_path, capsys):
    printed = run_page("time-series", tmp_path, capsys)
    assert max(numbers_after("(?:simulated steps|steps ahead)", printed)) < 0.01
    first, last = numbers_after(r"step \d+:", printed)
    assert 0.09 < first < last
    simulation, one_step = numbers_after("chosen by .*: error", printed)
    assert simulation < one_step / 2


def test_bayesian_code(tmp_path, capsys):
    printed = run_page("bayesian", tmp_path, capsys)
    assert 0.92 < numbers_after("covered", printed)[0] < 0.98
    [quiet], [loud] = numbers_after("left", printed), numbers_after("right", printed)
    assert quiet < 0.08 < 0.25 < loud < 0.45
    assert "removed inputs [5, 6, 7, 8, 9]" in printed
    training, new = numbers_after("log loss", printed)
    assert new < training


def test_large_data_code(tmp_path, capsys):
    printed = run_page("large-data", tmp_path, capsys)
    random, k_means, greedy, fixed = numbers_after("test error", printed)
    assert greedy < k_means < random
    assert fixed < 0.03


def test_streams_code(tmp_path, capsys):
    krls, streamed, at_once = numbers_after("accuracy", run_page("streams", tmp_path, capsys))
    assert min(krls, streamed) > 0.95
    assert streamed == pytest.approx(at_once, abs=0.003)


def test_unsupervised_code(tmp_path, capsys):
    printed = run_page("unsupervised", tmp_path, capsys)
    assert abs(numbers_after("correlation of new samples", printed)[0]) > 0.9
    assert numbers_after("reconstruction error", printed)[0] < 0.1


def test_saving_code(tmp_path, capsys):
    assert "equal predictions: True" in run_page("saving", tmp_path, capsys)


def test_every_page_with_code_is_run():
    tested = {name.removeprefix("test_").removesuffix("_code") for name in globals() if name.endswith("_code")}
    assert {name.replace("-", "_") for name, page in PAGES.items() if "```python" in page} <= tested


def test_every_learner_is_in_the_index_and_on_a_page():
    learners = [
        name
        for name in discriminants.__all__
        if re.search(r"(Classifier|Regressor|Discriminant|Analysis|PCA|Nystroem|LSSVM|CCA|Density|SVC|NARX)$", name)
    ]
    pages = "".join(page for name, page in PAGES.items() if name != "index")
    for name in learners:
        assert f"`{name}`" in PAGES["index"], name
        assert f"`{name}`" in pages, name


def test_every_kernel_is_on_the_kernels_page():
    kernels = {name for name in discriminants.__all__ if name.endswith("Kernel")}
    for name in kernels - {"Kernel", "FunctionKernel", "PrecomputedKernel"}:
        assert f"`{name}" in PAGES["kernels"], name
    for name in NAMED:
        assert f'`"{name}"`' in PAGES["kernels"], name


def test_every_lssvm_is_on_its_page():
    page_of = {
        "Bayesian": "bayesian",
        "Heteroscedastic": "bayesian",
        "FixedSize": "large-data",
        "LSSVMKernelPCA": "unsupervised",
        "Recurrent": "time-series",
    }
    for name in (name for name in discriminants.__all__ if "LSSVM" in name):
        page = next((page for start, page in page_of.items() if name.startswith(start)), "lssvm")
        assert f"`{name}`" in PAGES[page], name


def test_every_fisher_discriminant_is_on_its_page():
    family = [name for name in discriminants.__all__ if re.search(r"KFD|KSOD|(?<!LSSVM)Kernel(Discriminant|PCA)", name)]
    assert len(family) == 9
    for name in family:
        assert f"`{name}" in PAGES["fisher"], name


def test_named_classes_are_public():
    elsewhere = {
        "CalibratedClassifierCV", "GridSearchCV", "KernelPCA", "KernelRidge", "MaxAbsScaler", "None", "NuSVC", "NuSVR",
        "StackingRegressor", "StandardScaler", "TfidfVectorizer", "TimeSeriesSplit", "TypeError", "ValueError",
    }  # fmt: skip
    shown = set(re.findall(r"`([A-Z]\w*[a-z]\w*)", "".join(PAGES.values())))
    assert shown - elsewhere <= {*discriminants.__all__, *discriminants.kernels.__all__}


def test_links_between_the_pages_resolve():
    titles = {name: re.findall(r"^#+ (.*)$", page, re.MULTILINE) for name, page in PAGES.items()}
    anchors = {
        name: {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in found} for name, found in titles.items()
    }
    for page in PAGES.values():
        for target, anchor in re.findall(r"\]\(([\w-]+)\.md(?:#([\w-]+))?\)", page):
            assert target in PAGES
            assert not anchor or anchor in anchors[target], (target, anchor)
