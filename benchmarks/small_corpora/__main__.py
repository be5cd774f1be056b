"""Results of `asr train` with default settings on small corpora without a recipe, from several seeds.

    python -m benchmarks.small_corpora --data-dir DIR --work-dir W

DIR holds `fsdd`, `an4`, `speechocean762` and `noise_esc10`. Each corpus is drawn once from one of them. Every seed
trains it by `asr train` with default settings (except the sampling rate of telephone speech and the seed). Both models
recognize at least 400 other words with the model's own grammar, with tuned and default search settings. Prints mean
word error rates over the seeds and their spread. Also prints how often the error rate reported by training is within
two standard errors of the test's. The standard error is that of the test, or of the difference (the held-out words are
a sample too). The last line is JSON. Finished parts in W are not repeated.
"""

import argparse
import json
import logging
import math
import os
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.small_corpora.corpora import CORPORA, TELEPHONE, make_corpus  # noqa: E402
from benchmarks.small_corpora.runs import MODELS, Outcome, train_and_score  # noqa: E402

log = logging.getLogger(__name__)


def main() -> None:
    """Train, recognize and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.small_corpora",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data-dir", type=Path, required=True, help="folder with fsdd, an4, speechocean762, noise_esc10"
    )
    parser.add_argument("--work-dir", type=Path, required=True, help="folder for corpora, models and results")
    parser.add_argument("--corpora", nargs="+", choices=tuple(CORPORA), default=list(CORPORA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3])
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel trainings, each on one core")
    found = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    for name in found.corpora:
        make_corpus(name, found.data_dir, found.work_dir / name)

    def one(task: tuple[str, int]) -> list[Outcome]:
        name, seed = task
        corpus = found.work_dir / name
        rate = 8000 if name in TELEPHONE else None
        outcomes = train_and_score(name, corpus, corpus / f"seed-{seed}", seed, rate)
        log.info("%s, seed %d: %s", name, seed, "; ".join(f"{each.system} {each.wer:.1f} %" for each in outcomes))
        return outcomes

    with ThreadPoolExecutor(found.jobs) as pool:
        tasks = [(name, seed) for name in found.corpora for seed in found.seeds]
        outcomes = [outcome for of_run in pool.map(one, tasks) for outcome in of_run]
    rows = [_row(name, system, outcomes) for name in found.corpora for system in MODELS]
    _print(rows)
    print(json.dumps({"rows": rows, "runs": [asdict(outcome) for outcome in outcomes]}))


def _row(corpus: str, system: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    own = [each for each in outcomes if (each.corpus, each.system) == (corpus, system)]
    rates = [each.wer for each in own]
    mean = statistics.mean(rates)
    message = [each for each in own if each.reported is not None and each.reported_error is not None]
    apart = [abs((each.reported or 0.0) - each.wer) for each in message]
    return {
        "corpus": corpus,
        "system": system,
        "words": own[0].words,
        "wer": mean,
        "deviation": statistics.stdev(rates) if len(rates) > 1 else 0.0,
        "untuned": statistics.mean(each.untuned for each in own),
        "insertions": statistics.mean(each.insertions for each in own),
        "deletions": statistics.mean(each.deletions for each in own),
        "reported": statistics.mean(each.reported or 0.0 for each in message) if message else None,
        "standard_error": statistics.mean(each.standard_error for each in own),
        "within_test": sum(by <= 2 * each.standard_error for by, each in zip(apart, message, strict=True)),
        "within_both": sum(
            by <= 2 * math.hypot(each.standard_error, each.reported_error or 0.0)
            for by, each in zip(apart, message, strict=True)
        ),
        "told": len(message),
        "seconds": statistics.mean(each.seconds for each in own),
    }


def _print(rows: Sequence[dict[str, Any]]) -> None:
    table = Table()
    for title in (
        *("corpus", "system", "words", "WER %", "± over seeds", "untuned", "ins", "del"),
        *("reported", "se of test", "within 2 of them", "within 2 se of the difference", "s"),
    ):
        table.add_column(title)
    for row in rows:
        reported = "" if row["reported"] is None else f"{row['reported']:.1f}"
        table.add_row(
            *(row["corpus"], row["system"], str(row["words"])),
            *(f"{row[name]:.1f}" for name in ("wer", "deviation", "untuned", "insertions", "deletions")),
            *(
                reported,
                f"{row['standard_error']:.1f}",
                *(f"{row[name]} of {row['told']}" for name in ("within_test", "within_both")),
            ),
            f"{row['seconds']:.0f}",
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
