"""Runs: atomic stages, resumption after interruptions, and accounting of utterances."""
