"""Tuning on held-out speech: scale, penalty, beam, confidence calibration and rejection."""
