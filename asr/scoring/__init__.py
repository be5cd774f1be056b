"""Word error rates: alignment, counts per utterance and speaker, confidence, aligned transcripts."""
