"""Shared modules: errors and messages, text, files, settings and the supervisor."""
