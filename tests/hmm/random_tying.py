"""Random trees of contexts for property tests."""

import numpy as np

from asr.hmm.state_tying import BEGINS, ENDS, LEFT, RIGHT, StateTying


def random_tying(seed: int, n_phones: int, states_per_phone: int) -> StateTying:
    """Trees of some questions about random sets of phones."""
    rng = np.random.default_rng(seed)
    n_questions = 6
    side = rng.choice([LEFT, RIGHT, LEFT, RIGHT, BEGINS, ENDS], n_questions).astype(np.int8)
    phones = rng.random((n_questions, n_phones + 1)) < 0.5
    phones[side >= BEGINS] = np.arange(n_phones + 1) == 1
    question: list[int] = [-1] * (n_phones * states_per_phone)
    yes, no = [0] * len(question), [0] * len(question)
    for _ in range(int(rng.integers(0, 4 * len(question)))):
        node = int(rng.choice(np.flatnonzero(np.array(question) < 0)))
        question[node] = int(rng.integers(n_questions))
        yes[node], no[node] = len(question), len(question) + 1
        question += [-1, -1]
        yes += [0, 0]
        no += [0, 0]
    leaves = np.flatnonzero(np.array(question) < 0)
    for state, leaf in enumerate(rng.permutation(leaves).tolist(), start=states_per_phone):
        yes[leaf] = no[leaf] = state
    root = np.arange(n_phones * states_per_phone, dtype=np.int32).reshape(n_phones, states_per_phone)
    numbers = (np.array(values, np.int32) for values in (question, yes, no))
    return StateTying(states_per_phone, side, phones, root, *numbers)
