"""Word lattices: all paths of a search near its best one, and their uses."""
