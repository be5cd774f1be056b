"""Bayesian inference for least-squares machines: penalty, widths and inputs by their evidence, and error bars."""
