"""One training with default settings, and recognition with and without the tuned search."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from asr.scoring.bootstrap import MIN_SPEAKERS, wer_standard_error
from asr.scoring.files import read_transcripts, read_utt2spk
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.config import TrainingConfig

MODELS = {"mixtures": "gmm", "hybrid": "model"}


@dataclass(frozen=True)
class Outcome:
    """Errors of one system of one training.

    Attributes
    ----------
    wer, untuned : float
        % on the test with the tuned search and with the settings' own.
    standard_error : float
        Standard error of `wer`, by bootstrap over speakers if there are at least five, else over utterances.
    reported, reported_error : float or None
        Held-out word error rate that training reported and its standard error, %.
    """

    corpus: str
    seed: int
    system: str
    words: int
    wer: float
    insertions: int
    deletions: int
    untuned: float
    standard_error: float
    reported: float | None
    reported_error: float | None
    search: dict[str, float]
    seconds: float


def train_and_score(
    name: str, corpus: Path, work: Path, seed: int, rate: int | None, *, settings: str = ""
) -> list[Outcome]:
    """Train in `work` and score both models; finished parts are not repeated.

    `settings` are tables of a settings file that differ from the defaults. Raises RuntimeError with the output of a
    failed command.
    """
    work.mkdir(parents=True, exist_ok=True)
    config = f"seed = {seed}\n" + (f"[features]\nsample_rate = {rate}\n" if rate else "")
    (work / "settings.toml").write_text(config + settings, encoding="utf-8")
    begun = time.monotonic()
    run = work / "run"
    _asr(
        *("train", "--data", corpus / "train", "--lexicon", corpus / "lexicon.txt", "--work-dir", run),
        *("--config", work / "settings.toml", "--jobs", 1),
    )
    seconds = time.monotonic() - begun
    defaults = TrainingConfig()
    untuned = {"mixtures": defaults.gmm_search, "hybrid": defaults.hybrid_search}
    held_out = run / "held-out.json"
    message = json.loads(held_out.read_text(encoding="utf-8")) if held_out.exists() else {}
    outcomes = []
    for system, file in MODELS.items():
        model = run / f"{file}.safetensors"
        own = untuned[system]
        plain = ("--lm-scale", own.lm_scale, "--insertion-penalty", own.insertion_penalty)
        tuned, default = (
            _decode(model, corpus / "test", work / f"{system}-{kind}", options)
            for kind, options in (("tuned", ()), ("untuned", plain))
        )
        several = len(tuned.speakers()) >= MIN_SPEAKERS
        outcomes.append(
            Outcome(
                corpus=name,
                seed=seed,
                system=system,
                words=tuned.words,
                wer=tuned.wer,
                insertions=tuned.insertions,
                deletions=tuned.deletions,
                untuned=default.wer,
                standard_error=wer_standard_error(tuned, unit="speaker" if several else "utterance"),
                reported=message.get(file, {}).get("wer"),
                reported_error=message.get(file, {}).get("standard_error"),
                search=message.get(file, {}).get("search", {}),
                seconds=seconds,
            )
        )
    (work / "outcomes.json").write_text(json.dumps([asdict(each) for each in outcomes]), encoding="utf-8")
    return outcomes


def _decode(model: Path, test: Path, out: Path, options: Sequence[object]) -> ScoreReport:
    _asr("decode", "--model", model, "--data", test, "--out", out, "--jobs", 1, *options)
    hypotheses = read_transcripts(out / "hyp.txt")
    return score_utterances(read_transcripts(test / "text"), hypotheses, speakers=read_utt2spk(test / "utt2spk"))


def _asr(*arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "asr.cli", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"asr {' '.join(map(str, arguments))}: {done.stderr[-2000:]}")
