"""Effect of padding with silence on alignments and word error rates."""
