"""Left-to-right phone models: the emission states of every phone, and their durations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from asr.hmm.state_tying import Context, StateTying
from asr.lexicon import lexicon
from asr.util.errors import LexiconError

SILENCE = lexicon.SILENCE
SHORT_PAUSE = lexicon.SHORT_PAUSE


@dataclass(frozen=True)
class Topology:
    """The state inventory of a set of phones.

    Every phone is a chain of `states_per_phone` *units*, each with a self-loop. A unit emits through one *state*, the
    class that acoustic models score and alignments name. Units and states have the same numbers, except for the
    one-state short pause, whose unit is tied to the center state of silence and has only its own self-loop (Young et
    al., The HTK Book, section 3.2.2).

    With `tying` the chain of a phone depends on its neighbors (triphones with tied states), except for silence and
    short pause.

    Parameters
    ----------
    phones : tuple of str
        Phones of the lexicon, without silence and short pause, which are added.
    states_per_phone : int
        Emitting states of every phone and of silence.
    tying : StateTying, optional
        Trees that assign states to a phone in its context.
    """

    phones: tuple[str, ...]
    states_per_phone: int = 3
    tying: StateTying | None = None

    def __post_init__(self) -> None:
        for reserved in (SILENCE, SHORT_PAUSE):
            if reserved in self.phones:
                raise LexiconError(
                    f"phone {reserved!r} is reserved for the silence models. Remove it from the pronunciations"
                )
        if len(set(self.phones)) != len(self.phones):
            raise LexiconError("a phone appears twice in the list of phones")

    @property
    def n_states(self) -> int:
        """Number of emission states."""
        if self.tying is not None:
            return self.tying.n_states
        return (len(self.phones) + 1) * self.states_per_phone

    @property
    def n_units(self) -> int:
        """Number of units: the states and the short pause."""
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
        return np.append(self._state_place[:, 0], np.int32(len(self.phones) + 1))

    @cached_property
    def unit_position(self) -> np.ndarray:
        """Position of every unit in its phone, from 0, int32 (n_units,)."""
        return np.append(self._state_place[:, 1], np.int32(0))

    @cached_property
    def _state_place(self) -> np.ndarray:
        if self.tying is not None:
            return self.tying.state_place
        return np.stack(np.divmod(np.arange(self.n_states, dtype=np.int32), np.int32(self.states_per_phone)), axis=1)

    @cached_property
    def phone_state(self) -> np.ndarray:
        """The context-independent state of every state, int32 (n_states,)."""
        return self._state_place @ np.array([self.states_per_phone, 1], np.int32)

    def number(self, phone: str) -> int:
        """Return the number of a phone; LexiconError if the model does not have it."""
        number = self.phone_number.get(phone)
        if number is None:
            raise LexiconError(f"phone {phone!r} is unknown. The phones of the model are {' '.join(self.phone_names)}")
        return number

    def units(self, phone: str) -> range:
        """Return the units of a phone in order; ValueError if they depend on its neighbors."""
        number = self.number(phone)
        if phone == SHORT_PAUSE:
            return range(self.n_units - 1, self.n_units)
        if self.tying is not None and phone != SILENCE:
            raise ValueError(f"the units of phone {phone!r} depend on its neighbors")
        return range(number * self.states_per_phone, (number + 1) * self.states_per_phone)

    def units_in(self, contexts: Sequence[Context]) -> list[Sequence[int]]:
        """Return the units of phones in their contexts; silence and short pause are context-independent."""
        if self.tying is None:
            return [self.units(self.phone_names[context.phone]) for context in contexts]
        alike = {0: self.units(SILENCE), len(self.phones) + 1: self.units(SHORT_PAUSE)}
        spoken = [context for context in contexts if context.phone not in alike]
        found = iter(self.tying.states(spoken).tolist())
        return [alike[context.phone] if context.phone in alike else next(found) for context in contexts]

    def alternatives(self, phone: str) -> list[np.ndarray]:
        """Return the possible units at each position of a phone, in any context."""
        own = np.flatnonzero(self.unit_phone == self.number(phone))
        return [own[self.unit_position[own] == position] for position in range(int(self.unit_position[own].max()) + 1)]

    def state_name(self, state: int) -> str:
        """Return a name: `AH_2` for the second state of AH; `AH_2.7` for one of its tied states."""
        phone, position = self._state_place[state].tolist()
        name = f"{self.phone_names[phone]}_{position + 1}"
        if self.tying is None or not phone:
            return name
        return f"{name}.{int((self._state_place[:state] == (phone, position)).all(axis=1).sum()) + 1}"

    @property
    def silence_states(self) -> range:
        """States of the silence model."""
        return range(self.states_per_phone)

    def minimum_frames(self, phones: Sequence[str]) -> int:
        """Return the minimum number of frames of a sequence of phones."""
        return sum(len(self.alternatives(phone)) for phone in phones)


def uniform_self_loops(topology: Topology, mean_frames: float = 3.0) -> np.ndarray:
    """Return self-loop probabilities with a mean duration of `mean_frames`, float64 (n_units,)."""
    return np.full(topology.n_units, 1.0 - 1.0 / mean_frames)


def count_transitions(states: np.ndarray, topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Count self-transitions and visits of every unit, int64 (n_units,), in one utterance.

    `states`, int32 (n_frames,): state of every frame; the topology has no context.
    """
    visits = np.bincount(states[np.r_[True, np.diff(states) != 0]], minlength=topology.n_units)
    return np.bincount(states, minlength=topology.n_units) - visits, visits


def estimate_self_loops(stays: np.ndarray, visits: np.ndarray, floor: float = 0.05) -> np.ndarray:
    """Estimate self-loop probabilities from self-transitions and visits per unit, within `floor` and 1 - `floor`."""
    return np.clip((stays + 1.0) / (stays + visits + 2.0), floor, 1.0 - floor)
