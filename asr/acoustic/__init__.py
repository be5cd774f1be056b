"""Acoustic models: the natural log-likelihood of every HMM state for every frame."""
