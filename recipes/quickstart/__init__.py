"""Quickstart: synthesise a small naval resource-management corpus, train on it, recognize, and report."""
