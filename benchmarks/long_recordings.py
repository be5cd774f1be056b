"""Alignment of a joined recording with wrong and untranscribed passages, compared with separate alignments.

    python -m benchmarks.long_recordings --data DIR --model FILE [--lexicon FILE] [--work-dir W] [--seeds 0 1 2]

The utterances of a data directory are joined to one recording with one transcript. For each seed, the words of a ninth
of the utterances are replaced by random words of the transcripts, and those of another ninth are removed. The last row
has neither. Printed are the parts of both passages with their status, the seconds that have such a status elsewhere,
and the part of the other words that start within 100 ms of the peer: separate alignments by the same model.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

import asr
from asr.alignment.ctm import CtmRow, read_ctm
from asr.commands import long_utterances
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.feature_file import read_features
from asr.corpus.kaldi_ark import write_archive
from asr.corpus.writing import write_data_directory

LIMIT = 60.0  # seconds above which the joined recording is aligned as passages
NEAR = 0.1  # seconds
MARGIN = 1.0  # seconds around the passages whose words do not count
FRAME = 0.01  # seconds of archived features

Span = tuple[float, float]


@dataclass(frozen=True)
class Joined:
    """A recording joined from utterances: their begins in seconds, the end, and the spans of both passages."""

    starts: list[float]
    wrong: Span | None = None
    untranscribed: Span | None = None


@dataclass(frozen=True)
class Measured:
    """Parts of the passages with the right status, seconds with a wrong one, and the part of the near words."""

    wrong: float
    untranscribed: float
    false_seconds: float
    near: float


def join(utterances: Sequence[Utterance], folder: Path, seed: int | None) -> Joined:
    """Write a data directory with the joined audio or features; without a seed, all words are right."""
    rng = np.random.default_rng(seed)
    ninth = len(utterances) // 9
    begins = [int(rng.integers(ninth, 3 * ninth)), int(rng.integers(5 * ninth, 7 * ninth))]
    wrong, removed = (range(one, one + ninth) if seed is not None else range(0) for one in begins)
    pool = [word for one in utterances for word in one.words or ()]
    words: list[str] = []
    for number, one in enumerate(utterances):
        own = list(one.words or ())
        words += rng.choice(pool, len(own)).tolist() if number in wrong else [] if number in removed else own
    starts = write_joined(utterances, words, folder)
    spans = [(starts[one.start], starts[one.stop]) if one else None for one in (wrong, removed)]
    return Joined(starts, *spans)


def write_joined(utterances: Sequence[Utterance], words: Sequence[str], folder: Path) -> list[float]:
    """Write a data directory with the joined audio or features of utterances; return their begins and the end in s."""
    parts, starts, rate = [], [0.0], 1.0 / FRAME
    for one in utterances:
        if one.archive is not None:
            part = read_features(one.archive, one.offset)
        else:
            part, rate = soundfile.read(one.source, dtype="float32")
        parts.append(part)
        starts.append(starts[-1] + len(part) / rate)
    folder.mkdir(parents=True, exist_ok=True)
    whole = np.concatenate(parts)
    if utterances[0].archive is not None:
        write_archive(folder / "feats.ark", folder / "feats.scp", [("all", whole)])
        (folder / "utt2spk").write_text("all all\n", encoding="utf-8")
        (folder / "text").write_text(f"all {' '.join(words)}\n", encoding="utf-8")
    else:
        soundfile.write(folder / "all.wav", whole, int(rate))
        write_data_directory(folder, [Utterance("all", "all", tuple(words), folder / "all.wav")])
    return starts


def measure(joined: Joined, utterances: Sequence[Utterance], separate: Sequence[CtmRow], out: Path) -> Measured:
    """Compare the alignment of the joined recording in `out` with the separate alignments of the utterances."""
    table = [line.split("\t") for line in (out / "passages.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    rows = [(float(start), float(end), status) for _, start, end, status, *_ in table]

    def covered(span: Span | None, *statuses: str) -> float:
        if span is None:
            return 0.0
        return sum(max(0.0, min(end, span[1]) - max(start, span[0])) for start, end, kind in rows if kind in statuses)

    bad = [span for span in (joined.wrong, joined.untranscribed) if span is not None]
    marked = sum(end - start for start, end, kind in rows if kind in ("wrong", "untranscribed"))
    begin = {one.id: start for one, start in zip(utterances, joined.starts, strict=False)}
    expected = [(row.start + begin[row.utterance], row.label) for row in separate]
    expected = [
        one for one in expected if not any(start - MARGIN <= one[0] < end + MARGIN for start, end in bad)
    ]  # fmt: skip
    found: dict[str, list[float]] = {}
    for row in read_ctm(out / "words.ctm"):
        found.setdefault(row.label, []).append(row.start)
    near = [any(abs(time - start) <= NEAR for start in found.get(word, ())) for time, word in expected]
    right, untranscribed = covered(joined.wrong, "wrong"), covered(joined.untranscribed, "untranscribed")
    return Measured(
        right / (joined.wrong[1] - joined.wrong[0]) if joined.wrong else np.nan,
        untranscribed / (joined.untranscribed[1] - joined.untranscribed[0]) if joined.untranscribed else np.nan,
        marked - sum(covered(span, "wrong", "untranscribed") for span in bad),
        float(np.mean(near)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Align and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="long_recordings"
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--lexicon", type=Path)
    parser.add_argument("--work-dir", type=Path, default=Path("runs/long-recordings"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args(arguments)
    long_utterances.MAX_ALIGNED_SECONDS = LIMIT
    utterances = read_data_directory(given.data).utterances
    asr.align(given.model, given.data, given.work_dir / "separate", lexicon=given.lexicon, jobs=1)
    separate = read_ctm(given.work_dir / "separate" / "words.ctm")
    print("seed", "wrong", "untranscribed", "falsely, s", "near", sep="\t")
    for seed in (*given.seeds, None):
        folder = given.work_dir / f"seed-{seed}"
        joined = join(utterances, folder / "data", seed)
        asr.align(given.model, folder / "data", folder / "out", lexicon=given.lexicon, jobs=1)
        one = measure(joined, utterances, separate, folder / "out")
        values = (f"{one.wrong:.2f}", f"{one.untranscribed:.2f}", f"{one.false_seconds:.1f}", f"{one.near:.3f}")
        print(seed, *values, sep="\t", flush=True)


if __name__ == "__main__":
    main()
