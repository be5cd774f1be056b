"""Tests that the pages about decoding, alignment and scoring show the real behavior of the commands."""

import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.acoustic.model_file import load_model
from asr.corpus.data_directory import read_data_directory
from asr.corpus.kaldi_ark import write_archive
from asr.features.extraction import extract_static
from tests.conftest import Finished
from tests.openfst_files import fst_bytes, word_pair_states
from tests.toy_corpus import make_toy_corpus

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGES = ("decode", "grammars", "adapt", "align", "score")
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^\n]*) -->\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Block:
    """A code block of a page: its language, the comment above it ("" for none) and its text."""

    language: str
    mark: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the code blocks of a page in order."""
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    return [Block(found["language"], found["mark"] or "", found["text"]) for found in BLOCK.finditer(text)]


@pytest.fixture(scope="module")
def workplace(toy_corpus: Path, toy_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the files that the pages name: data, recordings, and trained models in runs/mine."""
    place = tmp_path_factory.mktemp("workplace")
    shutil.copytree(toy_corpus, place / "data")
    for part, seed, length in (("dev", 1, (1, 2)), ("others", 2, (3, 4))):
        made = make_toy_corpus(
            place / part, 1, 1, seed, n_test_speakers=3, n_test_utterances=12, words_per_utterance=length
        )
        shutil.copytree(made / "test", place / "data" / part)
        shutil.copytree(made / "audio" / "test", place / "data" / "audio" / part)
        listed = place / "data" / part / "wav.scp"
        listed.write_text(listed.read_text().replace("audio/test/", f"audio/{part}/"))
    shutil.copytree(place / "data" / "test", place / "data" / "wrong")
    transcripts = place / "data" / "wrong" / "text"
    transcripts.write_text(transcripts.read_text().replace("SEVEN SEVEN TWO\n", "ONE NO WISE\n"))
    audio = place / "data" / "audio" / "test"
    for name, speaker in (("anna", "test0"), ("boris", "test1")):
        (place / "recordings" / name).mkdir(parents=True)
        for number, path in enumerate(sorted(audio.glob(f"{speaker}-*.wav")), 1):
            shutil.copy(path, place / "recordings" / name / f"{number:03}.wav")
    (place / "runs" / "mine").mkdir(parents=True)
    for name in ("model.safetensors", "gmm.safetensors"):
        shutil.copy(toy_run / name, place / "runs" / "mine")
    (place / "lang").mkdir()
    labels = {"<eps>": 0, "WISE": 1, "TWO": 2}
    pairs = {"SENTENCE-END": ["WISE"], "WISE": ["TWO"], "TWO": ["WISE", "SENTENCE-END"]}
    (place / "lang" / "G.fst").write_bytes(fst_bytes(word_pair_states(pairs, labels), inputs=labels))
    samples, rate = soundfile.read(audio / "test0-000.wav", dtype="int16")
    soundfile.write(place / "speech.flac", samples, rate)
    _write_scores(place)
    return place


def _write_scores(place: Path) -> None:
    """Write the model's own posteriors of the test data in the forms that the page names."""
    model = load_model(place / "runs" / "mine" / "model.safetensors")
    static, _ = extract_static(read_data_directory(place / "data" / "test"), model.front_end.config)
    frames = model.front_end.transform(static)
    logs = {name: model.hmm.acoustic_model.log_posterior(frames.utterance(name)) for name in frames.ids}
    posteriors = {name: np.exp(own) for name, own in logs.items()}
    write_archive(place / "posteriors.ark", place / "posteriors.scp", posteriors.items())
    np.save(place / "posteriors.npy", next(iter(posteriors.values())))
    (place / "data" / "scored").mkdir()
    write_archive(place / "data" / "scored" / "scores.ark", place / "data" / "scored" / "feats.scp", logs.items())


def shows(file: str, text: str) -> bool:
    """Whether the lines of `text` are consecutive lines of a file; numbers may differ, and `...` is any text."""
    found = NUMBER.sub("#", Path(file).read_text(encoding="utf-8"))
    pattern = re.escape(NUMBER.sub("#", text)).replace(r"\.\.\.", ".*")
    return re.search(rf"^{pattern}", found, re.MULTILINE) is not None


def numbers_of(text: str, name: str) -> list[list[str]]:
    """Return the numbers of the lines that begin with `name`."""
    return [NUMBER.findall(line) for line in text.splitlines() if line.startswith(name)]


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_files_are_as_shown(
    page: str, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asr: Callable[..., Finished]
) -> None:
    place = tmp_path / "place"
    shutil.copytree(workplace, place)
    monkeypatch.chdir(place)
    printed = ""
    for block in blocks(page):
        kind, _, value = block.mark.partition(": ")
        if block.language == "sh":
            for line in block.text.splitlines():
                name, *arguments = shlex.split(line)
                status, printed, err = asr(*arguments)
                assert (name, status) == ("asr", 0), f"{line}: {err}"
        elif block.language == "python":
            exec(block.text, {})
        elif kind == "file":
            Path(value).write_text(block.text, encoding="utf-8")
        elif kind == "shows":
            assert shows(value, block.text), value
        elif kind == "prints":
            for line in block.text.splitlines():
                assert numbers_of(printed, line.split()[0]) == [NUMBER.findall(line)]


def test_lattices_are_used_as_shown(workplace, tmp_path, monkeypatch, capsys):
    place = tmp_path / "place"
    shutil.copytree(workplace, place)
    monkeypatch.chdir(place)
    (block,) = [block for block in blocks("decode") if block.mark == "lattices"]
    exec(block.text, {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("WISE ")
    assert Path("speech.lat").read_text().startswith("VERSION=1.0")
