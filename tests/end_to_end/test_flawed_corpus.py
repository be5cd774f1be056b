"""Training on a corpus with faults, and going on with a run after something changed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.cli import main

Asr = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which each test has its copy of the corpus, because runs record the paths of their inputs."""
    return tmp_path_factory.mktemp("flawed")


@pytest.fixture
def corpus(tiny_corpus: Path, place: Path) -> Path:
    """A copy of the tiny corpus to spoil."""
    shutil.rmtree(place / "corpus", ignore_errors=True)
    return Path(shutil.copytree(tiny_corpus, place / "corpus"))


def command(corpus: Path, work_dir: Path) -> list[object]:
    """Return the arguments of a training."""
    return [
        "train", "--data", corpus / "train", "--lexicon", corpus / "lexicon.txt", "--work-dir", work_dir,
        "--config", corpus / "settings.toml", "--jobs", "1",
    ]  # fmt: skip


@pytest.fixture
def train(asr: Asr, corpus: Path, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """`asr train` on the copy, in `tmp_path/run`."""
    return lambda *more: asr(*command(corpus, tmp_path / "run"), *more)


@pytest.fixture(scope="module")
def undisturbed(tiny_corpus: Path, place: Path) -> Path:
    """Work directory of a finished training on an unchanged `corpus`."""
    shutil.copytree(tiny_corpus, place / "corpus", dirs_exist_ok=True)
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in command(place / "corpus", place / "run")])
    assert stop.value.code == 0
    return place / "run"


@pytest.fixture
def finished(undisturbed: Path, tmp_path: Path) -> Path:
    """A copy of the finished training in the work directory of `train`."""
    return Path(shutil.copytree(undisturbed, tmp_path / "run"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def audio(corpus: Path, name: str) -> Path:
    return corpus / "audio" / "train" / f"{name}.wav"


@pytest.mark.slow
def test_utterances_with_faults_are_counted_and_listed_and_the_others_trained_on(
    train: Asr, corpus: Path, tmp_path: Path
) -> None:
    wav, text = corpus / "train" / "wav.scp", corpus / "train" / "text"
    names = [line.split()[0] for line in text.read_text().splitlines()]
    unread, empty, brief, unspoken, foreign, missing, silent = names[:7]
    audio(corpus, unread).write_bytes(audio(corpus, unread).read_bytes()[:30])  # truncated within its header
    soundfile.write(audio(corpus, empty), np.zeros(0), 8000)
    soundfile.write(audio(corpus, silent), np.zeros(8000), 8000)
    soundfile.write(audio(corpus, brief), np.full(900, 0.1), 8000)  # ten frames for at least three words
    edit(text, next(line for line in text.read_text().splitlines() if line.startswith(unspoken)), unspoken)
    edit(text, next(line for line in text.read_text().splitlines() if line.startswith(foreign)), f"{foreign} ELEVEN")
    edit(wav, f"audio/train/{missing}.wav", "audio/train/none.wav")

    for _ in range(2):  # a resumed run reports the same
        status, out, err = train()
        assert status == 0, err
        assert out == f"{tmp_path / 'run' / 'model.safetensors'}\n"
        lines = (tmp_path / "run" / "failed.tsv").read_text().splitlines()[1:]
        reasons = {name: reason for name, _, reason in (line.split("\t") for line in lines)}
        assert reasons.keys() == set(names[:7])
        assert "cannot be read as audio" in reasons[unread]
        assert "holds no samples" in reasons[empty]
        assert "is digital silence" in reasons[silent]
        assert "9 frames" in reasons[brief]
        assert reasons[unspoken] == "it has no transcript"
        assert reasons[foreign] == "the lexicon has no pronunciation for ELEVEN"
        assert "none.wav does not exist" in reasons[missing]


@pytest.mark.slow
def test_a_single_speaker_is_tuned_on_held_out_utterances(train: Asr, corpus: Path) -> None:
    speakers = corpus / "train" / "utt2spk"
    speakers.write_text("".join(f"{line.split()[0]} me\n" for line in speakers.read_text().splitlines()))
    (corpus / "train" / "spk2gender").unlink()
    status, _, err = train()
    assert status == 0, err


@pytest.mark.slow
@pytest.mark.usefixtures("finished")
def test_a_run_with_other_settings_is_refused_with_the_difference(train: Asr, corpus: Path) -> None:
    edit(corpus / "settings.toml", "n_centers = 30", "n_centers = 31")
    status, out, err = train()
    assert (status, out) == (1, "")
    assert "configuration.hybrid.parameters.n_centers was 30, is 31)" in err
    assert "dependent stages (hybrid, hybrid-sequences, " in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "lines"),
    [
        ("train/text", " TWO", " SEVEN", "9 lines, as before"),
        ("train/utt2spk", "train0\n", "train9\n", "9 lines, as before"),
        ("lexicon.txt", "TWO S UW", "TWO S UW\nTWO S UW N", "6 lines, 5 before"),
    ],
)
@pytest.mark.usefixtures("finished")
def test_a_run_with_other_data_is_refused(train: Asr, corpus: Path, name: str, old: str, new: str, lines: str) -> None:
    edit(corpus / name, old, new)
    status, _, err = train()
    assert status == 1
    assert f"made with other inputs ({corpus / name} has changed ({lines}))" in err


@pytest.mark.slow
def test_allowed_changes_give_the_model_of_a_new_run(
    train: Asr, corpus: Path, undisturbed: Path, finished: Path, tmp_path: Path
) -> None:
    edit(corpus / "settings.toml", "n_centers = 30", "n_centers = 25")
    status, _, err = train("--rebuild-changed")
    assert status == 0, err
    changed = (finished / "model.safetensors").read_bytes()
    assert changed != (undisturbed / "model.safetensors").read_bytes()
    finished.rename(tmp_path / "before")
    assert train()[0] == 0
    assert (finished / "model.safetensors").read_bytes() == changed


@pytest.mark.slow
def test_the_data_may_be_moved_and_the_command_line_said_otherwise(train: Asr, corpus: Path, finished: Path) -> None:
    before = (finished / "model.safetensors").stat().st_mtime_ns
    (corpus / "train").rename(corpus / "moved")
    status, _, err = train("--data", corpus / "moved", "--jobs", "2")  # the last --data counts
    assert status == 0, err
    assert (finished / "model.safetensors").stat().st_mtime_ns >= before


@pytest.mark.slow
def test_two_trainings_in_one_work_directory_are_kept_apart(train: Asr, finished: Path) -> None:
    import fcntl

    with (finished / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, _, err = train()
    assert status == 1
    assert "another process" in err
