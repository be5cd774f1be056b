"""Mini-batch descent on the weights of a kernel logistic model on a given dictionary."""

import numpy as np

from discriminants.logistic.checkpoint import Checkpoint, Shape
from discriminants.logistic.loss import Factored
from discriminants.logistic.objective import LogisticObjective
from discriminants.logistic.preconditioned_descent import PreconditionedDescent
from discriminants.logistic.samples import BLOCK_ROWS
from discriminants.logistic.training import LossHistory

_ONE_BLOCK = 2048  # a batch of up to this number of samples is not divided
_OFTEN = 1 << 20  # samples seen in all passes
_STAGE = "descent"
# The weights move about the same total distance for any number of steps; the highest rate is for the fewest steps.
_MAX_RATE = {"multinomial": 0.04, "ovr": 0.08}
_FULL_RATE_STEPS = 112


def descent_schedule(n_samples: int, batch_size: int, max_iter: int, min_steps: int) -> tuple[int, int]:
    """Return the number of batches in a pass, and the number of passes.

    Few samples are seen so often that the order of the batches has no effect, in up to four times `min_steps`.
    """
    small = min(-(-n_samples // _ONE_BLOCK), -(-min_steps // max_iter))
    n_batches = max(-(-n_samples // batch_size), small)
    often = min(-(-_OFTEN // n_samples), -(-4 * min_steps // n_batches))
    return n_batches, max(max_iter, -(-min_steps // n_batches), often)


def fit_logistic_weights(
    objective: LogisticObjective,
    weights: np.ndarray,
    bias: np.ndarray,
    *,
    learning_rate: float | str,
    n_passes: int,
    n_batches: int,
    random: np.random.RandomState,
    record: LossHistory,
    checkpoint: Checkpoint,
) -> None:
    """Minimize the objective in place over V (r, S) and the bias (S,) on the whitened features T'(k(x) - mean).

    A batch is divided into blocks of at most 8192 samples, at least two. The assignment of samples to blocks, and so
    the result, depends only on the seed. Each of the `n_passes` over the samples draws `n_batches` new batches of equal
    size. `record` gets the mean loss of each pass, with changing weights.
    """
    n_samples, alpha, n_steps = objective.samples.n, objective.alpha, n_passes * n_batches
    if isinstance(learning_rate, str):
        name = objective.loss.of_groups if isinstance(objective.loss, Factored) else objective.loss
        learning_rate = _MAX_RATE[name] * min(1.0, _FULL_RATE_STEPS / n_steps)
    descent = PreconditionedDescent(weights, bias, learning_rate, n_steps)
    total = 0.0
    shapes: dict[str, Shape] = {name: array.shape for name, array in descent.state().items()}
    begun = checkpoint.get(_STAGE, {**shapes, "training": ("passes",), "watched": ("passes",), "total": ()})
    if begun is not None and 0 <= int(begun["n_done"]) <= n_steps:
        descent.go_on_from(begun)
        record.go_on_from(begun)
        total = float(begun["total"])
    done = descent.n_done
    for number in range(1, n_passes + 1):
        order = random.permutation(n_samples) if n_batches > 1 else np.arange(n_samples)
        for k, rows in enumerate(np.array_split(order, n_batches), 1):
            if (number - 1) * n_batches + k <= done:
                continue
            n = rows.shape[0]
            n_blocks = 1 if n <= _ONE_BLOCK else max(2, -(-n // BLOCK_ROWS))
            blocks = objective.samples.drawn(rows, -(-n // n_blocks))
            loss, gradient, _ = objective.over(blocks, np.vstack([weights, bias]))
            total += loss
            gradient /= n
            gradient[:-1] += alpha * objective.whitening.ridge(weights)
            descent.step(gradient[:-1].astype(weights.dtype), gradient[-1].astype(bias.dtype))
            if k == n_batches:
                record.tell(number, total / n_samples)
                total = 0.0
            checkpoint.put(_STAGE, {**descent.state(), **record.state(), "total": np.array(total)})
