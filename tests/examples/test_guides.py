"""The code on the pages of docs/ works, and the settings that they name exist."""

import re
import shutil
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import soundfile
from pydantic import BaseModel

from asr.acoustic.classifiers import available_classifiers
from asr.acoustic.hybrid_training import NoiseSettings
from asr.commands.prepare import FORMATS
from asr.corpus.data_directory import read_data_directory
from asr.corpus.htk_labels import LabelSegment, write_mlf
from asr.corpus.htk_parameters import ParameterHeader, write_parameters
from asr.corpus.kaldi_ark import read_matrix
from asr.training.config import TrainingConfig, load_config

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = ("gallery/", "reference/settings.md", "reference/commands.md", "reference/api/")
"""Pages that `make docs` makes."""

PARAMETERS = ("n_centers", "n_candidates", "max_memory", "loss", "max_iter", "tol", "n_iter_no_change")
"""Parameters of classifiers that the pages set."""


def shown(guide: str, name: str) -> str:
    """The code block between the comments `name` and `/name` of a guide."""
    text = (DOCS / guide).read_text(encoding="utf-8")
    found = re.findall(rf"<!-- {name}.*?-->\n\n```\w+\n(.*?)```\n\n<!-- /{name} -->", text, re.DOTALL)
    assert len(found) == 1
    return found[0]


def test_files_of_htk_become_a_data_directory_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mfcc").mkdir()
    frames = np.random.default_rng(0).normal(size=(30, 13)).astype(np.float32)
    write_parameters("mfcc/anna-1.mfc", frames, ParameterHeader("MFCC_E", compressed=True, checked=True))
    write_mlf("words.mlf", {"anna-1": [LabelSegment("ONE", 0.0, 0.3)]})
    exec(shown("how-to/prepare-data.md", "htk"), {})
    corpus = read_data_directory(Path("train"))
    assert [(one.id, one.speaker, one.words) for one in corpus.utterances] == [("anna-1", "anna", ("ONE",))]
    found = read_matrix(corpus.utterances[0].source, corpus.utterances[0].offset)
    np.testing.assert_allclose(found, frames, atol=1e-4)


def write_as_htk_has_it(corpus: Path) -> None:
    """The lists of a corpus of `tests.toy_corpus` as HTK's files, here; the files in a folder for each speaker."""
    labels = {}
    for part in ("train", "test"):
        listed = []
        for utterance in read_data_directory(corpus / part).utterances:
            file = Path("wav", utterance.speaker, f"{utterance.id}.wav")
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(utterance.source, file)
            listed.append(f"{file} mfcc/{utterance.id}.mfc\n")
            labels[utterance.id] = [LabelSegment(word) for word in utterance.words]
        Path(f"{part}.scp").write_text("".join(listed))
    write_mlf("words.mlf", labels, ending="lab")
    entries = [line.split() for line in (corpus / "lexicon.txt").read_text().splitlines()]
    spoken = [f"{word} {' '.join(phones).lower()} sp\n" for word, *phones in entries]
    Path("dict").write_text("SENT-END [] sil\nSENT-START [] sil\n" + "".join(spoken))
    words = " | ".join(sorted({word for word, *_ in entries}))
    Path("gram").write_text(f"$word = {words};\n( SENT-START ( <$word> ) SENT-END )\n")


@pytest.mark.slow
def test_recordings_listed_by_htk_are_used_as_shown(tiny_corpus, tmp_path, monkeypatch, asr):
    monkeypatch.chdir(tmp_path)
    write_as_htk_has_it(tiny_corpus)
    for line in shown("how-to/prepare-data.md", "audio-lists").splitlines():
        status, _, err = asr(*line.split()[1:])
        assert status == 0, err
    for part in ("train", "test"):
        made, meant = (read_data_directory(folder / part) for folder in (Path("data"), tiny_corpus))
        assert not made.problems
        assert [(one.id, one.speaker, one.words) for one in made.utterances] == [
            (one.id, one.speaker, one.words) for one in meant.utterances
        ]
    train, *others = shown("how-to/prepare-data.md", "commands").splitlines()
    for line in (f"{train} --config {tiny_corpus / 'settings.toml'} --jobs 1", *others):
        name, *arguments = line.split()
        status, _, err = asr(*arguments)
        assert (name, status) == ("asr", 0), err
    assert len(Path("runs/mine/test/hyp.txt").read_text().splitlines()) == 2


def test_corpus_of_sphinx_becomes_a_data_directory_as_shown(tmp_path, monkeypatch, asr):
    monkeypatch.chdir(tmp_path)
    files = {"etc/rm1_train.fileids": "adg0_4/sr249\n"}
    files["etc/rm1_train.transcription"] = "<s> SHOW THE(2) <sil> SHIPS </s> (sr249)\n"
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("feat/adg0_4").mkdir(parents=True)
    frames = np.random.default_rng(0).normal(size=(30, 13)).astype("<f4")
    Path("feat/adg0_4/sr249.mfc").write_bytes(np.int32(frames.size).tobytes() + frames.tobytes())
    assert asr(*shown("how-to/prepare-data.md", "sphinx").split()[1:])[0] == 0
    (one,) = read_data_directory(Path("data/train")).utterances
    assert (one.speaker, one.words) == ("adg0_4", ("SHOW", "THE", "SHIPS"))


def test_table_of_files_becomes_a_data_directory_as_shown(tmp_path, monkeypatch, asr):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "how-to/prepare-data.md").read_text(encoding="utf-8")
    table = re.search(r"^    file,transcript,speaker\n(?:    .+\n)+", text, re.MULTILINE)
    Path("table.csv").write_text(textwrap.dedent(table[0]), encoding="utf-8")
    for name in ("audio/anna/001.wav", "audio/boris/001.wav"):
        Path(name).parent.mkdir(parents=True)
        soundfile.write(name, np.random.default_rng(0).normal(size=8000) * 0.1, 16000)
    command = re.search(r"^    asr (prepare table .*?)  ", text, re.MULTILINE)
    status, out, err = asr(*command[1].split())
    assert (status, out) == (0, shown("how-to/prepare-data.md", "prepared")), err
    train, test = (read_data_directory(Path("data", part)) for part in ("train", "test"))
    assert not train.problems + test.problems
    assert [(utterance.id, utterance.speaker, utterance.words) for utterance in train.utterances + test.utterances] == [
        ("anna_001", "anna", ("show", "all", "ships")),
        ("boris_001", "boris", ("is", "the", "enterprise", "in", "port")),
    ]
    assert train.utterances[0].audio == tmp_path / "audio/anna/001.wav"


def test_every_format_of_prepare_is_on_the_page():
    text = (DOCS / "how-to/prepare-data.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in FORMATS)


def setting_names(model: type[BaseModel]) -> set[str]:
    """Names of all settings, without their tables."""
    names: set[str] = set()
    for name, field in model.model_fields.items():
        kind = field.annotation
        names |= {name} | (setting_names(kind) if isinstance(kind, type) and issubclass(kind, BaseModel) else set())
    return names


def test_settings_table_has_the_defaults(tmp_path):
    text = (DOCS / "how-to/train.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- settings.*?-->(.*?)<!-- /settings -->", text, re.DOTALL)
    rows = re.findall(r"^\| `([\w.]+)` \| `(.+?)` \| .+ \|$", table[1], re.MULTILINE)
    assert len(rows) == len(table[1].strip().splitlines()) - 2 >= 20
    path = tmp_path / "settings.toml"
    path.write_text("".join(f"{name} = {default}\n" for name, default in rows), encoding="utf-8")
    assert load_config(path) == TrainingConfig()


def test_settings_shown_exist():
    known = setting_names(TrainingConfig) | {*NoiseSettings.model_fields, *PARAMETERS}
    for guide in sorted((DOCS / "how-to").glob("*.md")):
        text = re.sub(r"```.*?```", "", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
        for span in re.findall(r"`([^`\n]+ = [^`\n]+)`", text):
            if not span.startswith(("$", "lists")):
                named = re.findall(r"(\w+) = ", span)
                assert named and {*named} <= known, f"{guide.name}: {span}"


def test_settings_file_shown_is_valid(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(shown("how-to/train.md", "example"), encoding="utf-8")
    config = load_config(path)
    assert config.features.normalize == config.hybrid_features.normalize == "corpus"
    assert config.hybrid.noise is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "name", "made"), [("classifier", "class-means", "ClassMeans"), ("forest", "forest", "Forest")]
)
def test_classifier_shown_trains_and_decodes(block, name, made, tmp_path, monkeypatch, tiny_corpus, asr):
    package = tmp_path / "site" / "my_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "acoustic.py").write_text(shown("how-to/classifiers.md", block), encoding="utf-8")
    installed = tmp_path / "site" / "my_package-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    guide = (DOCS / "how-to/classifiers.md").read_text(encoding="utf-8")
    assert 'class-means = "my_package.acoustic:ClassMeans"' in guide
    (installed / "entry_points.txt").write_text(f"[asr.classifiers]\n{name} = my_package.acoustic:{made}\n")
    monkeypatch.syspath_prepend(package.parent)
    assert name in available_classifiers()
    try:
        status, _, err = asr(
            "train", "--data", tiny_corpus / "train", "--lexicon", tiny_corpus / "lexicon.txt",
            "--work-dir", tmp_path / "run", "--config", tiny_corpus / "settings.toml", "--jobs", 1,
            "--classifier", name,
        )  # fmt: skip
        assert status == 0, err
        model = tmp_path / "run" / "model.safetensors"
        status, out, err = asr("decode", "--model", model, "--data", tiny_corpus / "test", "--out", tmp_path / "out")
        assert status == 0, err
        assert len(out.splitlines()) == 2
        assert made in asr("info", model)[1]
    finally:
        for module in [module for module in sys.modules if module.partition(".")[0] == "my_package"]:
            del sys.modules[module]


@pytest.mark.slow
def test_words_have_states_of_their_own_as_shown(tiny_corpus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(tiny_corpus, tmp_path / "data")
    for name in ("lexicon.txt", "settings.toml"):
        shutil.copy(tiny_corpus / name, tmp_path)
    shutil.copy(next((tiny_corpus / "audio" / "test").glob("*.wav")), "speech.flac")
    exec(shown("how-to/classifiers.md", "words"), {})
    words = Path("words.txt").read_text(encoding="utf-8")
    text = (DOCS / "how-to/classifiers.md").read_text(encoding="utf-8")
    for word in ("ONE", "SEVEN"):
        line = next(line for line in words.splitlines() if line.startswith(f"{word} "))
        assert line.split() in [shown_line.split() for shown_line in text.splitlines()]
    assert capsys.readouterr().out.split()[-1] in {line.split()[0] for line in words.splitlines()}


def test_links_between_the_guides_lead_somewhere():
    for guide in [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", guide.read_text(encoding="utf-8")):
            path = (guide.parent / target).resolve()
            generated = path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix().startswith(GENERATED)
            assert generated or path.exists(), f"{guide.name}: {target}"


@pytest.mark.parametrize("guide", sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")))
def test_the_python_of_the_guides_compiles(guide):
    text = (DOCS / guide).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        compile(textwrap.dedent(block), guide, "exec")


def test_readme_python_works(toy_corpus, toy_model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("run").mkdir()
    shutil.copy(toy_model, "run")
    for name in ("speech.flac", "answer.wav"):
        samples, rate = soundfile.read(toy_corpus / "audio" / "test" / "test0-000.wav", dtype="int16")
        soundfile.write(name, samples, rate)
    recognizer, learner = re.findall(r"```python\n(.*?)```", (DOCS.parent / "README.md").read_text("utf-8"), re.DOTALL)
    exec(recognizer.replace('"LIGHTS ON", "LIGHTS OFF"', '"NO", "WISE TWO SEVEN ONE"'), {})
    exec(learner, {})
    first, second, accuracy = capsys.readouterr().out.splitlines()
    assert first.startswith("WISE ") and second.startswith("WISE ")
    assert float(accuracy) > 0.98
