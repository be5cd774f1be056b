"""A corpus of CMU Sphinx through the command line: checked, trained on, and decoded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from asr.corpus.data_directory import read_data_directory
from asr.corpus.sphinx_corpus import read_sphinx_corpus
from asr.corpus.sphinx_features import write_sphinx_features
from asr.corpus.writing import write_data_directory
from asr.features.config import FeatureConfig
from asr.features.extraction import static_features
from asr.scoring.files import read_transcripts


def as_sphinx(corpus: Path, split: str, out: Path) -> tuple[Path, Path, Path]:
    """The features of a data directory's audio as a Sphinx corpus: its two lists and the folder of the files."""
    config = FeatureConfig(sample_rate=8000)
    fileids, transcription = out / f"{split}.fileids", out / f"{split}.transcription"
    paths, lines = [], []
    for utterance in read_data_directory(corpus / split).utterances:
        path = f"{utterance.speaker}/{utterance.id}"
        write_sphinx_features(out / "feat" / f"{path}.mfc", static_features(utterance, config))
        paths.append(f"{path}\n")
        lines.append(f"<s> {' '.join(utterance.words or ())} </s> ({utterance.id})\n")
    fileids.write_text("".join(paths))
    transcription.write_text("".join(lines))
    return fileids, transcription, out / "feat"


@pytest.mark.slow
def test_a_sphinx_corpus_is_valid_trained_on_and_decoded(
    asr: Callable[..., tuple[int, str, str]], tiny_corpus: Path, tmp_path: Path
) -> None:
    for split in ("train", "test"):
        corpus = read_sphinx_corpus(*as_sphinx(tiny_corpus, split, tmp_path))
        assert not corpus.problems
        write_data_directory(tmp_path / split, corpus.utterances)
    lexicon, config = tiny_corpus / "lexicon.txt", tiny_corpus / "settings.toml"
    given = ("--data", tmp_path / "train", "--lexicon", lexicon, "--config", config)
    assert asr("validate", *given)[0] == 0
    status, _, err = asr("train", *given, "--work-dir", tmp_path / "run", "--jobs", "1")
    assert status == 0, err
    model = tmp_path / "run" / "model.safetensors"
    status, _, err = asr("decode", "--model", model, "--data", tmp_path / "test", "--out", tmp_path / "out")
    assert status == 0, err
    heard, said = (read_transcripts(tmp_path / name) for name in ("out/hyp.txt", "test/text"))
    assert heard.keys() == said.keys() and any(heard.values())
