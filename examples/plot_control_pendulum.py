"""Optimal control: swing-up and balance of a pendulum on a cart.

    python examples/plot_control_pendulum.py [--iterations N] [--output-dir DIR]

After the second example of Suykens et al. (2002, section 8.2): 100 stages of 0.05 s from the pendulum hanging down,
with costs only for the states of the last 0.25 s. Along the optimal plan the control is u = u_k + L_k (x - x_k), with
L_k the linear quadratic regulators, which the plan alone does not determine. The machine, an `LSSVMRegressor`, is
fitted to these controls in a tube around the plan. It replaces the regulator that the source adds by hand (8.40). The
simulation runs for twice the horizon with the machine alone. Writes `control_pendulum.png`.
"""

from collections.abc import Sequence

import numpy as np
from control import Problem, optimal_controller, regulators, runge_kutta
from gallery import parser, save, single_threaded
from matplotlib.figure import Figure

from discriminants import LSSVMRegressor

N, SECONDS = 100, 0.05
MASS, TOTAL_MASS, LENGTH, GRAVITY = 0.1, 1.1, 0.5, 9.81
WIDTHS = np.array([2.0, 4.0, 2.0, 6.0])  # widths of position, velocity, angle and its velocity
COPIES, TUBE = 10, 0.05  # number of states around each planned one, and their distance in widths
BALANCED, WIDER = 50, 2.0  # additional stages at the end, and the widening of the tube there
HEAVIER = 100.0  # their weight: the end of the plan has other controls in the same states


def derivative(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute dx/dt of position, velocity, angle from upright and its velocity (..., 4), for a force (...,) on the
    cart.
    """
    sine, cosine, turn = np.sin(x[..., 2]), np.cos(x[..., 2]), x[..., 3]
    divisor = 4 / 3 * TOTAL_MASS - MASS * cosine**2
    pull = MASS * LENGTH * turn**2 * sine
    speeding = (4 / 3 * (pull + u) - MASS * GRAVITY * sine * cosine) / divisor
    turning = (TOTAL_MASS * GRAVITY * sine - (pull + u) * cosine) / (LENGTH * divisor)
    return np.stack([x[..., 1], speeding, turn, turning], axis=-1)


@single_threaded
def main(arguments: Sequence[str] | None = None) -> None:
    command_line = parser(__doc__)
    command_line.add_argument(
        "--iterations", type=int, default=300, help="number of iterations of the optimization (default: 300)"
    )
    options = command_line.parse_args(arguments)

    step = runge_kutta(derivative, SECONDS)
    costs = np.zeros((N + 1, 4))
    costs[N - 5 :] = 1.0
    problem = Problem(
        step=step,
        start=np.array([0.0, 0.0, np.pi, 0.0]),
        reference=np.zeros((N + 1, 4)),
        state_costs=costs,
        control_cost=0.01,
        gamma=100.0,
        widths=WIDTHS,
        machine_cost=1e-3,
    )
    seconds = SECONDS * np.arange(2 * N + 1)
    swing = 3.0 * np.sin(4.0 * seconds[:N]) * (seconds[:N] < 3)
    controller, planned = optimal_controller(problem, swing, options.iterations)
    u = controller.planned
    print(f"plan: error {np.abs(planned[-1, 2]):.3f} rad at the end of {N} stages")

    L = regulators(step, planned[:-1], u, np.eye(4), 0.01)
    x = np.vstack([planned[:-1], np.zeros((BALANCED, 4))])
    u, L = np.append(u, np.zeros(BALANCED)), np.vstack([L, np.tile(L[-1], (BALANCED, 1))])
    off = TUBE * WIDTHS * np.random.default_rng(0).normal(size=(COPIES, *x.shape))
    off[:, N:] *= WIDER
    learnt = (x + off).reshape(-1, 4) / WIDTHS
    weight = np.tile(np.repeat([1.0, HEAVIER], [N, BALANCED]), COPIES)
    machine = LSSVMRegressor(sigma=1.0, regularization=1e-6)
    machine.fit(learnt, (u + (off * L).sum(axis=2)).ravel(), sample_weight=weight)

    states = [problem.start]
    controls: list[float] = []
    for _ in range(2 * N):
        controls.append(float(machine.predict(states[-1][None] / WIDTHS)[0]))
        states.append(step(states[-1], np.array(controls[-1])))
    loop = np.array(states)
    for stage in (N, 2 * N):
        position, angle = np.abs(loop[stage, [0, 2]])
        print(f"loop after {stage} stages: errors {angle:.3f} rad and {position:.3f} m")

    figure = Figure(figsize=(13, 4), layout="constrained")
    angle_axes, position_axes, control_axes = figure.subplots(1, 3)
    for axes, column, title in ((angle_axes, 2, "angle from upright, rad"), (position_axes, 0, "position, m")):
        axes.plot(seconds[: N + 1], planned[:, column], "k--", label="plan")
        axes.plot(seconds, loop[:, column], label="controller in the loop")
        axes.axhline(0.0, color="0.8")
        axes.set(title=title, xlabel="s")
    control_axes.plot(seconds[:-1], controls)
    control_axes.set(title="force, N", xlabel="s")
    angle_axes.legend()
    save(figure, options.output_dir, "control_pendulum.png")


if __name__ == "__main__":
    main()
