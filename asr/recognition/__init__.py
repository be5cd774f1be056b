"""What is done with a finished model: audio to words, transcribed audio to times."""
