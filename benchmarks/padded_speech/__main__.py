"""Effect of silence around and between words on training: the same recordings without and with padding.

    python -m benchmarks.padded_speech --data-dir DIR --work-dir W

DIR holds `fsdd`, `speechocean762` and `noise_esc10`. Digits are joined to strings of three to six; sentences are cut
between their words. One to three seconds of a noise clip at -50 to -35 dB of full scale are inserted before, after and
between the pieces. Systems are trained and tested on the plain and on the padded recordings, with every selected flat
start and the defaults of `asr train`. For digits, one speaker is held out for the test and another for scale and
penalty; sentences have their own `dev` and `test`. Models are also tested on the other kind of recordings.

Prints word error rates, the share of inserted noise in the training recordings, the same including the silence of the
plain alignment, and the aligned share of silence. Also prints how many phone boundaries of the padded recordings are
within 20 ms of those of the plain ones, and last one JSON line. Finished stages are not repeated.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from asr.acoustic.model_file import SearchSettings  # noqa: E402
from asr.experiments.comparison import pool  # noqa: E402
from asr.experiments.recipe import run_recipe  # noqa: E402
from asr.lexicon import Lexicon, read_lexicon  # noqa: E402
from asr.lexicon.lexicon import without_stress  # noqa: E402
from asr.runs.run import Run  # noqa: E402
from asr.runs.workers import open_workers  # noqa: E402
from asr.training.config import TrainingConfig, TuningSettings  # noqa: E402
from asr.training.gmm_stages import TrainingContext  # noqa: E402
from benchmarks.padded_speech.experiment import Options, Trial, digit_trials, sentence_trials  # noqa: E402

DEFAULTS = TrainingConfig()
TELEPHONE = {"sample_rate": 8000}
DIGITS = TrainingConfig(
    features=DEFAULTS.features.model_copy(update=TELEPHONE),
    hybrid_features=DEFAULTS.hybrid_features.model_copy(update=TELEPHONE),
)
SENTENCES = TrainingConfig(
    gmm_search=SearchSettings(lm_scale=10.0, beam=110.0, max_active=2500),
    hybrid_search=SearchSettings(lm_scale=7.0, beam=80.0, max_active=3000),
    tuning=TuningSettings(scale_factors=(0.7, 1.0, 1.4), penalty_factors=(-0.8, -0.4, 0.0, 0.2)),
)
Row = dict[str, Any]


def main() -> None:
    """Run the selected experiments and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.padded_speech",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data-dir", type=Path, required=True, help="folder with fsdd, speechocean762 and noise_esc10")
    parser.add_argument("--work-dir", type=Path, required=True, help="folder for audio, models and stages")
    parser.add_argument("--corpora", nargs="+", choices=("fsdd", "speechocean"), default=["fsdd", "speechocean"])
    parser.add_argument(
        "--starts", nargs="+", choices=("auto", "changes", "pauses", "equal"), default=["equal", "auto"]
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="of strings, padding and noise")
    parser.add_argument("--folds", type=int, default=6, help="speakers of fsdd that are left out in turn")
    parser.add_argument("--share", type=float, default=1.0, help="fraction of the recordings to use")
    parser.add_argument(
        "--speech-level",
        type=float,
        help="mean power of the recordings in dB of full scale; two speakers of fsdd are quieter than the noise "
        "(default: as recorded)",
    )
    parser.add_argument("--hybrid", action="store_true", help="hybrids too")
    parser.add_argument("--jobs", type=int, default=1)
    found = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    options = Options(found.starts, found.seeds, found.folds, found.share, found.speech_level, found.hybrid)
    rows = []
    for corpus in found.corpora:
        rows += _rows(_trials(corpus, found.data_dir, found.work_dir / corpus, options, found.jobs))
    _print(rows)
    print(json.dumps(rows))


def _trials(corpus: str, data: Path, work: Path, options: Options, jobs: int) -> list[Trial]:
    folder, config = ("fsdd", DIGITS) if corpus == "fsdd" else ("speechocean762", SENTENCES)
    lexicon = read_lexicon(data / folder / "lexicon.txt")
    if corpus == "speechocean":
        variants = lexicon.pronunciations.items()  # without stress marks, as in the recipe
        folded = {word: tuple(tuple(map(without_stress, phones)) for phones in own) for word, own in variants}
        lexicon = Lexicon(folded, lexicon.source)
    settings = {
        "share": options.share,
        "speech_level": options.speech_level,
        "training": config.model_dump(mode="json"),
    }
    with (
        open_workers(jobs) as workers,
        Run.open(
            work, command=sys.argv, configuration=settings, inputs={"lexicon": lexicon.digest()}, seed=config.seed
        ) as run,
    ):
        context = TrainingContext(run, lexicon, config, "audio", workers)
        trials = digit_trials if corpus == "fsdd" else sentence_trials
        return list(trials(context, data, options))


def _rows(trials: Sequence[Trial]) -> list[Row]:
    """Return a row for every corpus, start and system, pooled over folds and seeds."""
    rows: list[Row] = []
    for corpus, start in dict.fromkeys((trial.corpus, trial.start) for trial in trials):
        own = [trial for trial in trials if (trial.corpus, trial.start) == (corpus, start)]
        systems = [part.system.name for part in own[0].decoded["plain"]]
        for number, system in enumerate(systems):
            row: Row = {"corpus": corpus, "start": start, "system": system}
            for condition in own[0].decoded:
                # Seeds join different strings under the same names, so they are scored separately.
                reports = [pool([trial.decoded[condition][number]])[0] for trial in own]
                row[f"words {condition}"] = sum(report.words for report in reports)
                row[f"errors {condition}"] = sum(report.errors for report in reports)
                row[f"wer {condition}"] = 100.0 * row[f"errors {condition}"] / row[f"words {condition}"]
            for name in ("noise", "true_silence", "silence", "close_boundaries"):
                row[name] = sum(getattr(trial.agreement, name) for trial in own) / len(own)
            rows.append(row)
    return rows


def _print(rows: Sequence[Row]) -> None:
    table = Table()
    rates = ("plain", "plain to padded", "padded to plain", "padded")
    of_alignment = ("noise %", "and plain silence", "aligned", "boundaries < 20 ms %")
    for title in ("corpus", "start", "system", "WER % plain", *rates[1:], *of_alignment):
        table.add_column(title)
    for row in rows:
        table.add_row(
            *(row[name] for name in ("corpus", "start", "system")),
            *(f"{row[f'wer {name}']:.2f}" for name in rates),
            *(f"{row[name]:.1f}" for name in ("noise", "true_silence", "silence", "close_boundaries")),
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    run_recipe(main)
