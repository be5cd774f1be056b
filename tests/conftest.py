"""What tests share: real corpora (tests that need one skip where it is absent), a toy corpus and a model of it, and
the command line.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from asr.cli import main
from tests.made_once import made_once
from tests.toy_corpus import make_toy_corpus

if TYPE_CHECKING:
    from tests.cluster_processes import Cluster

Finished = tuple[int, str, str]  # exit status, standard output, standard error

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# Processes that tests start import this tree.
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])

# Examples are drawn again at every run on a developer's machine, and are fixed in continuous integration. The first
# call of a compiled function takes seconds, so no example has a deadline.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


SLOW_FOLDERS = ("benchmarks", "recipes")
"""Folders of `tests` whose tests are all slow."""


LONG_FILES = (
    "end_to_end/test_signals.py",
    "discriminants/test_estimator_contract.py",
    "end_to_end/test_little_memory.py",
    "end_to_end/test_killed_training.py",
    "end_to_end/test_damaged_run.py",
    "examples/test_notebooks.py",
    "end_to_end/test_full_disk.py",
    "end_to_end/test_cluster.py",
    "end_to_end/test_train_to_score.py",
    "end_to_end/test_flawed_corpus.py",
    "end_to_end/test_classifiers.py",
    "examples/test_discriminants_guide.py",
    "examples/test_guides.py",
    "examples/test_plots.py",
    "examples/test_python_guide.py",
    "fuzz/test_readers.py",
    "recipes/test_benchmarks.py",
)
"""Files that take longest. They start first, so that no worker is busy with one when the others have ended."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow folders, and put the tests of long files first."""
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    rank = {Path(__file__).parent / name: number for number, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture
def speech_data() -> Path:
    """Folder of real speech corpora (an4, fsdd, ...)."""
    folder = SHARED / "speech"
    if not folder.is_dir():
        pytest.skip(f"no speech corpora at {folder}")
    return folder


@pytest.fixture
def rm1_sample(speech_data: Path) -> Path:
    """Folder of a hundred utterances of Resource Management."""
    folder = speech_data / "rm1_sample"
    if not folder.is_dir():
        pytest.skip(f"no sample of Resource Management at {folder}")
    return folder


@pytest.fixture
def ml_data() -> Path:
    """Folder of machine-learning benchmark sets."""
    folder = SHARED / "ml"
    if not folder.is_dir():
        pytest.skip(f"no benchmark sets at {folder}")
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Cluster"]:
    """A dask cluster of two workers."""
    from tests.cluster_processes import running_cluster

    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def asr(capfd: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    """Run `asr` with these arguments in this process: (exit status, standard output, standard error)."""

    def run(*arguments: object) -> Finished:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        code = stop.value.code
        assert isinstance(code, int)
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def toy_recipe(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open a recipe over a toy corpus in `tmp_path / "corpus"`, which is closed at the end of the test."""
    from recipes.recipe import Arguments, open_recipe

    with ExitStack() as opened:

        def open_toy(config, *, n_utterances=16, n_test_utterances=10, splits=("train",), systems=((), ())):
            corpus = make_toy_corpus(
                tmp_path / "corpus", n_utterances=n_utterances, n_test_utterances=n_test_utterances
            )
            recipe = open_recipe("toy", Arguments(corpus, tmp_path / "run", 1, False), corpus, config, *systems, splits)
            opened.callback(recipe.resources.close)
            return recipe

        yield open_toy


@pytest.fixture(scope="session")
def toy_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the data directories train and test, lexicon.txt, and settings.toml fit for so little speech.

    All workers share it, so tests change a copy.
    """

    def make(folder: Path) -> None:
        make_toy_corpus(folder)
        (folder / "settings.toml").write_text(
            "features = {sample_rate = 8000}\n"
            "gmm = {mixtures = [1, 2], iterations = [6, 4]}\n"
            "hybrid = {mixtures = 0, vtlp_warps = [0.92, 1.08], augment_silence_ms = 0, "
            "parameters = {n_centers = 100, n_candidates = 300}}\n"
            'speakers = {maps = "none"}\n'
            "tuning = {held_out = 0.5}\n"
        )

    return made_once(tmp_path_factory, "toy", make)


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `toy_corpus`, with so little speech that training takes a second and the model makes errors; one fold."""

    def make(folder: Path) -> None:
        make_toy_corpus(folder, n_speakers=3, n_utterances=9, n_test_utterances=2)
        (folder / "settings.toml").write_text(
            "features = {sample_rate = 8000}\n"
            "gmm = {mixtures = [1, 2], iterations = [3, 2]}\n"
            "hybrid = {vtlp_warps = [], realignments = 1, "
            "parameters = {n_centers = 30, n_candidates = 60, max_iter = 2, min_steps = 20}}\n"
            "tuning = {words = 1}\n"
        )

    return made_once(tmp_path_factory, "tiny", make)


@pytest.fixture(scope="session")
def toy_run(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Work directory of a model trained on the toy corpus, with `--jobs 1`; tests change a copy."""
    given = ["--data", toy_corpus / "train", "--lexicon", toy_corpus / "lexicon.txt"]

    def make(folder: Path) -> None:
        arguments = [*given, "--config", toy_corpus / "settings.toml", "--work-dir", folder / "run", "--jobs", 1]
        with pytest.raises(SystemExit) as stop:
            main(["train", *map(str, arguments)])
        assert stop.value.code == 0

    return made_once(tmp_path_factory, "toy-run", make) / "run"


@pytest.fixture(scope="session")
def toy_model(toy_run: Path) -> Path:
    """A hybrid model of the toy corpus."""
    return toy_run / "model.safetensors"
