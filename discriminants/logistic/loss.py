"""Logistic losses: mean cross-entropy and its derivative with respect to the outputs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discriminants.kernels.exponential import exp_in_place

Loss = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def multinomial(outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
    """Softmax cross-entropy, summed with weights; `outputs` (n, S) becomes weight * (p - indicator) in place."""
    rows = np.arange(outputs.shape[0])
    log_softmax_in_place(outputs)
    total = -float(weight @ outputs[rows, codes])
    exp_in_place(outputs)
    outputs[rows, codes] -= 1.0
    outputs *= weight[:, None].astype(outputs.dtype)
    return total


def one_vs_rest(outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
    """Summed binary cross-entropies of the outputs (n, S), which become weight * (sigmoid - indicator) in place."""
    rows = np.arange(outputs.shape[0])
    correct = outputs[rows, codes].astype(np.float64)
    small = exp_in_place(-np.abs(outputs))  # exp(-|f|)
    softplus = np.maximum(outputs, 0.0) + np.log1p(small)  # log(1 + exp(f))
    total = float(weight @ (softplus.sum(axis=1, dtype=np.float64) - correct))
    np.divide(np.where(outputs >= 0, 1.0, small), 1.0 + small, out=outputs)
    outputs[rows, codes] -= 1.0
    outputs *= weight[:, None].astype(outputs.dtype)
    return total


def binary(outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
    """Binary cross-entropy of one output (n, 1), class 1 against class 0, as in `one_vs_rest`."""
    sign = np.where(codes == 1, -1.0, 1.0)[:, None].astype(outputs.dtype)
    outputs *= sign
    total = -float(weight @ log_sigmoid(-outputs)[:, 0].astype(np.float64))
    np.exp(log_sigmoid(outputs), out=outputs)
    outputs *= sign * weight[:, None].astype(outputs.dtype)
    return total


LOSSES: dict[str, Loss] = {"multinomial": multinomial, "ovr": one_vs_rest}


@dataclass(frozen=True)
class Factored:
    """The loss of classes in groups, with P(class | x) = P(group | x) P(class | group, x).

    Outputs are those of the groups, followed by those of the classes, which compete only within their group (Franco et
    al. 1994). Called as the other losses are, with class numbers.
    """

    of_groups: str  # {"multinomial", "ovr"}: Loss of the groups; within a group it is softmax cross-entropy
    group: np.ndarray  # int (S,): group of every class, from 0 on, without gaps

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    def __call__(self, outputs: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
        """Return the summed loss; `outputs` (n, G + S) becomes its derivative in place."""
        own, n_groups = self.group[codes], self.n_groups
        groups = outputs[:, :n_groups].copy()
        classes = np.where(self.group == own[:, None], outputs[:, n_groups:], -np.inf)
        total = LOSSES[self.of_groups](groups, own, weight) + multinomial(classes, codes, weight)
        outputs[:, :n_groups], outputs[:, n_groups:] = groups, classes
        return total

    def log_posteriors(self, outputs: np.ndarray) -> np.ndarray:
        """Return natural log posteriors of the classes, (n, S), from outputs (n, G + S)."""
        n_groups = self.n_groups
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(n_groups))
        found = outputs[:, n_groups:].copy()
        found -= np.maximum.reduceat(found[:, order], starts, axis=1)[:, self.group]
        found -= np.log(np.add.reduceat(exp_in_place(found[:, order]), starts, axis=1))[:, self.group]
        found += log_posteriors(outputs[:, :n_groups], self.of_groups)[:, self.group]
        return found


_FUNCTIONS: dict[str, Loss] = {**LOSSES, "binary": binary}


def loss_function(loss: str | Factored) -> Loss:
    """Return the loss with this name, including "binary", or the given loss of groups."""
    return loss if isinstance(loss, Factored) else _FUNCTIONS[loss]


def log_softmax_in_place(outputs: np.ndarray) -> np.ndarray:
    """Subtract the log of the sum of exponentials from every row of (n, S)."""
    outputs -= outputs.max(axis=1, keepdims=True)
    outputs -= np.log(exp_in_place(outputs.copy()).sum(axis=1, keepdims=True))
    return outputs


def log_sigmoid(outputs: np.ndarray) -> np.ndarray:
    """Compute log(1 / (1 + exp(-f))) without overflow."""
    return np.minimum(outputs, 0.0) - np.log1p(exp_in_place(-np.abs(outputs)))


def log_posteriors(outputs: np.ndarray, loss: str | Factored) -> np.ndarray:
    """Return natural log posteriors (n, S) from outputs (n, S), or from (n, G + S) for classes in groups.

    Posteriors are the softmax or scaled sigmoids.
    """
    if isinstance(loss, Factored):
        return loss.log_posteriors(outputs)
    return log_softmax_in_place(log_sigmoid(outputs) if loss == "ovr" else outputs.copy())


def bias_of_priors(prior: np.ndarray, loss: str, groups: np.ndarray | None = None) -> np.ndarray:
    """Return log priors (n_classes,), or their logits if each class has its own loss.

    With groups, the values of the groups are followed by the log priors of the classes within their groups.
    """

    def of_outputs(shares: np.ndarray) -> np.ndarray:
        return np.log(shares) - (np.log1p(-shares) if loss == "ovr" else 0.0)

    if groups is None:
        return of_outputs(prior)
    of_groups = np.bincount(groups, prior)
    return np.append(of_outputs(of_groups), np.log(prior / of_groups[groups]))
