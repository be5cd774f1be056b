"""Which training samples become the centres of a fixed basis: ways that can be exchanged, one a file.

A chooser is a function of samples, kernel, number of centres, random numbers and targets that gives row numbers in the
order of choice, each once.
"""
