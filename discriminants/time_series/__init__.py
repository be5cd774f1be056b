"""Autoregression with any regressor, and recurrent machines."""
