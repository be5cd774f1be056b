"""Criteria that compare models on their training samples."""
