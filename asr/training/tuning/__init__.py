"""Tuning on held-out speech: scale, penalty, beam, confidences and the rejection of other sounds."""
