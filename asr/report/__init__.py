"""The offline report: one HTML page with the results, the errors and the training curves of a run."""
