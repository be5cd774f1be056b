"""Threads in the place of local processes, for work that is nearly all matrix products and compiled loops."""

from discriminants.parallel.threads import ThreadWorkers
from discriminants.parallel.workers import LocalWorkers, Workers


def in_threads(workers: Workers) -> Workers:
    """As many threads of this process if the workers are processes of this machine, else the workers themselves.

    Scoring and search let go of the interpreter, so that threads keep all cores busy, start at once, and nothing has
    to travel to them; processes would spend half as much again on what they hand each other.
    """
    return ThreadWorkers(workers.n_workers) if isinstance(workers, LocalWorkers) else workers
