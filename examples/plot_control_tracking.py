"""Optimal control of a nonlinear plant with two states: the first follows a sine.

    python examples/plot_control_tracking.py [--iterations N] [--output-dir DIR]

After the first example of Suykens et al. (2002, section 8.2): 20 stages, Q = diag(1, 0.001), R = 1, gamma = 100. The
machine's inputs are the state and its reference. Dots are planned states, lines those of the plant controlled by the
machine. Writes `control_tracking.png`.
"""

from collections.abc import Sequence

import numpy as np
from control import Problem, optimal_controller
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

N = 20


def plant(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute x_{k+1} of states (..., 2) and controls (...,)."""
    first, second = x[..., 0], x[..., 1]
    s = u + second
    return np.stack(
        [0.1 * first + 2 * s / (1 + s**2), 0.1 * second + u * (2 + u**2 / (1 + first**2 + second**2))], axis=-1
    )


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument(
        "--iterations", type=int, default=500, help="number of iterations of the optimization (default: 500)"
    )
    options = command_line.parse_args(arguments)

    angle = 2 * np.pi * np.arange(1, N + 2) / 20
    problem = Problem(
        step=plant,
        start=np.zeros(2),
        reference=np.column_stack([np.sin(angle), np.cos(angle)]),
        state_costs=np.tile([1.0, 0.001], (N + 1, 1)),
        control_cost=1.0,
        gamma=100.0,
        widths=np.ones(4),
        follows=True,
    )
    figure = Figure(figsize=(11, 4), layout="constrained")
    state_axes, control_axes = figure.subplots(1, 2)
    for cost, color in ((1.0, "C0"), (0.01, "C1")):
        cheaper = Problem(**{**vars(problem), "control_cost": cost, "machine_cost": cost})
        controller, planned = optimal_controller(cheaper, np.zeros(N) + 0.1, options.iterations)
        x, u = controller.closed_loop()
        off = rmse(x[1:, 0], problem.reference[1:, 0])
        print(f"R {cost}: error {off:.3f} from the reference, at most {np.abs(x - planned).max():.4f} from the plan")
        state_axes.plot(x[:, 0], color=color, label=f"R = {cost}")
        state_axes.plot(planned[:, 0], ".", color=color)
        control_axes.plot(u, color=color)
    state_axes.plot(problem.reference[:, 0], "k--", label="reference")
    state_axes.set(xlabel="stage", title="first state")
    control_axes.set(xlabel="stage", title="control")
    state_axes.legend()
    save(figure, options.output_dir, "control_tracking.png")


if __name__ == "__main__":
    main()
