"""From a corpus and a lexicon to finished models, with their search tuned on held-out speech."""
