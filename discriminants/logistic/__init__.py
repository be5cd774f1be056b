"""The logistic losses and the ways to minimize them on a given dictionary."""
