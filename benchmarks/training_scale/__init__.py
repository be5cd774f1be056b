"""Time and memory of a kernel logistic fit at the size of a speech corpus."""
