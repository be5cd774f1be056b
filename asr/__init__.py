"""A hybrid speech recognizer: sparse nonlinear discriminants as acoustic models of hidden Markov models."""

__version__ = "0.1.0"
