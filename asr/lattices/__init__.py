"""Word lattices: all that a search found near its best path, and what can be made of it."""
