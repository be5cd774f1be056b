"""Feature archives: entries that lead nowhere, matrices of another width, and settings that need audio."""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from asr.commands.features import extract_features
from asr.corpus.kaldi_ark import write_archive
from asr.training.config import load_config
from discriminants.parallel.workers import SerialWorkers
from tests.validation.corpora import Corpus, Spoil


@pytest.fixture(scope="session")
def archived_folder(clean_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clean corpus with features in place of audio."""
    folder = tmp_path_factory.mktemp("archived")
    for name in ("lexicon.txt", "settings.toml"):
        shutil.copy(clean_folder / name, folder)
    config = load_config({"features": {"sample_rate": 8000}})
    extract_features(clean_folder / "train", folder / "train", root=None, config=config, workers=SerialWorkers())
    (folder / "train" / "failed.tsv").unlink()
    return folder


@pytest.fixture
def archived(archived_folder: Path, tmp_path: Path) -> Corpus:
    return Corpus(Path(shutil.copytree(archived_folder, tmp_path / "archived")))


def test_a_clean_archive_has_no_findings_and_its_duration_is_known(archived: Corpus) -> None:
    report = archived.validate()
    assert report.findings == ()
    assert report.summary.seconds is not None and 5 < report.summary.seconds < 60


def test_audio_behind_pipes_is_nobody_s_business_where_there_are_features(archived: Corpus) -> None:
    archived.write("train/wav.scp", [f"{name} sph2pipe {name}.sph |" for name in archived.names])
    archived.write("train/segments", ["no segment"])
    assert archived.validate().findings == ()


def with_narrow_matrix(corpus: Corpus, line: int) -> None:
    write_archive(
        corpus.folder / "train/other.ark", corpus.folder / "other.scp", [("x", np.ones((100, 5), np.float32))]
    )
    offset = corpus.lines("other.scp")[0].rpartition(":")[2]
    corpus.set_line("train/feats.scp", line, f"{corpus.names[line - 1]} train/other.ark:{offset}")


def cut(corpus: Corpus) -> None:
    path = corpus.folder / "train/feats.ark"
    path.write_bytes(path.read_bytes()[:-7])


FAULTS: dict[str, Spoil] = {
    "error truncated train/feats.scp:3: outside the file": lambda c: c.set_line(
        "train/feats.scp", 3, f"{c.names[2]} train/feats.ark:99999999"
    ),
    "error unreadable train/feats.scp:3: no binary Kaldi matrix": lambda c: c.set_line(
        "train/feats.scp", 3, f"{c.names[2]} train/feats.ark:100"
    ),
    "error truncated train/feats.scp:9: truncated": cut,
    **{
        f"error other-dimension train/feats.scp:{line}: 5 features per frame": partial(with_narrow_matrix, line=line)
        for line in (1, 3)
    },
    "error malformed train/feats.scp:3: range": lambda c: (
        c.change("train/feats.scp", 3, ".ark:", ".ark[0:3]:")
        or c.set_line("train/feats.scp", 3, f"{c.names[2]} train/feats.ark:9[0:3]")
    ),
    "error missing-file train/feats.scp:3: does not exist": lambda c: c.set_line(
        "train/feats.scp", 3, f"{c.names[2]} train/none.ark:9"
    ),
    "error settings settings.toml:2: speed_perturb": lambda c: c.settings("hybrid = {speed_perturb = [0.9]}"),
    "error settings settings.toml:3: 11 columns": lambda c: c.write(
        "settings.toml",
        ["features = {sample_rate = 8000, n_cepstra = 10}", "[hybrid]", "vtlp_warps = [0.9]"],
    ),
    'error settings settings.toml:3: set maps = "none"': lambda c: c.write(
        "settings.toml",
        ["features = {sample_rate = 8000, n_cepstra = 10}", "[speakers]", 'maps = "vtln"'],
    ),
}


@pytest.mark.parametrize("finding", FAULTS)
def test_archive_fault_is_the_only_finding_with_its_place(archived: Corpus, finding: str) -> None:
    FAULTS[finding](archived)
    archived.check_only_finding(finding)
