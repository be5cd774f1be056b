"""The tables of *Sparse Nonlinear Discriminants* (Andelic 2007, chapter 5) measured again, beside their peers."""
