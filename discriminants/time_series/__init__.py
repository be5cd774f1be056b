"""Nonlinear autoregression with any regressor, and recurrent machines."""
