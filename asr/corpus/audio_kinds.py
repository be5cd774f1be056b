"""Supported audio formats, for messages and help."""

READABLE = "WAV, FLAC, MP3, Ogg, Opus, AIFF, AU, CAF and uncompressed NIST SPHERE"
