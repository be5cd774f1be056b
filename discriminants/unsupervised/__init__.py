"""Kernel CCA and PCA, density estimation, and Nystroem features."""
