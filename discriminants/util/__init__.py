"""Utilities shared by the learners: bases, checks, files, threads."""
