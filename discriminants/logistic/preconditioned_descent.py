"""Stochastic descent on a sum of per-class losses in whitened coordinates."""

import numpy as np

_MOMENTUM = 0.9
_SCALE_MEMORY = 0.999
_WARM_UP = 0.05  # share of the steps over which the rate rises from zero


class PreconditionedDescent:
    """Momentum with one adaptive step size a class, over weights V (r, S) and bias b (S,).

    The coordinates are whitened already, so all of a class's weights share one scale: the root mean square of
    its gradient, remembered as Adam does for single weights (Kingma and Ba 2015). A step size for each weight
    would undo the shrinkage that descent gives to directions of little variance; one for all classes would
    starve the rare ones, whose gradients are hundreds of times smaller. The rate rises linearly, then falls
    linearly to zero, which averages out the noise of the batches.

    Parameters
    ----------
    weights : ndarray of shape (r, S)
        Starting point; updated in place.
    bias : ndarray of shape (S,)
        Starting point; updated in place.
    learning_rate : float
        Highest root-mean-square change of a class's weights in one step.
    n_steps : int
    """

    def __init__(self, weights: np.ndarray, bias: np.ndarray, learning_rate: float, n_steps: int) -> None:
        self.weights, self.bias = weights, bias
        self._rate, self._n_steps, self._step = learning_rate, n_steps, 0
        self._momentum = np.zeros_like(weights)
        self._bias_momentum = np.zeros_like(bias)
        self._square = np.zeros(bias.shape[0])
        # Features of variance one and derivatives below one: a smaller gradient is rounding and must not be
        # scaled up.
        self._noise = max(1e-8, 10 * float(np.finfo(weights.dtype).eps))

    def step(self, gradient: np.ndarray, bias_gradient: np.ndarray) -> None:
        """Move against the gradient; both arguments are overwritten."""
        self._step += 1
        done = self._step / self._n_steps
        rate = self._rate * min(1.0, done / _WARM_UP) * (1.0 - (self._step - 1) / self._n_steps)
        square = np.einsum("ij,ij->j", gradient, gradient) + bias_gradient**2
        self._square += (1.0 - _SCALE_MEMORY) * (square / (gradient.shape[0] + 1) - self._square)
        scale = np.sqrt(self._square / (1.0 - _SCALE_MEMORY**self._step))
        factor = rate / ((1.0 - _MOMENTUM**self._step) * np.maximum(scale, self._noise))
        factor = factor.astype(gradient.dtype)
        for value, momentum, slope in (
            (self.weights, self._momentum, gradient),
            (self.bias, self._bias_momentum, bias_gradient),
        ):
            momentum *= _MOMENTUM
            slope *= gradient.dtype.type(1.0 - _MOMENTUM)
            momentum += slope
            np.multiply(momentum, factor, out=slope)
            value -= slope
