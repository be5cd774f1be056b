"""Artificial speakers: an accent of English, a variant of the voice, a vocal tract, a speaking rate and a pitch.

Those of "train" and of "test" share neither accent nor variant; "all" is the population of both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# Names of eSpeak NG: languages, and variants in `voices/!v`; whispered and clipping ones are left out.
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
    """One artificial speaker; rate in words a minute, pitch and range on eSpeak NG's scale of 0 to 100.

    Formants and pitch are `formants` times the voice's own: vocal tracts differ in length.
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
    """Speakers of `split` ("train", "test" or "all"): men and women in turn, rate, pitch, range and formants uniform
    between the bounds; without bounds of the formants they are the voices' own, and nothing is drawn for them.

    Neither sex repeats a voice before each of its variants has been heard with each accent.
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
    """Step through accents and variants together; when the pairs would repeat, shift the accents by one."""
    shift = turn // math.lcm(len(accents), len(variants))
    return f"{accents[(turn + shift) % len(accents)]}+{variants[turn % len(variants)]}"
