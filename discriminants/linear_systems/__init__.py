"""Linear systems of kernel machines with a squared loss: by penalty, left-out sample, column or block."""
