"""Audio files on the command line: in one command, one by one, with a silent one among them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.scoring.files import read_transcripts
from asr.scoring.wer import score_utterances

Asr = Callable[..., tuple[int, str, str]]


@pytest.mark.slow
def test_files_in_one_command_or_one_by_one_are_recognized_as_the_data_directory_is(
    asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path
) -> None:
    def decoded(name: str, *arguments: object) -> dict[str, tuple[str, ...]]:
        assert asr("decode", "--model", toy_model, "--out", tmp_path / name, *arguments)[0] == 0
        return read_transcripts(tmp_path / name / "hyp.txt")

    files = sorted((toy_corpus / "audio" / "test").iterdir())
    silent, hush = tmp_path / "silent.wav", tmp_path / "hush.wav"
    soundfile.write(silent, np.zeros(8000), 8000)
    soundfile.write(hush, 1e-4 * np.random.default_rng(0).standard_normal(8000), 8000)
    together = decoded("together", *files)
    single = {name: words for file in files for name, words in decoded(f"by-{file.stem}", file).items()}
    assert together == single
    for rule in ("file", "directory", "one"):
        plain = decoded(f"{rule}-plain", *files, "--speakers", rule)
        disturbed = decoded(f"{rule}-disturbed", *files, silent, hush, "--speakers", rule)
        assert {name: disturbed[name] for name in plain} == plain
    assert decoded("folder", toy_corpus / "audio" / "test") == together
    references = read_transcripts(toy_corpus / "test" / "text")
    as_corpus = score_utterances(references, decoded("data", "--data", toy_corpus / "test"))
    assert score_utterances(references, together).wer <= as_corpus.wer + 1.0
