"""The Fisher family: kernel Fisher discriminants, sparse, robust, second-order and for features."""
