"""Hyper-parameters of every method on every set.

Widths, penalties and C are those with the least cross-validated error on the training samples (three folds,
stratified, seed 0; at most 12,000 of them for the peers whose time grows with the square of the samples), over the
grids of `choice.GRIDS`; `python -m benchmarks.learners --choose --data-dir DIR` chooses again and prints the errors.
The numbers of centres, components and atoms are set: what is compared is the time for them. No test sample took
part.
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
KERNEL_RIDGE_SAMPLES = 16_000  # its N x N matrix takes 2 GB then

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "letter": {
        "svc": {"gamma": 2.0, "C": 64.0},
        "orols": {"sigma": 0.5, "n_centers": 4000, "n_candidates": 4500, "candidates": "residual"},
        "npd": {"sigma": 0.7, "n_centers": 2000, "n_candidates": 3000, "candidates": "residual"},
        "krls": {"sigma": 0.5, "nu": 0.1, "max_centers": 2000},
        "kernel_ridge": {"gamma": 2.0, "alpha": 0.03},
        "nystroem": {"gamma": 2.0, "alpha": 0.01, "n_components": 2000},
        "omp": {"gamma": 0.5, "n_columns": 2000, "atoms": 400},
        "orols_atoms": {"sigma": 1.0, "n_centers": 400, "n_candidates": 2000},
    },
    "usps": {
        "svc": {"gamma": 1 / 128, "C": 16.0},
        "orols": {"sigma": 8.0, "n_centers": 1500, "n_candidates": 3000, "candidates": "residual"},
        "npd": {"sigma": 8.0, "n_centers": 1500, "n_candidates": 3000, "candidates": "residual"},
        "krls": {"sigma": 8.0, "nu": 0.1, "max_centers": 2000},
        "kernel_ridge": {"gamma": 1 / 128, "alpha": 0.03},
        "nystroem": {"gamma": 1 / 128, "alpha": 0.01, "n_components": 1500},
        "omp": {"gamma": 1 / 128, "n_columns": 2000, "atoms": 400},
        "orols_atoms": {"sigma": 8.0, "n_centers": 400, "n_candidates": 2000},
    },
    "a9a": {
        "svc": {"gamma": 0.03125, "C": 1.0},
        "orols": {"sigma": 4.0, "n_centers": 500, "n_candidates": 2000},
        "npd": {"sigma": 4.0, "n_centers": 500, "n_candidates": 2000},
        "krls": {"sigma": 4.0, "nu": 0.1, "max_centers": 1000},
        "kernel_ridge": {"gamma": 0.03125, "alpha": 1.0},
        "nystroem": {"gamma": 0.03125, "alpha": 1.0, "n_components": 500},
        "omp": {"gamma": 0.03125, "n_columns": 2000, "atoms": 200},
        "orols_atoms": {"sigma": 4.0, "n_centers": 200, "n_candidates": 2000},
    },
    "shuttle": {
        "svc": {"gamma": 2.0, "C": 1024.0},
        "orols": {"sigma": 0.5, "n_centers": 1000, "n_candidates": 2000, "candidates": "residual"},
        "npd": {"sigma": 0.5, "n_centers": 1000, "n_candidates": 2000, "candidates": "residual"},
        "krls": {"sigma": 0.5, "nu": 0.01, "max_centers": 1000},
        "kernel_ridge": {"gamma": 2.0, "alpha": 0.01},
        "nystroem": {"gamma": 2.0, "alpha": 0.01, "n_components": 1000},
        "omp": {"gamma": 2.0, "n_columns": 2000, "atoms": 400},
        "orols_atoms": {"sigma": 0.5, "n_centers": 400, "n_candidates": 2000},
    },
}
