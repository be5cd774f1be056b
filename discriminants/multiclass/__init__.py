"""Multiclass problems by two-class machines: one against the rest, or one against one."""
