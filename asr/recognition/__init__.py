"""Use of trained models: recognition of audio and forced alignment."""
