"""Every example that draws a figure runs, and says what the figure shows."""

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
Drawn = Callable[..., str]


@pytest.fixture
def drawn(tmp_path, monkeypatch, capsys) -> Drawn:
    """Run `plot_NAME.py` with further arguments: what it printed, once its figure is there."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def run(name: str, *arguments: object) -> str:
        main = runpy.run_path(str(EXAMPLES / f"plot_{name}.py"))["main"]
        main(["--output-dir", str(tmp_path / "figures"), *map(str, arguments)])
        figure = tmp_path / "figures" / f"{name}.png"
        assert figure.read_bytes().startswith(b"\x89PNG")
        assert figure.stat().st_size > 10_000
        return capsys.readouterr().out

    return run


def numbers(pattern: str, printed: str) -> list[float]:
    return [float(number) for number in re.findall(pattern, printed)]


def test_ten_centres_do_on_ripleys_mixture_what_all_samples_do(drawn):
    printed = drawn("ripley")
    assert numbers(r"(\d+) centers", printed) == [10, 250]
    npd, kfd = numbers(r"([\d.]+) % test error", printed)
    assert npd <= 11
    assert kfd <= 11


@pytest.mark.slow
@pytest.mark.corpus
def test_ten_centres_reach_the_sources_error_on_ripleys_own_samples(drawn, ml_data):
    npd, kfd = numbers(r"([\d.]+) % test error", drawn("ripley", "--data", ml_data / "ripley.npz"))
    assert npd <= 9.3
    assert kfd <= 9.8


def test_ninety_centres_separate_all_points_of_the_two_spirals(drawn):
    separated = re.findall(r"(\d+) centers: (\d+) of 194", drawn("two_spirals"))
    assert separated[1:] == [("90", "194"), ("120", "194")]


def test_fit_to_a_noisy_sinc_follows_samples_and_noise(drawn):
    printed = drawn("noisy_sinc", "--runs", 2)
    by_size = numbers(r"points, noise 0.1: RMSE ([\d.]+)", printed)
    by_noise = numbers(r"points, noise \d.\d\d: RMSE ([\d.]+)", printed)
    assert by_size[-1] < 0.03 < by_size[0]
    assert by_noise[0] < 0.001
    assert by_noise == sorted(by_noise)
    assert 0.15 < numbers(r"rises by ([\d.]+)", printed)[0] < 0.45


def test_error_bars_open_in_the_gap_and_learnt_noise_and_priors_help(drawn):
    printed = drawn("error_bars")
    assert numbers(r"noise ([\d.]+) \(", printed)[0] == pytest.approx(0.1, rel=0.2)
    assert numbers(r"are ([\d.]+) times", printed)[0] > 1.5
    same, learnt, known = numbers(r"RMSE ([\d.]+) in the part", printed)
    assert known < same and learnt < same
    training, test = numbers(r"log-loss ([\d.]+)", printed)
    assert test < training


def test_criteria_choose_fewer_centres_than_all(drawn):
    printed = drawn("choosing_m")
    chosen = re.findall(r"(\d+) centers, test RMSE ([\d.]+);.*keeps (\d+)", printed)
    assert len(chosen) == 4
    for size, error, kept in chosen:
        assert size == kept
        assert float(error) < numbers(r"all .*RMSE ([\d.]+)", printed)[0]


def test_several_widths_beat_each_of_them_alone(drawn):
    *single, several = numbers(r"widths?.*centers, RMSE ([\d.]+)", drawn("kernels"))
    assert len(single) == 3
    assert several < 0.5 * min(single)


def test_a_lower_threshold_takes_more_of_the_stream_into_the_dictionary(drawn):
    printed = drawn("krls_stream")
    sizes = numbers(r"(\d+) centers", printed)
    assert sizes == sorted(sizes)
    assert max(numbers(r"RMSE ([\d.]+)", printed)) < 0.1


def test_the_logistic_loss_gives_the_digits_the_best_posteriors(drawn):
    losses = numbers(r"(?:squares, \w+|loss) +[\d.]+ +([\d.]+)", drawn("calibration"))
    assert len(losses) == 8
    assert losses[-1] == min(losses[4:])


def test_free_variance_weight_is_no_worse_than_fishers(drawn):
    (_, fisher), (_, free) = re.findall(r"rho ([\d.]+): ([\d.]+) %", drawn("two_parabolas"))
    assert float(free) <= float(fisher)


def test_the_spirals_take_few_components(drawn):
    printed = drawn("pruned_spirals")
    fewest, vectors = numbers(r"(\d+) (?:components or|support vectors)", printed)
    assert fewest < 40 < vectors


@pytest.mark.slow
def test_a_lower_tolerance_takes_more_centres_and_makes_fewer_errors(drawn):
    printed = drawn("sparse_greedy")
    sizes, errors = numbers(r"(\d+) centers, tol", printed), numbers(r"tolerance .*: ([\d.]+) %", printed)
    assert sizes == sorted(sizes)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < numbers(r"all samples: ([\d.]+) %", printed)[0] + 1.0


def test_sparse_regression_takes_fewer_centres_than_support_vectors(drawn):
    printed = drawn("sparse_sinc")
    assert max(numbers(r"(\d+) centers", printed)) < min(numbers(r"SVR (\d+)", printed))
    assert max(numbers(r"centers, RMSE ([\d.]+)", printed)) < 0.1


def test_fisher_outputs_are_more_alike_on_training_and_test(drawn):
    *fisher, machine = numbers(r"test outputs ([\d.]+)", drawn("output_distributions"))
    assert max(fisher) < machine


def test_discriminant_features_part_digits_better_than_principal_ones(drawn):
    principal, discriminant = numbers(r"([\d.]+) % of the test digits", drawn("digit_directions"))
    assert discriminant > principal
    assert discriminant > 95


def test_every_figure_has_its_test_and_its_line_in_the_list():
    names = {path.stem.removeprefix("plot_") for path in EXAMPLES.glob("plot_*.py")}
    assert names == set(re.findall(r'drawn\("(\w+)"', Path(__file__).read_text(encoding="utf-8")))
    listed = re.findall(r"^\| `(\w+\.py)`", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted([*listed, "control.py", "gallery.py"]) == sorted(path.name for path in EXAMPLES.glob("*.py"))


def test_the_controller_follows_the_sine(drawn):
    printed = drawn("control_tracking", "--iterations", 200)
    slow, fast = numbers(r"error ([\d.]+) from", printed)
    assert fast < slow < 0.1
    assert max(numbers(r"([\d.]+) from the plan", printed)) < 0.05


def test_the_pendulum_stands_within_the_horizon_and_is_balanced(drawn):
    printed = drawn("control_pendulum", "--iterations", 150)
    (angle, position), (later, place) = re.findall(r"errors? ([\d.]+) rad and ([\d.]+) m", printed)
    assert float(angle) < 0.2
    assert float(position) < 0.1
    assert float(later) < 0.01
    assert float(place) < 0.05


def test_the_ball_is_centred_and_follows_the_cosine(drawn):
    off = numbers(r"error ([\d.]+) m in", drawn("control_ball_and_beam", "--iterations", 200))
    assert len(off) == 2
    assert max(off) < 0.05


def test_the_gradient_of_optimal_control_is_that_of_differences(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    from control import Problem, objective
    from plot_control_tracking import plant

    random = np.random.default_rng(0)
    problem = Problem(
        step=plant,
        start=np.array([0.2, -0.1]),
        reference=random.normal(size=(9, 2)),
        state_costs=random.uniform(size=(9, 2)),
        control_cost=0.3,
        gamma=20.0,
        widths=np.array([1.0, 2.0, 1.5, 1.0]),
        machine_cost=0.7,
        follows=True,
    )
    u = 0.5 * random.normal(size=8)
    _, gradient = objective(problem, u)
    for k, unit in enumerate(1e-6 * np.eye(8)):
        difference = (objective(problem, u + unit)[0] - objective(problem, u - unit)[0]) / 2e-6
        assert gradient[k] == pytest.approx(difference, rel=1e-6, abs=1e-7)


@pytest.mark.slow
def test_training_for_several_steps_makes_the_better_free_run(drawn):
    printed = drawn("free_run", "--runs", 1)
    one, several = (numbers(rf"{word} ([\d.]+)", printed) for word in ("one step", "several"))
    assert len(one) == 3
    assert sum(several) < 0.8 * sum(one)


def test_half_of_the_sinc_is_pruned_and_the_curve_stays(drawn):
    printed = drawn("pruned_sinc", "--samples", 200)
    assert max(numbers(r"(\d+) of 200", printed)) < 120
    assert max(numbers(r"error ([\d.]+)", printed)) < 0.08


def test_weighted_machine_ignores_outliers(drawn):
    errors = numbers(r"RMSE ([\d.]+)", drawn("outliers"))
    assert errors[1] < 0.5 * errors[0]
    assert errors[3] < 0.7 * errors[2]


def test_bias_correction_saves_the_small_class(drawn):
    before, after = numbers(r"small class ([\d.]+) %", drawn("bias_correction"))
    assert after < 0.85 * before


def test_centers_of_most_entropy_beat_a_bad_start(drawn):
    printed = drawn("fixed_size")
    bad, few, many = numbers(r"RMSE ([\d.]+)", printed)
    assert many < few < 0.2 * bad
    separated = numbers(r"([\d.]+) % separated", printed)
    assert separated[0] < 90 < separated[1] <= separated[2]


def test_one_score_recovers_a_curve_and_fisher_separates(drawn):
    printed = drawn("kernel_pca")
    assert min(numbers(r"curve ([\d.]+)", printed)) < 0.15
    fisher, *components = numbers(r"([\d.]+) % separated", printed)
    assert fisher > 95 > 80 > max(components)


def test_every_sample_has_a_support_value(drawn):
    printed = drawn("support_values")
    assert numbers(r"(\d+) errors", printed) == [0]
    every, some = numbers(r"(\d+) of 250", printed)
    assert some < 0.6 * every == 150


def test_only_other_samples_tell_what_two_views_share(drawn):
    linear, fitted, shared = numbers(r"([\d.]+) on other", drawn("two_views"))
    assert linear < 0.3
    assert fitted < shared - 0.01
    assert shared > 0.85


def test_a_committee_of_many_small_machines_is_near_to_one_large_one(drawn):
    off = numbers(r": error ([\d.]+)", drawn("committee", "--samples", 600, "--draws", 1))
    assert len(off) == 14
    assert off[0] == min(off[:7]) < off[4] < 10 * off[0]
