"""Kernel Fisher discriminants: dense, sparse, robust, second-order, and as features."""
