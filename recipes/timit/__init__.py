"""TIMIT (LDC93S1): phones of read sentences, 16 kHz, from audio with hand labels."""
