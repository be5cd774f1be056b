"""Forced alignment: which state, phone and word every frame of a transcribed utterance belongs to."""
