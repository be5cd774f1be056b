"""Putting estimators together from a file that may be damaged, or made to harm: which classes, and what they hold."""
