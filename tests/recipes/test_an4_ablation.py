"""The parts of the ablation that are its own: what a row changes, what an average is, the table."""

import numpy as np

from recipes.an4.ablation import BASE, ROWS, Average, Row, table


class Constant:
    log_priors = np.log(np.array([0.25, 0.75], np.float32))

    def __init__(self, posterior: float) -> None:
        self._row = np.log(np.array([posterior, 1.0 - posterior], np.float32))

    def log_posterior(self, frames: np.ndarray) -> np.ndarray:
        return np.tile(self._row, (len(frames), 1))


def test_rows_have_names_of_their_own_and_differ_from_the_base():
    assert len({row.name for row in ROWS}) == len(ROWS)
    base, *others = ROWS
    same = [row.name for row in others if (row.stage(0), row.average, row.prior_exponent) == (base.stage(0), 1, 0.7)]
    assert same == []


def test_a_row_changes_one_parameter_and_keeps_the_others():
    row = Row("8 passes", parameters={"max_iter": 8})
    assert row.hybrid(0).parameters == {**BASE.parameters, "max_iter": 8}
    assert row.hybrid(1).parameters["random_state"] == 1
    other = Row("squared", {"classifier": "orols"}, {"n_centers": 5})
    assert other.hybrid(0).parameters == {"n_centers": 5}


def test_averaged_models_have_the_mean_of_the_posteriors():
    average = Average([Constant(0.2), Constant(0.6)], 0.5)
    frames = np.zeros((3, 4), np.float32)
    np.testing.assert_allclose(np.exp(average.log_posterior(frames)), [[0.4, 0.6]] * 3, rtol=1e-6)
    expected = np.log([0.4, 0.6]) - 0.5 * Constant.log_priors
    np.testing.assert_allclose(average.log_likelihood(frames), [expected] * 3, rtol=1e-5)


def test_the_table_has_a_line_for_every_row():
    record = {
        "name": "base", "errors": 5, "wer": 9.5, "interval": [-0.2, 0.4], "frame_accuracy": 71.0,
        "cross_entropy": 0.9, "train_seconds": 12.0,
    }  # fmt: skip
    lines = table([record]).splitlines()
    assert lines[-1] == "| base | 5 | 9.50 | -0.20 to +0.40 | 71.0 | 0.900 | 12 |"
