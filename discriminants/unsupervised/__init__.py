"""Kernel CCA and PCA, densities, and the Nystroem features."""
