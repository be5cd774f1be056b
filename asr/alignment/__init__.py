"""Forced alignment: the state, phone and word of every frame of a transcribed utterance."""
