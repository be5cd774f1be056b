"""Runs: stages that are whole or absent, resumed after a kill, and the rows of results they end with."""
