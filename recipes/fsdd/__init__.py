"""Free Spoken Digits: isolated digits by six speakers, 8 kHz, from audio."""
