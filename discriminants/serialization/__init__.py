"""Reconstruction of estimators from untrusted or damaged files: allowed classes and checks of their attributes."""
