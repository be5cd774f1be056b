"""Stochastic descent on a sum of per-class losses in whitened coordinates."""

from typing import Any

import numpy as np

_MOMENTUM = 0.8
_SCALE_MEMORY = 0.999
_WARM_UP = 0.05  # fraction of the steps in which the rate rises from zero


class PreconditionedDescent:
    """Nesterov's momentum with one adaptive step size per class, over weights V (r, S) and bias b (S,), in place.

    The coordinates are whitened, so all weights of a class share one scale: the root mean square of its gradient,
    averaged as Adam does for single weights (Kingma and Ba 2015). A step size for each weight would cancel the
    shrinkage of directions with little variance. One step size for all classes would be too small for rare classes,
    whose gradients are hundreds of times smaller. The rate rises linearly to `learning_rate`, the highest
    root-mean-square change of a class's weights in one step. It then falls linearly to zero at `n_steps`, which
    averages out the noise of the batches. `n_done` is the number of steps done.
    """

    def __init__(self, weights: np.ndarray, bias: np.ndarray, learning_rate: float, n_steps: int) -> None:
        self.weights, self.bias = weights, bias
        self.n_done = 0
        self._rate, self._n_steps = learning_rate, n_steps
        self._momentum = np.zeros_like(weights)
        self._bias_momentum = np.zeros_like(bias)
        self._square = np.zeros(bias.shape[0])
        # Features have variance one and derivatives are below one: a smaller gradient is rounding and must not be
        # scaled up.
        self._noise = max(1e-8, 10 * float(np.finfo(weights.dtype).eps))

    def step(self, gradient: np.ndarray, bias_gradient: np.ndarray) -> None:
        """Take one step against the gradient; both arguments are overwritten."""
        self.n_done += 1
        done = self.n_done / self._n_steps
        rate = self._rate * min(1.0, done / _WARM_UP) * (1.0 - (self.n_done - 1) / self._n_steps)
        square = np.einsum("ij,ij->j", gradient, gradient) + bias_gradient**2
        self._square += (1.0 - _SCALE_MEMORY) * (square / (gradient.shape[0] + 1) - self._square)
        scale = np.sqrt(self._square / (1.0 - _SCALE_MEMORY**self.n_done))
        factor = rate / ((1.0 - _MOMENTUM**self.n_done) * np.maximum(scale, self._noise))
        factor = factor.astype(gradient.dtype)
        for value, momentum, slope in (
            (self.weights, self._momentum, gradient),
            (self.bias, self._bias_momentum, bias_gradient),
        ):
            momentum *= _MOMENTUM
            slope *= gradient.dtype.type(1.0 - _MOMENTUM)
            momentum += slope
            slope += gradient.dtype.type(_MOMENTUM) * momentum
            slope *= factor
            value -= slope

    def state(self) -> dict[str, Any]:
        """Return the state on which the next steps depend."""
        return {
            "weights": self.weights,
            "bias": self.bias,
            "momentum": self._momentum,
            "bias_momentum": self._bias_momentum,
            "square": self._square,
            "n_done": np.array(self.n_done),
        }

    def go_on_from(self, state: dict[str, Any]) -> None:
        """Restore the result of `state`."""
        own = self.state()
        self.n_done = int(state["n_done"])
        for name in ("weights", "bias", "momentum", "bias_momentum", "square"):
            own[name][...] = state[name]
