"""N-stage optimal control by a least-squares support vector machine, shared by the control examples.

The problem (Suykens et al. 2002, 8.16) is to minimize sum_k h(x_k, u_k) + w'w / 2 + gamma / 2 sum_k e_k^2 over states,
controls and the machine, with x_{k+1} = f(x_k, u_k) and u_k = w'phi(z_k) + e_k, where z_k is the state, or the state
and its reference. For given states and controls the machine is ridge regression without a bias, alpha = (K + I /
gamma)^-1 u, and its two terms are u'alpha / 2. The only unknowns are therefore the controls; they determine the states.
The gradient is computed by one backward pass with the costate. In it the derivative of the machine's terms by x_k is
-alpha_k sum_l alpha_l dk(z_k, z_l) / dz_k, as in the conditions of the source (8.24).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_discrete_are
from scipy.optimize import minimize

_STEP = 1e-30  # imaginary step of complex-step derivatives, exact to rounding

Step = Callable[[np.ndarray, np.ndarray], np.ndarray]


def runge_kutta(derivative: Step, seconds: float) -> Step:
    """Return the state one step later: dx/dt (..., n) of states (..., n) and constant controls (...,)."""

    def step(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        first = derivative(x, u)
        second = derivative(x + 0.5 * seconds * first, u)
        third = derivative(x + 0.5 * seconds * second, u)
        fourth = derivative(x + seconds * third, u)
        return x + seconds / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)

    return step


def derivatives(step: Step, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute df/dx (N, n, n) and df/du (N, n) at N states and controls."""
    n = x.shape[1]
    states = np.repeat(x[:, None, :].astype(complex), n + 1, axis=1)
    controls = np.repeat(u[:, None].astype(complex), n + 1, axis=1)
    states[:, np.arange(n), np.arange(n)] += 1j * _STEP
    controls[:, n] += 1j * _STEP
    found = step(states, controls).imag / _STEP
    return found[:, :n].transpose(0, 2, 1), found[:, n]


def regulators(step: Step, x: np.ndarray, u: np.ndarray, Q: np.ndarray, R: float) -> np.ndarray:
    """Compute rows L_k (N, n) of the linear quadratic regulators u = u_k + L_k (x - x_k) along a trajectory that ends
    in the origin, with costs Q and R forever after.
    """
    n = Q.shape[0]
    A, B = derivatives(step, np.zeros((1, n)), np.zeros(1))
    P = solve_discrete_are(A[0], B[0][:, None], Q, np.array([[R]]))
    A, B = derivatives(step, x, u)
    L = np.empty((u.shape[0], n))
    for k in range(u.shape[0] - 1, -1, -1):
        L[k] = -(B[k] @ P @ A[k]) / (R + B[k] @ P @ B[k])
        P = Q + R * np.outer(L[k], L[k]) + (A[k] + np.outer(B[k], L[k])).T @ P @ (A[k] + np.outer(B[k], L[k]))
    return L


@dataclass(frozen=True)
class Problem:
    """A control problem.

    Attributes
    ----------
    step : callable
        x_{k+1} of x_k (..., n) and u_k (...,).
    start : ndarray of shape (n,)
    reference : ndarray of shape (N + 1, n)
    state_costs : ndarray of shape (N + 1, n)
        Diagonals of Q_k in the cost (x_k - r_k)'Q_k (x_k - r_k).
    control_cost : float
        R in the cost R u_k^2.
    gamma : float
    machine_cost : float
        Factor of the machine's two terms.
    widths : ndarray of shape (n_inputs,)
        Widths of the machine's inputs, which are divided by them before k(z, z') = exp(-|z - z'|^2).
    follows : bool
        Whether the reference is an input of the machine in addition to the state.
    """

    step: Step
    start: np.ndarray
    reference: np.ndarray
    state_costs: np.ndarray
    control_cost: float
    gamma: float
    widths: np.ndarray
    machine_cost: float = 1.0
    follows: bool = False

    @property
    def n_stages(self) -> int:
        return self.reference.shape[0] - 1

    def inputs(self, x: np.ndarray, stages: slice | int) -> np.ndarray:
        """Return the scaled inputs of the machine at states x of these stages."""
        return (np.concatenate([x, self.reference[stages]], axis=-1) if self.follows else x) / self.widths

    def states(self, u: np.ndarray) -> np.ndarray:
        """Compute states (N + 1, n) from controls (N,)."""
        x = np.empty((u.shape[0] + 1, self.start.shape[0]))
        x[0] = self.start
        for k, control in enumerate(u):
            x[k + 1] = self.step(x[k], control)
        return x

    def kernel(self, z: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute values (N, m), and derivatives (N, m, n_inputs) with respect to the first argument."""
        between = z[:, None, :] - centres
        K = np.exp(-(between**2).sum(axis=2))
        return K, -2.0 * between * K[:, :, None]


@dataclass(frozen=True)
class Controller:
    """u(x) = sum_l alpha_l k(z, z_l); `planned` are the controls (N,) to which it was fitted."""

    problem: Problem
    alpha: np.ndarray
    centres: np.ndarray
    planned: np.ndarray

    def __call__(self, x: np.ndarray, stage: int) -> float:
        z = self.problem.inputs(x, stage)
        return float(self.problem.kernel(z[None], self.centres)[0][0] @ self.alpha)

    def closed_loop(
        self, start: np.ndarray | None = None, n_stages: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Simulate states (N + 1, n) and controls (N,) from a start, controlled by the machine alone (8.33)."""
        problem = self.problem
        N = problem.n_stages if n_stages is None else n_stages
        x, u = np.empty((N + 1, problem.start.shape[0])), np.empty(N)
        x[0] = problem.start if start is None else start
        for k in range(N):
            u[k] = self(x[k], min(k, problem.n_stages))
            x[k + 1] = problem.step(x[k], u[k])
        return x, u


def objective(problem: Problem, u: np.ndarray) -> tuple[float, np.ndarray]:
    """Compute the objective and its gradient with respect to the controls (N,)."""
    x = problem.states(u)
    off = x - problem.reference
    controller = _machine(problem, x, u)
    value = (problem.state_costs * off**2).sum() + problem.control_cost * u @ u
    value += 0.5 * problem.machine_cost * u @ controller.alpha
    by_state = 2.0 * problem.state_costs * off
    _, slopes = problem.kernel(controller.centres, controller.centres)
    pull = -controller.alpha[:, None] * np.einsum("l,kli->ki", controller.alpha, slopes) / problem.widths
    by_state[:-1] += problem.machine_cost * pull[:, : x.shape[1]]
    f_x, f_u = derivatives(problem.step, x[:-1], u)
    gradient = 2.0 * problem.control_cost * u + problem.machine_cost * controller.alpha
    costate = by_state[-1]
    for k in range(u.shape[0] - 1, -1, -1):
        gradient[k] += f_u[k] @ costate
        costate = by_state[k] + f_x[k].T @ costate
    return float(value), gradient


def _machine(problem: Problem, x: np.ndarray, u: np.ndarray) -> Controller:
    z = problem.inputs(x[:-1], slice(0, u.shape[0]))
    K, _ = problem.kernel(z, z)
    K.flat[:: K.shape[0] + 1] += 1.0 / problem.gamma
    return Controller(problem, cho_solve(cho_factor(K), u), z, u)


def optimal_controller(problem: Problem, first: np.ndarray, iterations: int) -> tuple[Controller, np.ndarray]:
    """Return the machine, and the planned states (N + 1, n), from initial controls (N,)."""
    with np.errstate(over="ignore", invalid="ignore"):  # diverging trials, which the line search rejects
        found = minimize(
            lambda u: _finite(*objective(problem, u)),
            first,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 30},
        )
    x = problem.states(found.x)
    return _machine(problem, x, found.x), x


def _finite(value: float, gradient: np.ndarray) -> tuple[float, np.ndarray]:
    return (value, gradient) if np.isfinite(value) and np.isfinite(gradient).all() else (1e30, np.zeros_like(gradient))
