"""A network of PyTorch as the classifier of the hybrid: skorch makes it a classifier of scikit-learn.

    pip install skorch torch
    PYTHONPATH=examples asr train --data data/train --lexicon lexicon.txt --work-dir runs/network
        --classifier skorch_network:Network
    PYTHONPATH=examples asr decode --model runs/network/model.safetensors --data data/test --out out
        --classifier skorch_network:Network

The setting `hybrid.parameters` has the parameters of the class. Model files hold no pickles, so `learnt_state` returns
the network's tensors as arrays, and `restore_state` puts them into a new network.
"""

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from skorch import NeuralNetClassifier
from torch import nn


class Network(ClassifierMixin, BaseEstimator):
    """Feed-forward network with normalized hidden layers, trained by Adam.

    `hidden` is the number of units of each of the `n_layers` hidden layers.
    """

    def __init__(self, hidden=512, n_layers=3, max_epochs=10, lr=1e-3, batch_size=256, dropout=0.1, random_state=0):
        self.hidden = hidden
        self.n_layers = n_layers
        self.max_epochs = max_epochs
        self.lr = lr
        self.batch_size = batch_size
        self.dropout = dropout
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to frames X, float32 (n_frames, n_features), and their states y."""
        self.classes_, targets = np.unique(y, return_inverse=True)
        torch.manual_seed(self.random_state or 0)
        network = NeuralNetClassifier(
            self._network(X.shape[1]),
            criterion=nn.CrossEntropyLoss,
            optimizer=torch.optim.Adam,
            max_epochs=self.max_epochs,
            lr=self.lr,
            batch_size=self.batch_size,
            iterator_train__shuffle=True,
            train_split=None,
            verbose=0,
            device="cuda" if torch.cuda.is_available() else "cpu",
        )
        network.fit(np.asarray(X, np.float32), targets.astype(np.int64))
        self.network_ = network.module_.cpu().eval()
        return self

    def predict_log_proba(self, X):
        """Return log posteriors, float32 (n_frames, n_states)."""
        with torch.inference_mode():
            return self.network_(torch.from_numpy(np.array(X, np.float32))).log_softmax(dim=1).numpy()

    def learnt_state(self):
        """Return the learned arrays for a model file."""
        return {"classes": self.classes_, **{k: v.numpy() for k, v in self.network_.state_dict().items()}}

    def restore_state(self, state):
        """Restore the arrays of `learnt_state`."""
        tensors = {name: torch.from_numpy(np.array(value)) for name, value in state.items() if name != "classes"}
        self.classes_ = state["classes"]
        self.network_ = self._network(tensors["0.weight"].shape[1]).eval()
        self.network_.load_state_dict(tensors)

    def _network(self, n_features):
        layers, width = [], n_features
        for _ in range(self.n_layers):
            layers += [nn.Linear(width, self.hidden), nn.LayerNorm(self.hidden), nn.ReLU(), nn.Dropout(self.dropout)]
            width = self.hidden
        return nn.Sequential(*layers, nn.Linear(width, len(self.classes_)))
