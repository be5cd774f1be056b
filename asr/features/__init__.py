"""From samples to frames: MFCC, differences, normalization, splicing and LDA, in batch and streaming."""
