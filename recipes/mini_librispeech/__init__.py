"""Mini LibriSpeech (OpenSLR 31): read books, five hours of training speech, 16 kHz, from audio."""
