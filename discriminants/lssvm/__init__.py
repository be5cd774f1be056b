"""Least-squares support vector machines: weighted, pruned, Bayesian, fixed-size."""
