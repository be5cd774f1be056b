"""Optimal control: a ball on a beam is moved to the middle, and follows a cosine.

    python examples/plot_control_ball_and_beam.py [--iterations N] [--output-dir DIR]

After the third example of Suykens et al. (2002, section 8.2): steps of 0.3 s, Q = I, R = 1, and the reference 2 cos(pi
t / 5), an input of the machine in addition to the state. In a first task the ball starts one meter off and must stop in
the middle. Lines are the plant controlled by the machine, dots the plans. Writes `control_ball_and_beam.png`.
"""

from collections.abc import Sequence

import numpy as np
from control import Problem, optimal_controller, runge_kutta
from gallery import parser, rmse, save, single_threaded
from matplotlib.figure import Figure

N, SECONDS = 40, 0.3
ROLLING, GRAVITY = 0.7143, 9.81


def derivative(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute dx/dt of the ball's position and velocity, the beam's angle and its velocity (..., 4); u turns the
    beam.
    """
    rolling = ROLLING * (x[..., 0] * x[..., 3] ** 2 - GRAVITY * np.sin(x[..., 2]))
    return np.stack([x[..., 1], rolling, x[..., 3], u + 0.0 * x[..., 3]], axis=-1)


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument(
        "--iterations", type=int, default=500, help="number of iterations of the optimization (default: 500)"
    )
    options = command_line.parse_args(arguments)

    seconds = SECONDS * np.arange(N + 1)
    still = np.zeros((N + 1, 4))
    moving = still.copy()
    moving[:, 0] = 2.0 * np.cos(np.pi * seconds / 5)
    moving[:, 1] = -0.4 * np.pi * np.sin(np.pi * seconds / 5)
    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, name, reference, start in zip(
        figure.subplots(1, 2), ("centered", "following"), (still, moving), (1.0, 0.0), strict=True
    ):
        follows = name == "following"
        problem = Problem(
            step=runge_kutta(derivative, SECONDS),
            start=np.array([start, 0.0, 0.0, 0.0]),
            reference=reference,
            state_costs=np.ones((N + 1, 4)),
            control_cost=1.0,
            gamma=1e6,
            widths=np.array([2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 1.0, 2.0])[: 8 if follows else 4],
            machine_cost=1e-3,
            follows=follows,
        )
        controller, planned = optimal_controller(problem, np.zeros(N), options.iterations)
        x, _ = controller.closed_loop()
        end = slice(3 * N // 4, None)
        print(f"{name}: error {rmse(x[end, 0], reference[end, 0]):.3f} m in the last quarter, plan", end=" ")
        print(f"{rmse(planned[end, 0], reference[end, 0]):.3f} m")
        axes.plot(seconds, x[:, 0], label="ball")
        axes.plot(seconds, planned[:, 0], "C0.")
        axes.plot(seconds, x[:, 2], label="beam, rad")
        axes.plot(seconds, reference[:, 0], "k--", label="reference")
        axes.set(title=f"the ball is {name}", xlabel="s")
        axes.legend()
    save(figure, options.output_dir, "control_ball_and_beam.png")


if __name__ == "__main__":
    main()
