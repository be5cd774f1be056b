"""Training of models from a corpus and a lexicon, with tuning on held-out speech."""
