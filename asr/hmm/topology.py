"""Left-to-right phone models: which emission states a phone passes through, and how long it stays in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from asr.errors import LexiconError

SILENCE = "SIL"
SHORT_PAUSE = "SP"


@dataclass(frozen=True)
class Topology:
    """The state inventory of a set of phones.

    Every phone is a chain of `states_per_phone` *units*, each with a self-loop; a unit emits through one *state*, the
    class that acoustic models score and alignments name. Units and states are numbered alike but for the one-state
    short pause, whose unit is tied to the centre state of silence and keeps only its own self-loop
    (Young et al., The HTK Book, section 3.2.2).

    Parameters
    ----------
    phones : tuple of str
        The phones of the lexicon, without silence and short pause, which are added here.
    states_per_phone : int
        Emitting states of every phone and of silence.
    """

    phones: tuple[str, ...]
    states_per_phone: int = 3

    def __post_init__(self) -> None:
        for reserved in (SILENCE, SHORT_PAUSE):
            if reserved in self.phones:
                raise LexiconError(
                    f"phone {reserved!r} is reserved for the silence models; remove it from the pronunciations"
                )
        if len(set(self.phones)) != len(self.phones):
            raise LexiconError("the list of phones names one phone twice")

    @property
    def n_states(self) -> int:
        """Number of emission states."""
        return (len(self.phones) + 1) * self.states_per_phone

    @property
    def n_units(self) -> int:
        """Number of units: the states, and the short pause."""
        return self.n_states + 1

    @cached_property
    def phone_names(self) -> tuple[str, ...]:
        """Names by phone number: silence first, the lexicon's phones, the short pause last."""
        return (SILENCE, *self.phones, SHORT_PAUSE)

    @cached_property
    def phone_number(self) -> dict[str, int]:
        """Phone number by name."""
        return {phone: number for number, phone in enumerate(self.phone_names)}

    @cached_property
    def unit_state(self) -> np.ndarray:
        """Emission state of every unit, int32 (n_units,)."""
        states = np.arange(self.n_units, dtype=np.int32)
        states[-1] = self.states_per_phone // 2
        return states

    @cached_property
    def unit_phone(self) -> np.ndarray:
        """Phone number of every unit, int32 (n_units,)."""
        return np.minimum(
            np.arange(self.n_units, dtype=np.int32) // self.states_per_phone, np.int32(len(self.phones) + 1)
        )

    def units(self, phone: str) -> range:
        """Units of a phone in order."""
        number = self.phone_number.get(phone)
        if number is None:
            raise LexiconError(f"phone {phone!r} is unknown; the model's phones are {' '.join(self.phone_names)}")
        if phone == SHORT_PAUSE:
            return range(self.n_units - 1, self.n_units)
        return range(number * self.states_per_phone, (number + 1) * self.states_per_phone)

    def state_name(self, state: int) -> str:
        """`AH_2` for the second state of AH."""
        return f"{self.phone_names[state // self.states_per_phone]}_{state % self.states_per_phone + 1}"

    @property
    def silence_states(self) -> range:
        """States of the silence model."""
        return range(self.states_per_phone)

    def minimum_frames(self, phones: Sequence[str]) -> int:
        """Fewest frames that a sequence of phones can last."""
        return sum(len(self.units(phone)) for phone in phones)


def uniform_self_loops(topology: Topology, mean_frames: float = 3.0) -> np.ndarray:
    """Self-loop probabilities under which every unit lasts `mean_frames` on average, float64 (n_units,)."""
    return np.full(topology.n_units, 1.0 - 1.0 / mean_frames)


def estimate_self_loops(stays: np.ndarray, visits: np.ndarray, floor: float = 0.05) -> np.ndarray:
    """Self-loop probabilities from counts of self-transitions and of visits per unit, floored on both sides."""
    return np.clip((stays + 1.0) / (stays + visits + 2.0), floor, 1.0 - floor)
