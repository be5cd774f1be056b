"""Recordings that are half silence: what padding does to alignments and word error rates."""
