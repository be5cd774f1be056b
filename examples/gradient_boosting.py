"""A hybrid of gradient-boosted trees: an own classifier that model files can hold.

    python examples/gradient_boosting.py --corpus-dir DIR --work-dir DIR

The corpus folder holds the Kaldi data directories `train` and `test`, and `lexicon.txt`. The command line takes the
same class:

    PYTHONPATH=examples asr train --data DIR/train --lexicon DIR/lexicon.txt --work-dir runs/trees
        --classifier gradient_boosting:GradientBoosting
    PYTHONPATH=examples asr decode --model runs/trees/model.safetensors --data DIR/test --out out
        --classifier gradient_boosting:GradientBoosting

The trees of scikit-learn are objects, which model files cannot hold. So `learnt_state` returns them as arrays, and
`predict_log_proba` walks through these arrays.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier

PARTS = ("is_leaf", "feature_idx", "num_threshold", "left", "right", "value")


class GradientBoosting(ClassifierMixin, BaseEstimator):
    """Gradient-boosted trees of scikit-learn, with their nodes as arrays.

    `n_passes` is the number of trees of each state, `leaves` the largest number of leaves of a tree.
    """

    def __init__(self, n_passes=30, leaves=15, learning_rate=0.2, random_state=None):
        self.n_passes = n_passes
        self.leaves = leaves
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to frames X, float (n_frames, n_features), and their states y."""
        boosted = HistGradientBoostingClassifier(
            max_iter=self.n_passes,
            max_leaf_nodes=self.leaves,
            learning_rate=self.learning_rate,
            early_stopping=False,
            random_state=self.random_state,
        ).fit(X, y)
        self.classes_ = boosted.classes_
        self.baseline_ = boosted._baseline_prediction.ravel()
        trees = [tree.nodes for of_states in boosted._predictors for tree in of_states]
        self.roots_ = np.cumsum([0, *map(len, trees)])[:-1]
        nodes = np.concatenate(trees)
        self.nodes_ = {part: np.array(nodes[part]) for part in PARTS}
        for side in ("left", "right"):  # numbers among the nodes of all trees
            self.nodes_[side] = self.nodes_[side].astype(np.int64) + np.repeat(self.roots_, list(map(len, trees)))
        return self

    def predict_log_proba(self, X):
        """Return log posteriors, (n_frames, n_states)."""
        scores = np.tile(self.baseline_, (len(X), 1))
        for number, root in enumerate(self.roots_):
            scores[:, number % scores.shape[1]] += self._tree(X, root)
        if scores.shape[1] == 1:  # two states share their trees
            scores = np.hstack([np.zeros_like(scores), scores])
        return log_softmax(scores, axis=1)

    def _tree(self, X, root):
        nodes = self.nodes_
        at = np.full(len(X), root)
        while len(rows := np.flatnonzero(nodes["is_leaf"][at] == 0)):
            here = at[rows]
            goes_left = X[rows, nodes["feature_idx"][here]] <= nodes["num_threshold"][here]
            at[rows] = np.where(goes_left, nodes["left"][here], nodes["right"][here])
        return nodes["value"][at]

    def learnt_state(self):
        """Return the learned arrays for a model file."""
        return {"classes": self.classes_, "baseline": self.baseline_, "roots": self.roots_, **self.nodes_}

    def restore_state(self, state):
        """Restore the arrays of `learnt_state`."""
        self.classes_, self.baseline_, self.roots_ = state["classes"], state["baseline"], state["roots"]
        self.nodes_ = {part: state[part] for part in PARTS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on the corpus, and print the word error rate of its test set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus-dir", type=Path, required=True, help="folder with train/, test/ and lexicon.txt")
    parser.add_argument("--work-dir", type=Path, required=True, help="folder of the models")
    given = parser.parse_args(arguments)

    import asr

    corpus = given.corpus_dir
    trained = asr.train(
        corpus / "train",
        corpus / "lexicon.txt",
        given.work_dir,
        classifier="gradient_boosting:GradientBoosting",
        config={"hybrid": {"vtlp_warps": [], "parameters": {"n_passes": 10}}},
    )
    trained.load().decode(given.work_dir / "test", data=corpus / "test")
    report = asr.score(corpus / "test" / "text", given.work_dir / "test" / "hyp.txt")
    print(f"word error rate {report.wer:.2f} % of {report.words} words")


if __name__ == "__main__":
    main()
