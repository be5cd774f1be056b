"""The search that held-out errors speak for: smooth in them, near the settings' own where they say little."""

from dataclasses import replace

import numpy as np
import pytest

from asr.training.tuning.grid import UNDECIDED, ErrorGrid, GridChoice, choose, worth_trying

SCALES = np.array([0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8])
PENALTIES = np.array([-4.0, -2.5, -1.25, 0.0, 1.25, 2.5])


def surface(n_words: int, scale: float = 2.0, penalty: float = -2.5, base: float = 0.1) -> ErrorGrid:
    """Errors that grow with the distance from one search, in proportion to the words; one unit a hundred words."""
    x = np.log(SCALES / scale)[:, None] / 0.7
    y = (PENALTIES - penalty)[None] / 3.0
    rate = np.minimum(1.0, base + 0.1 * (np.square(x) + np.square(y)))
    errors = np.rint(n_words * rate).astype(np.int64)[None]
    return ErrorGrid(np.array(["all"]), SCALES, PENALTIES, errors, np.zeros_like(errors))


def test_without_words_the_search_stays_the_settings() -> None:
    choice = choose(surface(0))
    assert choice.scale == pytest.approx(1.0, abs=0.1)
    assert choice.penalty == pytest.approx(0.0, abs=0.3)
    assert choice.undecided > UNDECIDED


def test_many_words_move_it_to_the_fewest_errors() -> None:
    choice = choose(surface(2000))
    assert choice.scale == pytest.approx(2.0, rel=0.1)
    assert choice.penalty == pytest.approx(-2.5, abs=0.3)
    assert choice.undecided < UNDECIDED


def test_the_more_words_the_nearer_it_comes() -> None:
    scales = [choose(surface(n)).scale for n in (0, 30, 100, 300, 1000)]
    assert scales == sorted(scales)


def test_one_error_more_moves_it_little() -> None:
    before = surface(150)
    errors = before.errors.copy()
    errors[0, 5, 1] += 1
    after = choose(ErrorGrid(before.units, SCALES, PENALTIES, errors, before.imbalance))
    assert after.scale == pytest.approx(choose(before).scale, rel=0.05)
    assert after.penalty == pytest.approx(choose(before).penalty, abs=0.15)


def test_equal_errors_choose_the_balanced_penalty() -> None:
    errors = np.full((1, len(SCALES), len(PENALTIES)), 40)
    imbalance = np.broadcast_to(np.rint(20 * (PENALTIES + 2.5)).astype(int), errors.shape)
    choice = choose(ErrorGrid(np.array(["a"]), SCALES, PENALTIES, errors, imbalance))
    assert choice.penalty < -1.0


def test_the_prior_has_its_middle_at_the_settings_own_penalty() -> None:
    assert choose(surface(0), own_penalty=-2.0).penalty < choose(surface(0)).penalty - 1.0


def test_fewest_errors_at_an_end_of_what_was_tried_are_told() -> None:
    assert choose(surface(2000, scale=4.0)).at_edge == (1, 0)
    assert choose(surface(2000, scale=1.0, penalty=-6.0)).at_edge == (0, -1)
    assert choose(surface(2000, scale=1.0)).at_edge == (0, 0)


def test_units_can_be_left_out() -> None:
    both = ErrorGrid(
        np.array(["a", "b"]),
        SCALES,
        PENALTIES,
        np.concatenate([surface(100).errors, surface(50).errors]),
        np.zeros((2, len(SCALES), len(PENALTIES)), np.int64),
    )
    alone = both.without({"b"})
    assert alone.units.tolist() == ["a"]
    assert choose(alone) == choose(surface(100))


def tried_outwards(whole: ErrorGrid, own_penalty: float = 0.0) -> ErrorGrid:
    """Of a surface that is known everywhere, what is tried of it."""
    tried = np.zeros(whole.errors.shape[1:], bool)
    while True:
        known = replace(
            whole, errors=whole.errors * tried, imbalance=whole.imbalance * tried, tried=tried
        )  # untried values have zero errors
        new = worth_trying(known, own_penalty)
        if not new.any():
            return known
        assert not (new & tried).any()
        tried = tried | new


@pytest.mark.parametrize("n_words", [0, 60, 300, 2000])
@pytest.mark.parametrize(("scale", "penalty"), [(2.0, -2.5), (1.0, 0.0), (0.5, 1.0), (4.0, -4.0)])
def test_what_is_not_tried_would_not_have_changed_the_choice(n_words, scale, penalty) -> None:
    whole = surface(n_words, scale, penalty)
    known = tried_outwards(whole, own_penalty=-1.0)
    all_of_it, part = choose(whole, own_penalty=-1.0), choose(known, own_penalty=-1.0)
    assert part.scale == pytest.approx(all_of_it.scale, rel=0.01)
    assert part.penalty == pytest.approx(all_of_it.penalty, abs=0.03)
    assert part.at_edge == all_of_it.at_edge


def test_of_many_words_few_searches_are_tried_and_of_none_all() -> None:
    assert tried_outwards(surface(2000)).tried.sum() < 0.6 * len(SCALES) * len(PENALTIES)
    assert tried_outwards(surface(0)).tried.all()


def test_choice_far_from_the_initial_settings_is_reported() -> None:
    def far(choice: GridChoice) -> list[str]:
        return [remark.split()[0] for remark in choice.remarks(100, -1.0)]

    near = GridChoice(scale=2.0, penalty=1.0, undecided=0.5, at_edge=(0, 0))
    assert far(near) == []
    assert far(replace(near, scale=2.2)) == ["lm_scale"]
    assert far(replace(near, scale=1 / 2.2, penalty=1.5)) == ["lm_scale", "insertion_penalty"]


def test_uninformative_words_and_edges_are_reported() -> None:
    first, second = GridChoice(scale=1.0, penalty=0.0, undecided=0.9, at_edge=(0, -1)).remarks(12)
    assert "12 held-out words" in first
    assert "smallest tried insertion_penalty" in second
