"""Mini LibriSpeech: a miniature of its layout, from a download to a table."""

import gzip
import io
import json
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.acoustic import context_trees
from asr.acoustic.gmm_training import GmmSettings, TiedGmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.search_settings import SearchSettings
from asr.grammar import estimate_ngram, write_arpa
from asr.training.config import TrainingConfig, TuningSettings
from asr.util.errors import CorpusError
from recipes import systems
from recipes.mini_librispeech import __main__ as recipe
from recipes.mini_librispeech.__main__ import LEXICON, PARTS, SOURCES, TRIGRAM, read_part
from tests.recipes.conftest import Server
from tests.toy_corpus import LEXICON as WORDS
from tests.toy_corpus import RATE, _say


def _part(root: Path, speakers: list[str], rng: np.random.Generator) -> list[list[str]]:
    """Write two chapters of three sentences per speaker in FLAC at 16 kHz; return the sentences."""
    sentences = []
    for speaker in speakers:
        voice = rng.uniform(90, 240), rng.uniform(0.92, 1.1)
        for chapter in ("11", "12"):
            folder, lines = root / speaker / chapter, []
            folder.mkdir(parents=True)
            for number in range(3):
                words = [str(word) for word in rng.choice(sorted(WORDS), 4)]
                name = f"{speaker}-{chapter}-{number:04d}"
                samples = np.repeat(_say(tuple(words), *voice, rng), 16000 // RATE)
                soundfile.write(folder / f"{name}.flac", samples, 16000, subtype="PCM_16")
                lines.append(f"{name} {' '.join(words)}\n")
                sentences.append(words)
            (folder / f"{speaker}-{chapter}.trans.txt").write_text("".join(lines))
    return sentences


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A miniature of the unpacked corpus with lexicon and trigram; a word of the test is in neither."""
    root, rng = tmp_path_factory.mktemp("mini"), np.random.default_rng(0)
    sentences = _part(root / PARTS["train"], ["19", "26", "27", "32", "39"], rng)
    _part(root / PARTS["test"], ["84", "174"], rng)
    transcripts = root / PARTS["test"] / "84" / "11" / "84-11.trans.txt"
    transcripts.write_text(transcripts.read_text().rstrip("\n") + " QUIXOTIC\n")
    stressed = {"AH": "AH0", "IY": "IY1", "UW": "UW1"}
    lines = [f"{word}\t{' '.join(stressed.get(p, p) for p in phones)}\n" for word, phones in sorted(WORDS.items())]
    (root / LEXICON).write_text("".join(lines))
    write_arpa(estimate_ngram(sentences, 3), root / "trigram.arpa")
    (root / TRIGRAM).write_bytes(gzip.compress((root / "trigram.arpa").read_bytes()))
    (root / "trigram.arpa").unlink()
    return root


def archive(root: Path, part: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as written:
        written.add(root / part, part)
        info = tarfile.TarInfo("LibriSpeech/README.TXT")
        written.addfile(info, io.BytesIO())
    return buffer.getvalue()


def test_parts_have_speakers_words_and_problems(tiny, tmp_path):
    test = read_part(tiny, PARTS["test"], complete=True)
    assert test.speakers == ("174", "84") and len(test) == 12
    assert test.utterances[-1].id == "84-12-0002" and set(test.utterances[-1].words or ()) <= set(WORDS)
    rng = np.random.default_rng(1)
    _part(tmp_path / "part", ["5"], rng)
    next((tmp_path / "part").rglob("*.flac")).write_bytes(b"fLaC")
    assert len(read_part(tmp_path, "part", complete=False).problems) == 1
    with pytest.raises(CorpusError, match="1 of the 6 recordings"):
        read_part(tmp_path, "part", complete=True)


def test_missing_files_are_all_named(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["mini", "--corpus-dir", str(tmp_path), "--work-dir", str(tmp_path / "work")])
    with pytest.raises(CorpusError, match=rf"{PARTS['train']}.*{LEXICON}.*--download"):
        recipe.main()


def test_the_recipe_goes_from_a_download_to_a_table(tiny, tmp_path, server: Server, monkeypatch, capsys):
    server.files = {f"{Path(part).name}.tar.gz": archive(tiny, part) for part in PARTS.values()}
    server.files |= {name: (tiny / name).read_bytes() for name in (LEXICON, TRIGRAM)}
    server.cut_after = [1000]
    sources = [replace(one, urls=(f"{server.url}/{one.name}",), checksum="", n_bytes=0) for one in SOURCES]
    monkeypatch.setattr(recipe, "SOURCES", sources)
    search = SearchSettings(lm_scale=8.0, beam=60.0, max_active=300)
    config = TrainingConfig(
        features=recipe.FEATURES,
        gmm=GmmSettings(mixtures=(1, 2), iterations=(6, 3)),
        tied_gmm=TiedGmmSettings(mixtures=(1,), iterations=(2,)),
        gmm_search=search,
        hybrid_search=search,
        tuning=TuningSettings(held_out=0.2, scale_factors=(1.0,), penalty_factors=(0.0,)),
    )
    parameters = {"loss": "ovr", "n_centers": 40, "n_candidates": 80, "max_iter": 1, "min_steps": 20}
    monkeypatch.setattr(recipe, "CONFIG", config)
    monkeypatch.setattr(recipe, "CLASSIFIER", HybridSettings(parameters=parameters, vtlp_warps=(), mixtures=1))
    monkeypatch.setattr(recipe, "TIED_STATES", 30)
    monkeypatch.setattr(context_trees, "MIN_FRAMES", 20)
    monkeypatch.setattr(systems, "MAPPED_COMPONENTS", (2,))
    monkeypatch.setattr(systems, "TIED_COMPONENTS", (1,))
    work, corpus = tmp_path / "work", tmp_path / "corpus"
    command = ["mini", "--corpus-dir", str(corpus), "--work-dir", str(work), "--jobs", "1", "--download"]
    monkeypatch.setattr(sys, "argv", command)
    recipe.main()
    assert server.asked[:2] == [None, "bytes=1000-"]
    assert not (corpus / "LibriSpeech" / "README.TXT").exists()
    rows = json.loads((work / "results.json").read_text())
    assert len(rows) == 7 and sum(row["primary"] for row in rows) == 1
    assert {row["words"] for row in rows} == {12 * 4 + 1}
    assert all(1 <= row["errors"] < 20 for row in rows), rows
    shown = capsys.readouterr().out
    assert "18.10" in shown and "ovr-tied-mapped" in shown
