"""Choosers of the training samples that become the centers of a fixed basis, one per module.

A chooser is a function of samples, kernel, number of centers, random numbers and targets. It returns distinct row
numbers in the order of choice.
"""
