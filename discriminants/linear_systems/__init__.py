"""The linear systems that kernel machines with a squared loss come down to: solved once, for every penalty, without
each sample in turn, a column at a time, or a block of coordinates at a time.
"""
