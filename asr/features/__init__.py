"""Features from samples: MFCC, differences, normalization, splicing and LDA, in batch and streaming."""
