"""How systems are compared: the plot that the recipes share, its ablations, and the rows of results it ends with."""
