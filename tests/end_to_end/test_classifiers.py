"""Any classifier trains through the command line, also one that another installed package registers."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acoustic.test_hybrid_classifiers import PLUG

Asr = Callable[..., tuple[int, str, str]]


def training(corpus: Path, work_dir: Path, classifier: str) -> list[str]:
    config = work_dir.parent / "settings.toml"
    config.write_text(
        "features = {sample_rate = 8000}\ngmm = {mixtures = [1, 2], iterations = [3, 2]}\n"
        "hybrid = {vtlp_warps = [], realignments = 1}\ntuning = {words = 1}\n"
    )
    return [
        "train", "--data", str(corpus / "train"), "--lexicon", str(corpus / "lexicon.txt"), "--config", str(config),
        "--work-dir", str(work_dir), "--jobs", "1", "--classifier", classifier,
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classifier", "shown"),
    [
        ("orols", "discriminants.sparse.orols.OROLSClassifier"),
        ("sparse-greedy-kfd", "discriminants.fisher.sparse_greedy_kfd.SparseGreedyKFDClassifier"),
        ("npd", "discriminants.sparse.npd.NPDClassifier"),
        ("mlp", "sklearn.neural_network._multilayer_perceptron.MLPClassifier"),
        ("sklearn.naive_bayes.GaussianNB", "sklearn.naive_bayes.GaussianNB"),
        ("sklearn.linear_model.RidgeClassifier", "sklearn.linear_model._ridge.RidgeClassifier"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*Maximum iterations")
def test_a_classifier_trains_recognizes_and_is_named(
    asr: Asr, tiny_corpus: Path, tmp_path: Path, classifier: str, shown: str
) -> None:
    status, _, err = asr(*training(tiny_corpus, tmp_path / "run", classifier))
    assert status == 0, err
    model = tmp_path / "run" / "model.safetensors"
    assert f"classifier: {shown}\n" in asr("info", model)[1]
    assert asr("decode", "--model", model, "--data", tiny_corpus / "train", "--out", tmp_path)[0] == 0
    _, out, _ = asr("score", tiny_corpus / "train" / "text", tmp_path / "hyp.txt")
    assert float(out.split()[1]) <= 10.0


@pytest.mark.slow
def test_a_classifier_that_an_installed_package_registers_needs_no_change_here(
    tiny_corpus: Path, tmp_path: Path
) -> None:
    package = tmp_path / "site-packages"
    (package / "toy_plug-1.0.dist-info").mkdir(parents=True)
    (package / "toy_plug.py").write_text(PLUG)
    (package / "toy_plug-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: toy-plug\nVersion: 1.0\n"
    )
    (package / "toy_plug-1.0.dist-info" / "entry_points.txt").write_text(
        "[asr.classifiers]\nnearest-mean = toy_plug:nearest_mean\n"
    )

    def run(*arguments: object, installed: bool = True) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join([os.environ["PYTHONPATH"], *([str(package)] if installed else [])])
        return subprocess.run(
            [sys.executable, "-m", "asr.cli", *map(str, arguments)], env=os.environ | {"PYTHONPATH": paths},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    finished = run(*training(tiny_corpus, tmp_path / "run", "nearest-mean"))
    assert finished.returncode == 0, finished.stderr
    model = tmp_path / "run" / "model.safetensors"
    decoding = ("decode", "--model", model, "--data", tiny_corpus / "test", "--out", tmp_path)
    finished = run(*decoding)
    assert finished.returncode == 0, finished.stderr
    finished = run(*decoding, installed=False)
    assert finished.returncode == 1
    assert "'toy_plug:NearestMean' is outside the trusted modules" in finished.stderr
    assert "Traceback" not in finished.stderr
