"""Speech Commands v0.02: 35 isolated words by many speakers, 16 kHz, from audio."""
