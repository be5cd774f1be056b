"""Free run of a model of a driven system, fitted to noisy outputs.

    python examples/plot_free_run.py [--runs N] [--output-dir DIR]

The inputs are two lags of the output and two of the input. `NARX` is trained for one step ahead, `RecurrentLSSVM` for
stretches of 32 steps. Width and penalty of each have the free run over the last third of the training series that is
nearest to its noisy outputs. Errors are against the noise-free outputs of another series, whose first two are given.
Writes `free_run.png`.
"""

from collections.abc import Sequence

import numpy as np
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

from discriminants import RecurrentLSSVM

N, TRAIN = 300, 200
NOISES = (0.05, 0.1, 0.2)
HORIZONS = (1, 32)


def driven(n_times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute noise-free outputs (n_times,) of the system, and its inputs (n_times,), constant for five times."""
    u = np.repeat(np.random.default_rng(seed).uniform(-1.5, 1.5, n_times // 5 + 1), 5)[:n_times]
    y = np.zeros(n_times)
    for k in range(2, n_times):
        y[k] = 1.4 * np.tanh(y[k - 1]) - 0.6 * y[k - 2] + 0.5 * u[k - 1]
    return y, u


def chosen(y: np.ndarray, u: np.ndarray, horizon: int) -> RecurrentLSSVM:
    """Choose width and penalty with the best free run over the validation part."""

    def off(model: RecurrentLSSVM) -> float:
        made = model.simulate(N - TRAIN, u[TRAIN:], start=y[:TRAIN], start_inputs=u[:TRAIN])
        return rmse(made, y[TRAIN:])

    models = [
        RecurrentLSSVM(n_lags=2, n_input_lags=2, sigma=sigma, regularization=penalty, horizon=horizon)
        for sigma in (2.0, 4.0)
        for penalty in (0.01, 0.1, 1.0)
    ]
    return min((model.fit(y[:TRAIN], u[:TRAIN]) for model in models), key=off)


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument("--runs", type=int, default=5, help="number of noisy series to average over (default: 5)")
    options = command_line.parse_args(arguments)

    truth, inputs = driven(400, 99)
    figure = Figure(figsize=(11, 4), layout="constrained")
    run_axes, error_axes = figure.subplots(1, 2, width_ratios=[2, 1])
    run_axes.plot(truth[:120], "k--", label="noise-free")
    errors = np.empty((len(HORIZONS), len(NOISES), options.runs))
    for j, noise in enumerate(NOISES):
        for seed in range(options.runs):
            y, u = driven(N, seed)
            y = y + noise * np.random.default_rng(1000 + seed).normal(size=N)
            for i, horizon in enumerate(HORIZONS):
                model = chosen(y, u, horizon)
                made = model.simulate(398, inputs[2:], start=truth[:2], start_inputs=inputs[:2])
                errors[i, j, seed] = rmse(made, truth[2:])
                if seed == 0 and noise == NOISES[-1]:
                    run_axes.plot(np.arange(2, 120), made[:118], label=f"trained for {horizon} steps")
        one, several = errors[:, j].mean(axis=1)
        print(f"noise {noise}: RMSE in a free run of 398 steps: one step {one:.4f}, several {several:.4f}")
    run_axes.set(title=f"free run, trained with noise {NOISES[-1]}", xlabel="time")
    run_axes.legend()
    for i, horizon in enumerate(HORIZONS):
        error_axes.errorbar(
            NOISES, errors[i].mean(axis=1), errors[i].std(axis=1), marker="o", capsize=3, label=f"{horizon} steps"
        )
    error_axes.set(xlabel="noise of the training outputs", ylabel="RMSE of a free run", ylim=(0, None))
    error_axes.legend()
    save(figure, options.output_dir, "free_run.png")


if __name__ == "__main__":
    main()
