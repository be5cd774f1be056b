"""Feature archives: entries that lead nowhere, matrices of another width, and settings that need audio."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from asr.commands.features import extract_features
from asr.corpus.kaldi_ark import write_archive
from asr.training.config import TrainingConfig
from discriminants.parallel.workers import SerialWorkers
from tests.validation.corpora import Corpus


@pytest.fixture(scope="session")
def archived_folder(clean_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clean corpus with features in place of audio."""
    folder = tmp_path_factory.mktemp("archived")
    for name in ("lexicon.txt", "settings.toml"):
        shutil.copy(clean_folder / name, folder)
    config = TrainingConfig()
    config = config.model_copy(update={"features": config.features.model_copy(update={"sample_rate": 8000})})
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


def with_narrow_matrix(corpus: Corpus) -> None:
    write_archive(
        corpus.folder / "train/other.ark", corpus.folder / "other.scp", [("x", np.ones((100, 5), np.float32))]
    )
    offset = corpus.lines("other.scp")[0].rpartition(":")[2]
    corpus.set_line("train/feats.scp", 3, f"{corpus.names[2]} train/other.ark:{offset}")


def cut(corpus: Corpus) -> None:
    path = corpus.folder / "train/feats.ark"
    path.write_bytes(path.read_bytes()[:-7])


FAULTS: dict[str, tuple[Callable[[Corpus], object], tuple[str, str, int | None, str]]] = {
    "a place past the end": (
        lambda c: c.set_line("train/feats.scp", 3, f"{c.names[2]} train/feats.ark:99999999"),
        ("truncated", "train/feats.scp", 3, "outside the file"),
    ),
    "a place within a matrix": (
        lambda c: c.set_line("train/feats.scp", 3, f"{c.names[2]} train/feats.ark:100"),
        ("unreadable", "train/feats.scp", 3, "no binary Kaldi matrix"),
    ),
    "an archive cut short": (cut, ("truncated", "train/feats.scp", 9, "truncated")),
    "another number of columns": (with_narrow_matrix, ("other-dimension", "train/feats.scp", 3, "5 features a frame")),
    "a range": (
        lambda c: (
            c.change("train/feats.scp", 3, ".ark:", ".ark[0:3]:")
            or c.set_line("train/feats.scp", 3, f"{c.names[2]} train/feats.ark:9[0:3]")
        ),
        ("malformed", "train/feats.scp", 3, "range"),
    ),
    "a missing archive": (
        lambda c: c.set_line("train/feats.scp", 3, f"{c.names[2]} train/none.ark:9"),
        ("missing-file", "train/feats.scp", 3, "does not exist"),
    ),
    "speed_perturb": (
        lambda c: c.settings("hybrid = {speed_perturb = [0.9]}"),
        ("settings", "settings.toml", 2, "speed_perturb changes audio"),
    ),
    "warps of columns that are no cepstra": (
        lambda c: c.write(
            "settings.toml",
            ["features = {sample_rate = 8000, n_cepstra = 10}", "[hybrid]", "vtlp_warps = [0.9]"],
        ),
        ("settings", "settings.toml", 3, "11 columns"),
    ),
    "vocal-tract lengths from columns that are no cepstra": (
        lambda c: c.write(
            "settings.toml",
            ["features = {sample_rate = 8000, n_cepstra = 10}", "[speakers]", 'maps = "vtln"'],
        ),
        ("settings", "settings.toml", 3, 'set maps = "none"'),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_an_archive_is_named_with_its_place_and_nothing_else_is(archived: Corpus, fault: str) -> None:
    spoil, (code, file, line, part) = FAULTS[fault]
    spoil(archived)
    report = archived.validate()
    found = [(f.severity, f.code, str(f.file.relative_to(archived.folder)), f.line) for f in report.findings]
    assert found == [("error", code, file, line)], "\n".join(report.lines())
    assert part in report.findings[0].message
