"""Whatever is wrong with a parameter, every learner names it."""

from typing import Any

import numpy as np
import pytest

from tests.discriminants.bad_input.learners import LEARNERS, SELECTING, Data, refuses, targets

COUNTS = [0, -1, 2.5, "many", np.nan]
OUT_OF_RANGE: list[tuple[str, list[Any]]] = [
    ("n_centers", [*COUNTS, None]),
    ("n_candidates", COUNTS),
    ("epsilon", [-1e-9, np.nan, np.inf, None]),
    ("norm_penalty", [-1e-9, np.nan, np.inf, None]),
    ("criterion", ["aic", "GCV", 1]),
    ("cv", [1, 0, 2.5, None]),
    ("dictionary", ["both", None]),
    ("rule", ["best", None, 3]),
    ("posterior", ["svm", None]),
    ("random_state", ["seed", -1, 1.5]),
    ("reestimation", ["mackay", None]),
    ("tol", [-1.0, np.nan, None]),
    ("patience", COUNTS),
    ("max_condition", [1.0, 0.0, np.nan, None]),
    ("residual_threshold", [-1.0, np.nan, "small"]),
    ("unexplained", [-0.1, 1.0, np.nan]),
    ("nu", [0.0, -1.0, np.nan, np.inf]),
    ("max_centers", COUNTS),
    ("form", ["three_pass", None]),
    ("block_size", COUNTS),
    ("regularization", [-1.0, np.nan, np.inf]),
    ("penalty", ["ridge", None]),
    ("threshold", ["median", None]),
    ("calibrate_on", ["test", None]),
    ("significant_figures", [0, 1.5, 13]),
    ("coding", ["all", None]),
    ("decoding", ["votes", None]),
    ("choose_by", ["cv", None]),
    ("max_reweightings", COUNTS),
    ("rho", [-0.1, 1.1, np.nan, "best", None]),
    ("n_rhos", [1, 2.5, None]),
    ("n_components", [0, -1, 2.5, "all"]),
    ("validation", [0.0, 1.0, 1, -0.5, None]),
    ("combine", ["best", None]),
    ("alpha", [-1.0, np.nan]),
    ("damping", [0.0, np.nan]),
    ("solver", ["sgd"]),
    ("loss", ["hinge"]),
    ("selection", ["npd"]),
    ("learning_rate", [0.0, np.nan]),
    ("batch_size", COUNTS),
    ("chooser", ["best", None, 3]),
    ("centers", [3, "all"]),
    ("class_weight", [3, "heavy", [1.0, 2.0]]),
]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_parameter_out_of_range_is_refused_by_its_name(name: str, data: Data) -> None:
    parameters = LEARNERS[name].get_params(deep=False)
    for parameter, values in OUT_OF_RANGE:
        for value in values if parameter in parameters else []:
            refuses(name, data[0], targets(name, data), f"'{parameter}' parameter", **{parameter: value})


@pytest.mark.parametrize("name", [name for name in SELECTING if "OLS" not in name or "OROLS" in name])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda state: 0, "candidate 0"),
        (lambda state: -1, "candidate -1"),
        (lambda state: 10**9, "candidate 1000000000"),
        (lambda state: 2.5, "returned 2.5"),
        (lambda state: np.nan, "returned nan"),
        (lambda state: None, "returned None"),
        (lambda state: True, "returned True"),
        (lambda state: "first", "returned 'first'"),
        (lambda state: np.array([1, 2]), "number of a candidate"),
    ],
)
def test_a_rule_that_names_no_available_candidate_is_refused(name: str, rule: Any, message: str, data: Data) -> None:
    refuses(name, data[0], targets(name, data), message, rule=rule)
