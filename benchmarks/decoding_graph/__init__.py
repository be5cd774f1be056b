"""What decoding graphs and the search through them cost."""
