"""Kaldi data directories and corpora of CMU Sphinx, feature archives, and audio files: where utterances come from."""
