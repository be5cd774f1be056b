"""Sources of utterances: Kaldi data directories, CMU Sphinx corpora, feature archives, and audio files."""
