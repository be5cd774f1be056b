"""Reproduction of the tables of *Sparse Nonlinear Discriminants* (Andelic 2007, chapter 5), with peer methods."""
