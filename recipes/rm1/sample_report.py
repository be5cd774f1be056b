"""Report of `recipes.rm1.sample`: rows of frame and phone errors, and checks of the source's claims."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asr.acoustic.model_file import SearchSettings
from asr.scoring.bootstrap import compare_systems, wer_interval
from asr.scoring.wer import ErrorCounts, ScoreReport, UtteranceScore
from asr.training.dataset import Dataset
from asr.util.files import atomic_write

WITHIN = 1.0  # points of frame error
FEWER = 15.0  # % of the phone errors of mixtures
ORDER = ("npd-ovo", "orols-ovo", "gmm-8", "krls-ovr")  # the source's, best first
_MIXTURES, _PEER = "gmm-8", "svm-ovo"


@dataclass(frozen=True)
class Scored:
    """Results of a system on the test utterances: wrong frames, phone errors, and its settings.

    `frames_per_second` is the scoring speed of one thread per second of CPU time.
    """

    system: str
    frames: ScoreReport
    phones: ScoreReport
    train_seconds: float
    frames_per_second: float
    search: SearchSettings


def frame_report(dataset: Dataset, wrong: Mapping[str, int]) -> ScoreReport:
    """Report wrong frames by utterance as word substitutions, so that intervals are computed as for words."""
    return ScoreReport(
        tuple(
            UtteranceScore(name, speaker, (), ErrorCounts(len(dataset.static.utterance(name)), wrong[name]))
            for name, speaker in sorted(dataset.utterance_speaker.items())
        ),
        (),
        (),
    )


def row(scored: Scored) -> dict[str, Any]:
    """Return a row of `results.json`: rates in % with their 95 % intervals by bootstrap over utterances."""
    frames, phones = wer_interval(scored.frames), wer_interval(scored.phones)
    return {
        "system": scored.system,
        "frame_error": frames.value,
        "frame_error_interval": [frames.low, frames.high],
        "phone_error": phones.value,
        "phone_error_interval": [phones.low, phones.high],
        "phones": scored.phones.words,
        "sub": scored.phones.substitutions,
        "del": scored.phones.deletions,
        "ins": scored.phones.insertions,
        "train_seconds": scored.train_seconds,
        "frames_per_second": scored.frames_per_second,
        "lm_scale": scored.search.lm_scale,
        "insertion_penalty": scored.search.insertion_penalty,
    }


def write_rows(path: Path, scored: Sequence[Scored]) -> None:
    """Write the rows atomically as a JSON list."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps([row(each) for each in scored], indent=1, allow_nan=False) + "\n")


def print_rows(scored: Sequence[Scored]) -> None:
    """Print the rows as a Markdown table."""
    counts = ("phones", "sub", "del", "ins")
    columns = ("system", "frame error %", "phone error %", *counts, "train s", "frames/s", "scale", "penalty")
    print("|", " | ".join(columns), "|")
    print("|", " | ".join("---" for _ in columns), "|")
    for found in map(row, scored):
        rates = [
            f"{found[name]:.1f} [{found[f'{name}_interval'][0]:.1f}, {found[f'{name}_interval'][1]:.1f}]"
            for name in ("frame_error", "phone_error")
        ]
        costs = [f"{found[name]:.0f}" for name in ("train_seconds", "frames_per_second")]
        search = [f"{found[name]:g}" for name in ("lm_scale", "insertion_penalty")]
        print("|", " | ".join([found["system"], *rates, *(str(found[name]) for name in counts), *costs, *search]), "|")


def verdicts(scored: Sequence[Scored]) -> list[str]:
    """Return three sentences that compare the rows with the source's claims, with intervals of the paired
    differences.
    """
    by_name = {each.system: each for each in scored}
    peer, mixtures = by_name[_PEER], by_name[_MIXTURES]
    beside = []
    for name in ORDER[:2]:
        gap = compare_systems(by_name[name].frames, peer.frames).difference
        place = "within" if gap.value <= WITHIN else "not within"
        beside.append(f"{name} {gap.value:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}], {place} {WITHIN:g} point")
    ours = [each for each in scored if each.system not in (_PEER, _MIXTURES)]
    best = min(ours, key=lambda each: each.phones.errors)
    gap = compare_systems(best.phones, mixtures.phones).difference
    fewer = 100.0 * (1.0 - best.phones.errors / max(1, mixtures.phones.errors))
    found = sorted(ORDER, key=lambda name: by_name[name].phones.errors)
    return [
        f"Difference in frame error from {_PEER}, in points: {'; '.join(beside)}.",
        (
            f"Of our systems, {best.system} has the fewest phone errors, {fewer:.1f} % fewer than {_MIXTURES} "
            f"({gap.value:+.1f} points "
            f"[{gap.low:+.1f}, {gap.high:+.1f}]): {('' if fewer >= FEWER else 'not ')}{FEWER:g} % fewer."
        ),
        (
            f"The source's order, {' > '.join(ORDER)}, is {('' if tuple(found) == ORDER else 'not ')}the order of the "
            f"phone errors here, {' > '.join(found)}."
        ),
    ]
