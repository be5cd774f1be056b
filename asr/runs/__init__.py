"""Runs: stages that are whole or absent, resumed after a kill, with an account of every utterance."""
