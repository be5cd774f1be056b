"""What the guides in docs/ show is what the program does."""

import re
import shutil
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

from asr.acoustic.classifiers import available_classifiers
from asr.alignment.htk_labels import LabelSegment, write_mlf
from asr.corpus.data_directory import read_data_directory
from asr.corpus.htk_parameters import ParameterHeader, write_parameters
from asr.corpus.kaldi_ark import read_matrix
from asr.training.config import TrainingConfig, load_config

DOCS = Path(__file__).parents[2] / "docs"


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
    exec(shown("data-directories.md", "htk"), {})
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
    exec(shown("data-directories.md", "audio-lists"), {})
    for part in ("train", "test"):
        made, meant = (read_data_directory(folder / part) for folder in (Path("data"), tiny_corpus))
        assert not made.problems
        assert [(one.id, one.speaker, one.words) for one in made.utterances] == [
            (one.id, one.speaker, one.words) for one in meant.utterances
        ]
    train, *others = shown("data-directories.md", "commands").splitlines()
    for line in (f"{train} --config {tiny_corpus / 'settings.toml'} --jobs 1", *others):
        name, *arguments = line.split()
        status, _, err = asr(*arguments)
        assert (name, status) == ("asr", 0), err
    assert len(Path("runs/mine/test/hyp.txt").read_text().splitlines()) == 2


def test_table_of_files_becomes_a_data_directory_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "data-directories.md").read_text(encoding="utf-8")
    table = re.search(r"^    file,transcript,speaker\n(?:    .+\n)+", text, re.MULTILINE)
    Path("table.csv").write_text(textwrap.dedent(table[0]), encoding="utf-8")
    for name in ("audio/anna/001.wav", "audio/boris/001.wav"):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_bytes(b"RIFF")
    exec(shown("data-directories.md", "csv"), {})
    train, test = (read_data_directory(Path("data", part)) for part in ("train", "test"))
    assert not train.problems + test.problems
    assert [(utterance.id, utterance.speaker, utterance.words) for utterance in train.utterances + test.utterances] == [
        ("anna_001", "anna", ("SHOW", "ALL", "SHIPS")),
        ("boris_001", "boris", ("IS", "THE", "ENTERPRISE", "IN", "PORT")),
    ]
    assert train.utterances[0].audio == tmp_path / "audio/anna/001.wav"


def transcripts_of_table(
    table: bytes, capsys: pytest.CaptureFixture[str], *, tabs: bool = False
) -> tuple[list[tuple[str, ...]], str]:
    """Return the words that the guide's code makes of a table, in the order of the names, and its printed lines."""
    code = shown("data-directories.md", "csv")
    Path("table.csv").write_bytes(table)
    if tabs:
        code = code.replace('"table.csv", ","', '"table.csv", "\\t"')
    exec(code, {})
    directory = read_data_directory(Path("data/train"))
    return [utterance.words for utterance in directory.utterances], capsys.readouterr().out


@pytest.fixture
def in_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        (tmp_path / f"{number}.wav").write_bytes(b"RIFF")


@pytest.mark.parametrize(
    ("transcript", "words"),
    [
        ("हिन्दी, है\u0902।", ("हिन्दी", "है\u0902")),
        ("ภาษาไทยที่ นี้!", ("ภาษาไทยที่", "นี้")),
        ("Cafe\u0301 de\u0301ja\u0300-vu?", ("CAF\u00c9", "D\u00c9J\u00c0", "VU")),
        ("می\u200cخواهم\u060c", ("می\u200cخواهم",)),
        ("\u201cDon\u2019t!\u201d she said \u2013 twice", ("DON'T", "SHE", "SAID", "TWICE")),
    ],
    ids=["hindi", "thai", "nfd", "persian", "quotes"],
)
def test_guide_table_code_combining_marks_stay(
    transcript: str, words: tuple[str, ...], in_corpus: None, capsys: pytest.CaptureFixture[str]
) -> None:
    table = f'file,transcript,speaker\n0.wav,"{transcript}",anna\n'
    assert transcripts_of_table(table.encode(), capsys) == ([words], "1 rows: 1 utterances, 0 left out\n")


def test_guide_table_code_open_quote_in_tabs_loses_nothing(in_corpus: None, capsys: pytest.CaptureFixture[str]) -> None:
    table = b'file\ttranscript\tspeaker\n0.wav\t"one\tanna\n1.wav\ttwo\tanna\n\n2.wav\tthree"\tanna\n'
    found, printed = transcripts_of_table(table, capsys, tabs=True)
    assert found == [("ONE",), ("TWO",), ("THREE",)]
    assert printed.startswith("3 rows: 3 utterances")


def test_guide_table_code_lost_rows_are_reported(in_corpus: None, capsys: pytest.CaptureFixture[str]) -> None:
    table = b'file,transcript,speaker\n0.wav,one,anna\n\n1.wav,"two,anna\n2.wav,three",anna\n3.wav,,anna\n4.wav,five\n'
    found, printed = transcripts_of_table(table, capsys)
    assert found == [("ONE",)]
    counts, *lost = printed.splitlines()
    assert "4 rows" in counts and "3 left out" in counts
    assert [re.match(r"line (\d+)", line)[1] for line in lost] == ["5", "6", "7"]
    assert "2 lines" in lost[0] and "quote" in lost[0]


def setting_names(model: type[BaseModel]) -> Mapping[str, set[str]]:
    """Names of the settings of every table, those of no table under ''."""
    tables: dict[str, set[str]] = {"": set()}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            tables[name] = set(kind.model_fields)
        else:
            tables[""].add(name)
    return tables


def test_the_settings_shown_are_the_defaults(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(shown("training.md", "settings"), encoding="utf-8")
    assert load_config(path) == TrainingConfig()


def test_every_setting_is_shown():
    tables: dict[str, set[str]] = {}
    table = ""
    for line in shown("training.md", "settings").splitlines():
        if heading := re.match(r"\[(\w+)\]", line):
            table = heading[1]
        elif setting := re.match(r"(?:# )?(\w+) = ", line):
            tables.setdefault(table, set()).add(setting[1])
    expected = dict(setting_names(TrainingConfig))
    assert tables.pop("hybrid_features") <= expected.pop("hybrid_features")
    assert tables == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "name", "made"), [("classifier", "class-means", "ClassMeans"), ("forest", "forest", "Forest")]
)
def test_classifier_shown_trains_and_decodes(block, name, made, tmp_path, monkeypatch, tiny_corpus, asr):
    package = tmp_path / "site" / "my_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "acoustic.py").write_text(shown("training.md", block), encoding="utf-8")
    installed = tmp_path / "site" / "my_package-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    assert 'class-means = "my_package.acoustic:ClassMeans"' in (DOCS / "training.md").read_text(encoding="utf-8")
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
    exec(shown("training.md", "words"), {})
    words = Path("words.txt").read_text(encoding="utf-8")
    text = (DOCS / "training.md").read_text(encoding="utf-8")
    for word in ("ONE", "SEVEN"):
        line = next(line for line in words.splitlines() if line.startswith(f"{word} "))
        assert line.split() in [shown_line.split() for shown_line in text.splitlines()]
    assert capsys.readouterr().out.split()[-1] in {line.split()[0] for line in words.splitlines()}


def test_links_between_the_guides_lead_somewhere():
    for guide in [*DOCS.glob("*.md"), *DOCS.parent.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", guide.read_text(encoding="utf-8")):
            assert (guide.parent / target).exists(), f"{guide.name}: {target}"


@pytest.mark.parametrize("guide", sorted(path.name for path in DOCS.glob("*.md")))
def test_the_python_of_the_guides_compiles(guide):
    text = (DOCS / guide).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        compile(textwrap.dedent(block), guide, "exec")
