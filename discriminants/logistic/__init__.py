"""Logistic losses, and their minimization on a given dictionary."""
