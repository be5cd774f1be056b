"""`--cluster` against a real scheduler and real workers: the results of `--jobs 1`, also when a worker dies."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

pytest.importorskip("distributed")

from tests.cluster_processes import Cluster
from tests.conftest import Finished

pytestmark = pytest.mark.slow


def start(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "asr.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, process: "subprocess.Popen[str]") -> None:
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


def test_a_model_trained_while_a_worker_is_killed_is_that_of_one_job(
    asr: Callable[..., Finished], cluster: Cluster, toy_corpus: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(
        "features = {sample_rate = 8000}\n"
        "gmm = {mixtures = [1, 2], iterations = [3, 2]}\n"
        "hybrid.vtlp_warps = [0.92, 1.08]\n"
        "hybrid.mixtures = 2\n"
        "hybrid.parameters = {n_centers = 60, n_candidates = 200, max_iter = 2, min_steps = 20}\n"
        "tuning = {held_out = 0}\n"
    )
    arguments = [
        "train", "--data", toy_corpus / "train", "--lexicon", toy_corpus / "lexicon.txt", "--config", settings,
    ]  # fmt: skip
    process = start(*arguments, "--work-dir", tmp_path / "cluster", "--cluster", cluster.address)
    status, _, errors = asr(*arguments, "--work-dir", tmp_path / "alone", "--jobs", 1)
    assert status == 0, errors
    wait_for(lambda: list(tmp_path.glob("cluster/stages/.hybrid.checkpoint/*")), process)
    victim = cluster.kill_one()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert not psutil.pid_exists(victim)
    for name in ("model.safetensors", "gmm.safetensors", "grammar.arpa"):
        assert (tmp_path / "cluster" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes(), name
    stages = {path.name for path in (tmp_path / "cluster" / "stages").iterdir() if path.is_dir()}
    assert stages == {"features", "gmm", "gmm-mapped-1", "transcripts", "hybrid", "hybrid-sequences"}


def test_features_alignments_and_hypotheses_do_not_depend_on_where_they_are_made(
    asr: Callable[..., Finished], cluster: Cluster, toy_corpus: Path, toy_model: Path, tmp_path: Path
) -> None:
    data = ["--data", toy_corpus / "train"]
    made = []
    for workers in (["--jobs", 1], ["--jobs", 2], ["--cluster", cluster.address]):
        out = tmp_path / str(len(made))
        for arguments in (
            ["features", *data, "--out", out / "features", "--config", toy_corpus / "settings.toml"],
            ["align", *data, "--out", out / "aligned", "--model", toy_model],
            ["decode", *data, "--out", out / "decoded", "--model", toy_model],
        ):
            status, _, errors = asr(*arguments, *workers)
            assert status == 0, errors
        files = ("features/feats.ark", "aligned/phones.ctm", "decoded/hyp.txt", "decoded/hyp.ctm")
        states = np.load(out / "aligned" / "states.npz")
        made.append([(out / file).read_bytes() for file in files] + [states[name].tobytes() for name in states])
    assert made[0] == made[1]
    assert made[0] == made[2]


def test_files_named_from_the_working_directory_are_found_and_a_bad_one_fails_alone(
    asr: Callable[..., Finished], cluster: Cluster, toy_corpus: Path, toy_model: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for path in (toy_corpus / "audio" / "test").glob("*.wav"):
        shutil.copy(path, path.name)
    Path("bad.wav").write_bytes(b"RIFF and no more")
    names = sorted(path.name for path in Path().glob("*.wav"))
    status, words, errors = asr("decode", "--model", toy_model, "--out", "out", "--cluster", cluster.address, *names)
    assert status == 0, errors
    assert len(words.splitlines()) == len(names) - 1
    assert "1 utterance left out:\n  bad: " in errors


def test_no_scheduler_at_the_address_is_an_error_of_one_sentence(
    asr: Callable[..., Finished], toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asr.runs.workers._PATIENCE", 1.0)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
    arguments = ["--data", toy_corpus / "test", "--out", tmp_path / "out"]
    for wrong in (address, "tcp://127.0.0.1", "nonsense"):
        status, _, errors = asr("features", *arguments, "--cluster", wrong)
        assert status == 1
        assert errors.startswith(f"asr: error: cluster {wrong}: "), errors
        assert ("tcp://HOST:PORT" in errors) == (wrong != address), errors
        assert errors.count("\n") == 1, errors
