"""Linear systems of kernel machines with a squared loss."""
