"""Errors and messages, text, files, settings and the supervisor: what all packages share."""
