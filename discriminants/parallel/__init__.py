"""Parallel computation in this process, in local processes, or on a cluster."""
