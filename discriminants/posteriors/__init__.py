"""Posterior probabilities of outputs, and how well they are calibrated."""
