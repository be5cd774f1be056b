"""Artificial speakers: English accent, voice variant, vocal tract, speaking rate and pitch.

The splits "train" and "test" have disjoint accents and variants; "all" is the union of both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# eSpeak NG's names of languages, and of variants in `voices/!v` without whispered and clipping ones.
ACCENTS: Mapping[str, tuple[str, ...]] = {
    "train": ("en-us", "en-gb-scotland", "en-gb-x-rp", "en-029", "en"),
    "test": ("en-us-nyc", "en-gb-x-gbcwmd", "en-gb-x-gbclan"),
}
VARIANTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "train": {
        "m": ("m1", "m3", "m5", "m7", "max", "adam", "robert", "Alex", "Lee", "Denis", "rob", "michel"),
        "f": ("f1", "f3", "f5", "aunty", "Andrea", "belinda", "shelby"),
    },
    "test": {"m": ("m2", "m4", "m6", "m8", "david", "Andy"), "f": ("f2", "f4", "linda", "Annie")},
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """An artificial speaker; rate in words per minute, pitch and range on eSpeak NG's scale of 0 to 100.

    `formants` is a factor on the voice's formants and pitch, for the length of the vocal tract.
    """

    id: str
    gender: str
    voice: str
    rate: float
    pitch: float
    pitch_range: float
    formants: float = 1.0


def draw_speakers(
    split: str,
    n_speakers: int,
    rng: np.random.Generator,
    *,
    rate: tuple[float, float],
    pitch: tuple[float, float],
    pitch_range: tuple[float, float],
    formants: tuple[float, float] | None = None,
) -> tuple[Speaker, ...]:
    """Draw speakers of `split` ("train", "test" or "all"), alternating men and women.

    Rate, pitch, range and formants are uniform between the bounds. Without bounds, formants are the voices' own,
    without a random draw. For each sex, no voice is repeated before all combinations of variants and accents are used.
    """
    splits = tuple(ACCENTS) if split == "all" else (split,)
    accents = [str(accent) for accent in rng.permutation([accent for one in splits for accent in ACCENTS[one]])]
    variants = {
        sex: [str(name) for name in rng.permutation([name for one in splits for name in VARIANTS[one][sex]])]
        for sex in ("m", "f")
    }
    speakers = []
    for number in range(n_speakers):
        sex = "mf"[number % 2]
        speakers.append(
            Speaker(
                id=f"{split}{number + 1:03d}",
                gender=sex,
                voice=_voice(accents, variants[sex], number // 2),
                rate=float(rng.uniform(*rate)),
                pitch=float(rng.uniform(*pitch)),
                pitch_range=float(rng.uniform(*pitch_range)),
                formants=1.0 if formants is None else float(rng.uniform(*formants)),
            )
        )
    return tuple(speakers)


def _voice(accents: Sequence[str], variants: Sequence[str], turn: int) -> str:
    """Return the voice of a turn: advance accents and variants together, and shift accents when pairs would repeat."""
    shift = turn // math.lcm(len(accents), len(variants))
    return f"{accents[(turn + shift) % len(accents)]}+{variants[turn % len(variants)]}"
