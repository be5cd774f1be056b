"""Word error rates: alignment, counts per utterance and speaker, confidence intervals, aligned transcripts."""
