"""The logistic losses and the ways to minimise them on a given dictionary."""
