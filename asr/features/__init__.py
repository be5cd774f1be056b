"""From samples to frames: MFCC, differences, normalisation, splicing and LDA, in batch and streaming."""
