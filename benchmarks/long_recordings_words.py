"""Alignment of a joined recording with scattered wrong words: boundaries, peak memory and processor time.

    python -m benchmarks.long_recordings_words --data DIR --model FILE [--lexicon FILE] [--root DIR]
        [--work-dir W] [--wrong 0.02] [--seeds 0 1 2]

The utterances of a data directory are joined to one recording with one transcript, and a part of the words is replaced
by others. Starts and ends of all words, also of the wrong ones, are compared with separate alignments of the
utterances by the same model. Memory and time are those of the command `asr align`.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from asr.alignment.ctm import CtmRow, read_ctm
from asr.corpus.data_directory import Utterance, read_data_directory
from benchmarks.long_recordings import write_joined

NEAR = (0.02, 0.05, 0.1, 0.5)  # seconds


def with_wrong_words(words: Sequence[str], part: float, seed: int) -> list[str]:
    """Replace a part of the words by other words of the transcript."""
    rng = np.random.default_rng(seed)
    found, known = list(words), sorted(set(words))
    for place in rng.choice(len(words), round(part * len(words)), replace=False).tolist():
        found[place] = str(rng.choice([word for word in known if word != words[place]]))
    return found


def align(options: Sequence[str], log: Path) -> tuple[float, float]:
    """Run `asr align` with one job; return its processor time in seconds and its peak memory in MB (2^20)."""
    command = [sys.executable, "-m", "asr.cli", "align", *options, "--jobs", "1"]
    with log.open("w", encoding="utf-8") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}. See {log}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def expected_times(utterances: Sequence[Utterance], starts: Sequence[float], separate: Sequence[CtmRow]) -> np.ndarray:
    """Return start and end of every word in the recording, float64 (n, 2); nan in utterances that were left out."""
    of: dict[str, list[CtmRow]] = {}
    for row in separate:
        of.setdefault(row.utterance, []).append(row)
    times = []
    for one, begin in zip(utterances, starts, strict=False):
        rows = of.get(one.id)
        own = [(np.nan, np.nan)] * len(one.words or ()) if rows is None else [
            (begin + row.start, begin + row.start + row.duration) for row in rows
        ]  # fmt: skip
        times += own
    return np.array(times)


def found_times(out: Path, n_words: int) -> np.ndarray:
    """Return start and end of every word, float64 (n, 2); nan in passages without alignment."""
    rows = iter(read_ctm(out / "words.ctm"))
    times = []
    for line in (out / "passages.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        _, _, _, status, number, _ = line.split("\t")
        for _ in range(int(number)):
            row = next(rows) if status == "aligned" else None
            times.append((np.nan, np.nan) if row is None else (row.start, row.start + row.duration))
    assert len(times) == n_words
    return np.array(times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Align and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="long_recordings_words"
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--work-dir", type=Path, default=Path("runs/long-recordings-words"))
    parser.add_argument("--wrong", type=float, default=0.02, help="part of the words to replace")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args(arguments)
    utterances = [one for one in read_data_directory(given.data, root=given.root).utterances if one.words]
    work = given.work_dir
    work.mkdir(parents=True, exist_ok=True)
    options = ["--model", str(given.model)] + (["--lexicon", str(given.lexicon)] if given.lexicon else [])
    root = ["--root", str(given.root)] if given.root else []
    align([*options, *root, "--data", str(given.data), "--out", str(work / "separate")], work / "separate.log")
    separate = read_ctm(work / "separate" / "words.ctm")
    print("seed", "seconds", "words", *(f"{limit:g} s" for limit in NEAR), "CPU s", "MB", sep="\t")
    words = [word for one in utterances for word in one.words or ()]
    for seed in given.seeds:
        folder = work / f"seed-{seed}"
        starts = write_joined(utterances, with_wrong_words(words, given.wrong, seed), folder / "data")
        cpu, memory = align([*options, "--data", str(folder / "data"), "--out", str(folder / "out")], folder / "log")
        expected = expected_times(utterances, starts, separate)
        away = np.abs(found_times(folder / "out", len(words)) - expected)[~np.isnan(expected)]
        near = [f"{100 * float(np.mean(away <= limit + 1e-6)):.1f}" for limit in NEAR]
        print(seed, f"{starts[-1]:.0f}", len(words), *near, f"{cpu:.0f}", f"{memory:.0f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
