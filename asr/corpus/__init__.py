"""Kaldi data directories, Kaldi feature archives, and audio files: where utterances come from."""
