"""Quickstart: synthesise a small naval resource-management corpus, train on it, recognise, and report."""
